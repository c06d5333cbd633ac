package noise

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/benchgate/benchgate/internal/stat"
)

// Plan is how a runner's comparisons are set up.
type Plan struct {
	Confidence float64 // two-sided
	DaySD      float64 // prior of how far days differ
	Runs       int     // of a session, in a committed comparison
	Looks      []int   // of an interleaved one: visits a side, rising
}

// power is how often a change has to be found, or excluded, to count as seen.
const power = 0.80

// Way is one way of making a comparison.
type Way struct {
	stat.Design
	Confidence float64
}

// Together compares N runs a side in one session and decides once.
func (p Plan) Together(n int) Way { return Way{stat.Design{Runs: n}, p.Confidence} }

// Turns compares N visits a side, interleaved, at the level that the last of several looks at the plan's shares of N has:
// what the earlier ones may decide is left out, so the truth is slightly better.
func (p Plan) Turns(n int) (Way, error) {
	w := Way{stat.Design{Runs: n, Interleaved: true}, p.Confidence}
	if len(p.Looks) == 0 {
		return w, nil
	}
	levels, err := stat.Levels(p.Looks, (1-p.Confidence)/2)
	if err != nil {
		return Way{}, err
	}
	w.Confidence = 1 - 2*levels[len(levels)-1]
	return w, nil
}

// LastLook is the most visits a side that the plan's looks allow; 0 without looks.
func (p Plan) LastLook() int {
	if len(p.Looks) == 0 {
		return 0
	}
	return p.Looks[len(p.Looks)-1]
}

// Committed compares a session of the plan's runs with a baseline of so many sessions.
func (p Plan) Committed(sessions int) Way {
	return Way{stat.Design{Runs: p.Runs, Sessions: sessions, DaySD: p.DaySD}, p.Confidence}
}

// Detects is the smallest worsening of the metric that is found four times in five.
func (w Way) Detects(m Metric) float64 {
	return m.Worse(w.Design.Detects(m.Believed(), w.Confidence, power))
}

// roundRuleOuts are the rule_outs that a person would write.
var roundRuleOuts = []float64{0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50, 0.75, 1}

// RuleOut is the smallest round rule_out, larger than the tolerance, that an equal build passes four times in five;
// false when none up to 100 % is.
//
// A pass needs δ̂ + t(1−α)·se below the rule_out, and an equal build has P(δ̂ + t(1−α)·se < t(1−α)·se + t(0.8)·se) = 0.8:
// the smallest is exp(se·(t(0.975) + t(0.80))) − 1, the smallest detectable change seen from the other side (Phillips 1990).
func (w Way) RuleOut(m Metric, tolerance float64) (float64, bool) {
	reach := w.Detects(m)
	for _, r := range roundRuleOuts {
		if r >= reach && r > tolerance {
			return r, true
		}
	}
	return 0, false
}

// Ask is what a rule asks of a metric.
type Ask struct {
	Tolerance float64
	RuleOut   float64 // 0: the default, 25 %
}

// defaultRuleOut is what a comparison has to exclude unless its rule says otherwise.
const defaultRuleOut = 0.25

// mostVisits is how many visits a side are still advice.
const mostVisits = 40

// Advise says which design reaches what the rule asks, and what the others reach.
func (p Plan) Advise(m Metric, a Ask) ([]string, error) {
	wanted := a.RuleOut
	if wanted == 0 {
		wanted = defaultRuleOut
	}
	turns, err := p.Turns(p.LastLook())
	if err != nil {
		return nil, err
	}
	five := p.Committed(5)
	var lines []string
	switch {
	case turns.Detects(m) <= wanted:
		lines = append(lines, fmt.Sprintf("design: confirm or interleaved, looks %s, reaches rule_out %s (the base build has to be startable on this runner: reference)", p.LooksInWords(), named(turns, m, a.Tolerance)))
	case five.Detects(m) <= wanted:
		lines = append(lines, fmt.Sprintf("design: committed, with 5 sessions or more in the baseline, reaches rule_out %s", named(five, m, a.Tolerance)))
	default:
		lines = append(lines, fmt.Sprintf("rule_out %s is out of reach: %s", percentOf(m, wanted), p.otherwise(m, a, wanted)))
	}
	return append(lines, p.committed(m, a)), nil
}

// committed says what a committed baseline reaches.
func (p Plan) committed(m Metric, a Ask) string {
	where := fmt.Sprintf("against a committed baseline of %d-run sessions: rule_out ", p.Runs)
	if _, ok := p.Committed(10).RuleOut(m, a.Tolerance); !ok {
		return where + named(p.Committed(10), m, a.Tolerance) + " even with 10 sessions"
	}
	return where + fmt.Sprintf("%s with 1 session, %s with 5, %s with 10",
		named(p.Committed(1), m, a.Tolerance), named(p.Committed(5), m, a.Tolerance), named(p.Committed(10), m, a.Tolerance))
}

// otherwise is what to do where the looks that are planned do not reach what is wanted.
func (p Plan) otherwise(m Metric, a Ask, wanted float64) string {
	turns, err := p.Turns(p.LastLook())
	if err != nil {
		return err.Error()
	}
	says := fmt.Sprintf("%d interleaved visits a side reach %s", p.LastLook(), named(turns, m, a.Tolerance))
	for n := p.LastLook() + 2; n <= mostVisits; n += 2 {
		turns.Runs = n
		if turns.Detects(m) <= wanted {
			return fmt.Sprintf("%s; %d would do (campaign.looks)", says, n)
		}
	}
	return fmt.Sprintf("%s, and not even %d would do: quieten the workload or the machine first", says, mostVisits)
}

// LooksInWords writes the looks as people do: 6-8-10.
func (p Plan) LooksInWords() string {
	var list []string
	for _, n := range p.Looks {
		list = append(list, strconv.Itoa(n))
	}
	return strings.Join(list, "-")
}

func named(w Way, m Metric, tolerance float64) string {
	r, ok := w.RuleOut(m, tolerance)
	if !ok {
		return "above " + percentOf(m, roundRuleOuts[len(roundRuleOuts)-1])
	}
	return percentOf(m, r)
}

// percentOf writes a round change: per cent, or points of a share.
func percentOf(m Metric, x float64) string {
	unit := " %"
	if m.points() {
		unit = " points"
	}
	return fmt.Sprintf("%g%s", math.Round(1000*x)/10, unit)
}
