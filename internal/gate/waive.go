package gate

import (
	"fmt"
	"time"
)

// waive turns a regression that a waiver allows into waived, and says what became of every waiver. A waiver holds to the
// end of its last day, by the candidate's start: an old verdict decided again is the same verdict.
func (p Policy) waive(qs []*question, at time.Time) (uses []WaiverUse, warnings []string) {
	for _, w := range p.Waivers {
		use := WaiverUse{Waiver: w, State: "unused"}
		if w.expired(at) {
			use.State = "expired"
			warnings = append(warnings, fmt.Sprintf("the waiver of %s in %q ended on %s and has no effect: %s", w.Metric, w.Scenario, w.Until.UTC().Format(time.DateOnly), w.Why))
			uses = append(uses, use)
			continue
		}
		for _, q := range qs {
			if w.of(q) && q.waived(w) {
				use.State = "used"
			}
		}
		uses = append(uses, use)
	}
	return uses, warnings
}

// expired reports whether the waiver's last day is over. Where the candidate has no start nobody knows, and it is.
func (w Waiver) expired(at time.Time) bool {
	y, m, d := w.Until.UTC().Date()
	return at.IsZero() || !at.Before(time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC))
}

func (w Waiver) of(q *question) bool { return w.Metric == q.metric.Name && w.Scenario == q.scenario }

// waived applies a waiver to a regression; what a waiver before it has allowed counts as its use too.
func (q *question) waived(w Waiver) bool {
	f := &q.finding
	if f.Change == nil || (f.Outcome != Regressed && f.Outcome != Waived) {
		return false
	}
	asked := speak(q.metric).asked(w.Ceiling)
	if f.Change.Worse > w.Ceiling {
		if f.Outcome == Regressed {
			f.Why += fmt.Sprintf(" A waiver allows no more than %s.", asked)
		}
		return false
	}
	if f.Outcome == Regressed {
		q.settle(Waived, fmt.Sprintf("%s Waived up to %s until %s: %s.", f.Why, asked, w.Until.UTC().Format(time.DateOnly), w.Why),
			"After the merge accept the new level (benchgate baseline accept --new-epoch --reason TEXT) and drop the waiver.")
	}
	return true
}
