package gate

import (
	"fmt"
	"math"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// noise is what a calibration of this runner found for the question's metric: the newest of the two sides'.
func (q *question) noise() (bench.MetricNoise, bool) {
	base, head := q.base.digest.Noise, q.head.digest.Noise
	n := base
	if base == nil || head != nil && head.Measured.After(base.Measured) {
		n = head
	}
	if n == nil {
		return bench.MetricNoise{}, false
	}
	m, ok := n.Metrics[q.metric.Name]
	return m, ok
}

// attainable warns where a rule asks to exclude less than the half-width that this runner's noise leaves, so that not even
// an equal build passes: as this comparison is made, at its last look. It says which design, or how many runs, could.
func (q *question) attainable(t thresholds) {
	n, ok := q.noise()
	if q.rule.RuleOut == nil || math.IsInf(t.ruleOut, 1) || !ok {
		return
	}
	sd := math.Max(n.SD, q.floor())
	d, confidence := q.design()
	reach := halfOf(d, sd, confidence)
	if reach <= t.ruleOut {
		return
	}
	s := speak(q.metric)
	could := "not even 10 sessions in the baseline or 40 interleaved visits a side would do: quieten the runner, send more requests a run or ask for less"
	if ways := q.ways(d, sd, t.ruleOut); len(ways) > 0 {
		could = strings.Join(ways, " or ") + " could"
	}
	q.warn("rule_out %s is below what this runner reaches: with the noise that its calibration found, the interval of an equal build ends at %s (%s); %s",
		s.asked(*q.rule.RuleOut), s.change(q.worsening(reach), 0), q.made(d), could)
}

// halfOf is the half-width of the interval that a design leaves, on the scale of the analysis.
func halfOf(d stat.Design, sd, confidence float64) float64 { return d.Detects(sd, confidence, 0.5) }

// design is how this comparison is made, at its last look, and at which two-sided confidence.
func (q *question) design() (stat.Design, float64) {
	switch {
	case !q.same:
		base := q.comparison.base.Sessions
		reciprocals := 0.0
		for _, s := range base {
			reciprocals += 1 / float64(len(s)) / float64(len(base))
		}
		return stat.Design{
			Runs: size(q.comparison.head), Base: int(math.Round(1 / reciprocals)), Sessions: len(base), DaySD: q.policy.DaySD,
		}, q.policy.Confidence
	case len(q.looks) == 0:
		return stat.Design{Runs: size(q.comparison.head), Base: size(q.comparison.base), Interleaved: true}, q.policy.Confidence
	}
	return q.byTurns(q.looks, q.looks[len(q.looks)-1])
}

// byTurns is an interleaved comparison that decides at looks of these shares, the last at n visits a side.
func (q *question) byTurns(looks []int, n int) (stat.Design, float64) {
	d := stat.Design{Runs: n, Interleaved: true}
	levels, err := stat.Levels(looks, q.policy.alpha())
	if err != nil { // looks that cannot be: another check says so
		return d, q.policy.Confidence
	}
	return d, 1 - 2*levels[len(levels)-1]
}

func (q *question) made(d stat.Design) string {
	switch {
	case d.Sessions > 0:
		return fmt.Sprintf("a committed baseline of %s, days differing by %s", count(d.Sessions, "session"), percent(d.DaySD))
	case len(q.looks) == 0:
		return fmt.Sprintf("%s a side", count(d.Runs, "run"))
	}
	return fmt.Sprintf("interleaved, %s a side", count(d.Runs, "visit"))
}

// ways are the designs in which an equal build's interval would end below the rule_out.
func (q *question) ways(d stat.Design, sd, ruleOut float64) []string {
	var ways []string
	for k := d.Sessions + 1; d.Sessions > 0 && k <= bench.MostSessions; k++ {
		more := d
		more.Sessions = k
		if halfOf(more, sd, q.policy.Confidence) < ruleOut {
			ways = append(ways, fmt.Sprintf("a baseline of %d sessions", k))
			break
		}
	}
	looks := q.looks
	if len(looks) == 0 {
		looks = q.policy.looks()
	}
	last := looks[len(looks)-1]
	turned, confidence := q.byTurns(looks, last)
	for n := last; n <= mostRuns; n += 2 {
		turned.Runs = n
		switch {
		case halfOf(turned, sd, confidence) >= ruleOut:
			continue
		case n == last:
			ways = append(ways, fmt.Sprintf("an interleaved comparison with looks at %v visits a side", looks))
		default:
			ways = append(ways, fmt.Sprintf("an interleaved comparison with its last look at %d visits a side", n))
		}
		break
	}
	return ways
}
