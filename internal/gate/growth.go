package gate

import (
	"fmt"
	"math"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

const (
	foundOften = 0.80  // four times in five
	littleGain = 0.98  // of the smallest change that is found: less is not worth a sentence of its own
	manyRuns   = 10    // of a single session: more of the same day
	byChance   = 0.025 // sessions so far apart are no chance
	fewDays    = 3     // sessions below which nobody can say how far days differ
)

// grow says of a comparison with a committed baseline what one more session would buy, when sessions differ by more than
// was promised about them, and when the baseline has moved since its epoch began.
func (q *question) grow() {
	c := q.comparison
	if q.same || c.err != nil {
		return
	}
	q.fitDays()
	q.finding.Further = q.further(c.days)
	q.apart(c.days)
	q.moved(c.days)
}

// fitDays fits the session model that the comparison was made with.
func (q *question) fitDays() {
	c := q.comparison
	d, err := stat.Sessions(c.base, c.head, stat.Options{Confidence: q.policy.Confidence, DaySD: q.policy.DaySD, Floor: q.floor()})
	if err != nil {
		panic(err) // the comparison itself would have been refused
	}
	c.days = d
}

// floorOf is the least sd between runs that is believed; 0 leaves it to the statistics. Shares have one of their own: runs
// cannot be more alike than independent requests make them, and without it two perfect records would differ by nothing for
// sure. It is [stat.LogitSD] at the share and the run size of all runs together.
func floorOf(runs []placed, m bench.Metric) float64 {
	if m.Scale != bench.Logit {
		return 0
	}
	met, of := tallies(runs, m)
	each := float64(sum(of)) / float64(len(of))
	share := float64(sum(met)) / float64(sum(of))
	return stat.LogitSD(share, each)
}

// further says what one more session would buy; empty where a baseline keeps no more.
func (q *question) further(d stat.Days) string {
	have := len(q.comparison.base.Sessions)
	if have >= bench.MostSessions || q.finding.MDE80 == nil {
		return ""
	}
	now := *q.finding.MDE80
	then := math.Min(now, q.worsening(d.Detects(1, foundOften)))
	s := lowered(now, then, speak(q.metric).unit)
	if runs := size(q.comparison.base); have == 1 && runs >= manyRuns {
		s += fmt.Sprintf(" The baseline's %s are of one day, and more of that day would not do it.", count(runs, "run"))
	}
	return s
}

// lowered compares the smallest change that is found now and with one session more.
func lowered(now, then float64, unit string) string {
	digits := decimals(now * 100 / 8)
	a, b := format(now*100, digits)+unit, format(then*100, digits)+unit
	if then > now*littleGain || a == b {
		return fmt.Sprintf("One more session would change little: the smallest change that is found four times in five stays at about %s.", a)
	}
	return fmt.Sprintf("One more session would lower the smallest change that is found four times in five from %s to %s.", a, b)
}

// apart warns when the baseline's sessions differ by more than the prior allows: the promise about false alarms is made
// for days that do not.
func (q *question) apart(d stat.Days) {
	sd, p, ok := d.Seen()
	if !ok || len(q.comparison.base.Sessions) < fewDays || p >= byChance || sd <= q.policy.DaySD {
		return
	}
	far, prior := percent(roundTo(sd, 2)), percent(q.policy.DaySD)
	if q.metric.Scale == bench.Logit {
		far, prior = format(sd, 2)+" (logit)", format(q.policy.DaySD, 2)
	}
	q.warn("the baseline's %d sessions differ by %s (standard deviation beyond their runs), and gate.baseline.day_sd is %s: false alarms may be more frequent than promised; set day_sd to what days differ by, or compare within one campaign (campaign.design: confirm)",
		len(q.comparison.base.Sessions), far, prior)
}

// Differs says whether a session stands at another level than the sessions before it, either way, and how: a night that
// differs is not taken into a baseline in silence. A night in which more requests fail differs too, however fast the
// others were; and where something else forbids to believe an improvement, the improvement still says that it differs.
func Differs(base, head bench.Digest) (how string, differs bool) {
	p := LevelPolicy(base, head)
	for _, f := range Decide(p, []bench.Digest{base}, []bench.Digest{head}).Findings {
		if f.Outcome == Regressed || f.Outcome == Improved || f.Outcome == Inconclusive && f.Change != nil && f.Change.faster(0.05) {
			return fmt.Sprintf("%s %s: %s", f.Metric, f.Outcome, strings.TrimSuffix(f.Why, ".")), true
		}
	}
	return failing(p, base, head)
}

// faster reports an interval that lies wholly on the better side, around a change of at least so much.
func (c *Change) faster(by float64) bool {
	better := -c.Worse
	if !c.Points {
		better = 1/(1+c.Worse) - 1
	}
	return c.WorseHigh < 0 && better >= by
}

// failing compares the error rates of two digests.
func failing(p Policy, base, head bench.Digest) (how string, differs bool) {
	m, err := bench.ParseMetric("ttft.p50")
	if err != nil {
		panic(err) // a name of ours
	}
	for _, x := range match(p, []bench.Digest{base}, []bench.Digest{head}) {
		if x.base == nil || x.head == nil {
			continue
		}
		q := &question{pair: x, policy: p.complete(), metric: m}
		if d, ok := q.survivors(); ok {
			return "error.ratio: " + d.why, true
		}
	}
	return "", false
}
