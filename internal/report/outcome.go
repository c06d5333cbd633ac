package report

import (
	"cmp"
	"slices"

	"github.com/benchgate/benchgate/internal/gate"
)

// look is how an outcome is shown. The word always stands beside sign and colour.
type look struct {
	Outcome gate.Outcome
	Sign    string // in one column of text
	Emoji   string // in markdown
	Class   string // of the page: bad, broken, open, good, plain
	Means   string // one sentence for who has never seen it
}

// looks are in the order in which findings are listed: worst first.
var looks = []look{
	{gate.Regressed, "✗", "❌", "bad", "shown to be worse, with an estimate of the tolerance or more"},
	{gate.Breached, "✗", "❌", "bad", "a limit is shown to be broken"},
	{gate.Drifted, "✗", "❌", "bad", "a change point was found"},
	{gate.Invalid, "!", "⛔", "broken", "the measurement cannot be believed"},
	{gate.Incomparable, "!", "⛔", "broken", "the two sides are not the same experiment"},
	{gate.Missing, "!", "⛔", "broken", "something that was expected was not measured"},
	{gate.Inconclusive, "?", "🟡", "open", "neither a worsening nor its absence is shown"},
	{gate.New, "+", "🆕", "open", "there is nothing to compare with yet"},
	{gate.Waived, "~", "☑️", "plain", "worse, within what a waiver allows"},
	{gate.Improved, "✓", "✅", "good", "shown to be better, with an estimate of the tolerance or more"},
	{gate.Observed, "·", "👁️", "plain", "shown, and not judged"},
	{gate.Pass, "✓", "✅", "good", "a worsening as large as the rule asks about is excluded"},
}

// lookOf is the look of an outcome; an unknown one looks broken.
func lookOf(o gate.Outcome) look {
	if i := place(o); i < len(looks) {
		return looks[i]
	}
	return look{o, "!", "⛔", "broken", "an outcome that this version does not know"}
}

func place(o gate.Outcome) int {
	if i := slices.IndexFunc(looks, func(l look) bool { return l.Outcome == o }); i >= 0 {
		return i
	}
	return len(looks)
}

// worstFirst sorts findings for a reader: by outcome, primaries first, the largest worsening first.
func worstFirst(fs []gate.Finding) []gate.Finding {
	worse := func(f gate.Finding) float64 {
		if f.Change == nil {
			return 0
		}
		return f.Change.Worse
	}
	rank := func(f gate.Finding) int {
		if f.Primary {
			return 0
		}
		return 1
	}
	out := slices.Clone(fs)
	slices.SortStableFunc(out, func(a, b gate.Finding) int {
		return cmp.Or(place(a.Outcome)-place(b.Outcome), rank(a)-rank(b), cmp.Compare(worse(b), worse(a)))
	})
	return out
}
