package gate

import (
	"fmt"
	"math"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

const (
	mostRuns = 40    // a side: beyond, more runs are no advice
	leastSD  = 0.005 // between runs: less is not believed
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
	sd := max(q.spread(), q.floor(), leastSD)
	for n := have + 1; n <= mostRuns; n++ {
		if halfWidth(sd*math.Sqrt(2/float64(n)), float64(2*n-3), c.confidence) < want {
			if q.looks != nil {
				return fmt.Sprintf("About %s on each side would decide, if the estimate stays: plan a later look (campaign.looks) before the next campaign.", count(n-have, "more visit"))
			}
			return fmt.Sprintf("About %s on each side would decide, if the estimate stays.", count(n-have, "more run"))
		}
	}
	return fmt.Sprintf("Not even %d runs a side would decide: quieten the runner (the validity checks in the report say what disturbed it, benchgate calibrate what it can hold), send more requests a run, or ask for less.", mostRuns)
}

// spread is the standard deviation between runs that the error of the comparison amounts to: their own or, for Huber's
// estimate, that of runs whose means would be known as well.
func (q *question) spread() float64 {
	c := q.comparison
	if !strings.HasPrefix(c.Method, "huber") {
		return c.SD
	}
	return c.SE / math.Sqrt(1/float64(size(c.base))+1/float64(size(c.head)))
}

// moreSessions supposes that days go on differing as they seem to now, and that the candidate is as noisy again: see [stat.Days].
func (q *question) moreSessions(want float64) string {
	c := q.comparison
	have := len(c.base.Sessions)
	const grow = "nightly benchgate run, then benchgate baseline accept --add-session"
	const quieter = "more runs a session (benchgate run --runs N), a quieter machine or a larger rule_out may"
	const beside = " Where the base build can be started as a reference, campaign.design: confirm needs no history."
	for k := have + 1; k <= bench.MostSessions; k++ {
		if c.days.Detects(k-have, 0.5) < want {
			advice := fmt.Sprintf("About %s in the baseline would decide, if the estimate stays (%s).",
				count(k-have, "more session"), grow)
			if have == 1 {
				return "A baseline of one session is coarse. " + advice + beside
			}
			return advice + beside
		}
	}
	if have == 1 {
		return fmt.Sprintf("A baseline of one session is coarse: add more (%s), though %d may still not decide; %s.", grow, bench.MostSessions, quieter) + beside
	}
	return fmt.Sprintf("Not even %d sessions in the baseline would decide; %s.", max(have, bench.MostSessions), quieter) + beside
}
