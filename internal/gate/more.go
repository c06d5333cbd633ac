package gate

import (
	"fmt"
	"math"

	"github.com/benchgate/benchgate/internal/stat"
)

const (
	mostRuns     = 40    // a side: beyond, more runs are no advice
	mostSessions = 10    // that a baseline keeps
	leastSD      = 0.005 // between runs: less is not believed
)

// more says what would decide: how many more runs or sessions bring the interval down to the width that the estimate, if it
// stays, asks for.
func (q *question) more(t thresholds) string {
	c := q.comparison
	want := t.ruleOut - c.Delta // a pass
	if c.Delta >= t.tolerance {
		want = math.Max(want, c.Delta) // or a regression
	}
	if q.same {
		return q.moreRuns(want)
	}
	return q.moreSessions(want)
}

// halfWidth is t times the standard error: a change that is found with power ½.
func halfWidth(se, df, confidence float64) float64 {
	return stat.SmallestDetectable(se, df, confidence, 0.5)
}

func (q *question) moreRuns(want float64) string {
	c := q.comparison
	have := min(size(c.base), size(c.head))
	sd := max(c.SD, q.floor(), leastSD)
	for n := have + 1; n <= mostRuns; n++ {
		if halfWidth(sd*math.Sqrt(2/float64(n)), float64(2*n-3), q.policy.Confidence) < want {
			return fmt.Sprintf("About %s on each side would decide, if the estimate stays.", count(n-have, "more run"))
		}
	}
	return fmt.Sprintf("Not even %d runs a side would decide: quieten the runner (the validity checks in the report say what disturbed it), send more requests a run, or ask for less.", mostRuns)
}

// moreSessions supposes that days go on differing as they seem to now, and follows the session model of package stat.
func (q *question) moreSessions(want float64) string {
	c := q.comparison
	have := len(c.base.Sessions)
	day := c.SE * c.SE / (1 + 1/float64(have))
	const grow = "nightly benchgate run, then benchgate baseline accept --add-session"
	const quieter = "more runs a session (benchgate run --runs N), a quieter machine or a larger rule_out may"
	for k := have + 1; k <= mostSessions; k++ {
		if halfWidth(math.Sqrt(day*(1+1/float64(k))), float64(k+3), q.policy.Confidence) < want {
			advice := fmt.Sprintf("About %s in the baseline would decide, if the estimate stays (%s).",
				count(k-have, "more session"), grow)
			if have == 1 {
				return "A baseline of one session is coarse. " + advice
			}
			return advice
		}
	}
	if have == 1 {
		return fmt.Sprintf("A baseline of one session is coarse: add more (%s), though %d may still not decide; %s.", grow, mostSessions, quieter)
	}
	return fmt.Sprintf("Not even %d sessions in the baseline would decide; %s.", max(have, mostSessions), quieter)
}
