package gate

import (
	"slices"

	"github.com/benchgate/benchgate/internal/bench"
)

// Confirm decides a confirm campaign: a candidate against a committed baseline first, and what is neither a pass nor an
// improvement there against a reference that was started in turn with the candidate, which alone may block. Base is the
// baseline, reference the reference's side of the second stage, and head the candidate's digests, each with a plain session
// of the first stage, an interleaved one of the second, or both. Before the second stage is measured, reference is empty.
func Confirm(p Policy, base, reference, head []bench.Digest) Verdict {
	if turns := only(head, true); len(turns) > 0 {
		return Decide(p, reference, turns)
	}
	v := Decide(p, base, only(head, false))
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Tolerance != nil && f.Outcome != Pass && f.Outcome != Improved && f.Outcome != Observed {
			f.Outcome, f.Next, f.Awaits = Inconclusive, "Run the same benchgate run again: it measures the second stage.", awaitsStage
		}
	}
	v.conclude(p.complete(), false)
	return v
}

// only keeps the interleaved sessions of every digest, or the plain ones; a digest without any is left out.
func only(ds []bench.Digest, interleaved bool) []bench.Digest {
	var out []bench.Digest
	for _, d := range ds {
		d.Sessions = slices.DeleteFunc(slices.Clone(d.Sessions), func(s bench.Session) bool { return s.Interleaved != interleaved })
		if len(d.Sessions) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// What could still answer a finding: see [Finding.Awaits].
const (
	awaitsLook  = "look"
	awaitsStage = "stage 2"
)

// Open names the scenarios that a further look could still decide, in order.
func (v Verdict) Open() []string { return v.awaiting(awaitsLook) }

// Unconfirmed names the scenarios that need the second stage of a confirm campaign, in order.
func (v Verdict) Unconfirmed() []string { return v.awaiting(awaitsStage) }

func (v Verdict) awaiting(what string) []string {
	var out []string
	for _, f := range v.Findings {
		if f.Awaits == what {
			out = append(out, f.Scenario)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
