package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// decide is the decision itself, for a worsening between c.Low and c.High around c.Delta. Early says that another look or a
// second stage may follow.
func (t thresholds) decide(c comparison, alpha float64, early bool) Outcome {
	switch {
	case c.holm[worse] <= alpha && c.Low > 0 && c.Delta >= t.tolerance:
		return Regressed
	case c.holm[better] <= alpha && c.High < 0 && c.Delta <= t.better:
		return Improved
	case t.excluded(c, early):
		return Pass
	}
	return Inconclusive
}

// excluded reports whether a worsening of rule_out or more is excluded. Early, a pass also asks for a change within the
// tolerance: who passes early on a worse estimate has taken the luckiest of several looks.
func (t thresholds) excluded(c comparison, early bool) bool {
	return c.High < t.ruleOut && (!early || c.Delta < t.tolerance)
}

// judge answers a question whose comparison is made.
func (q *question) judge() {
	c := q.comparison
	if c.err != nil {
		q.settle(Invalid, "The comparison was refused: "+c.err.Error()+".", "Measure at least 5 runs a side, interleaved runs in the order ABBA.")
		return
	}
	f := &q.finding
	f.Change, f.Method, f.Seed = q.change(), c.Method, strconv.FormatUint(q.seed(), 10)
	f.Warnings = append(f.Warnings, c.warnings(q.metric)...)
	q.power()
	q.remark()
	q.hurried()
	q.outside()
	q.grow()
	t := q.thresholds()
	q.attainable(t)
	o := t.decide(*c, stat.Round(q.policy.alpha()), q.early())
	q.decided = o != Inconclusive && (o != Pass || q.rule.RuleOut != nil)
	if o == Pass || o == Inconclusive {
		if q.outOfReach(t) {
			return
		}
		if q.rule.RuleOut == nil {
			o = Observed
		}
	}
	q.tell(o, t)
}

// warnings are those of the statistics. That runs are no less alike than chance makes them is what one hopes of a share.
func (c *comparison) warnings(m bench.Metric) []string {
	return slices.DeleteFunc(slices.Clone(c.Warnings), func(w string) bool {
		return m.Scale == bench.Logit && (c.Degenerate && strings.HasPrefix(w, "degenerate") || strings.HasPrefix(w, "very noisy"))
	})
}

// power fills in the smallest worsening that such a comparison finds four times in five.
func (q *question) power() {
	c := q.comparison
	m := q.worsening(stat.SmallestDetectable(c.SE, c.DF, c.confidence, 0.80))
	q.finding.MDE80 = &m
	if m > 1 {
		q.warn("the runner is too noisy to judge: a worsening of less than %s would be missed", estimated(m, m))
	}
}

// outOfReach settles a rule that asks for more points than the baseline's share has: it could never fire, or never fail to
// pass.
func (q *question) outOfReach(t thresholds) bool {
	asked := q.rule.Tolerance
	switch {
	case q.rule.RuleOut != nil && math.IsInf(t.ruleOut, 1):
		asked = q.rule.RuleOut
	case !math.IsInf(t.tolerance, 1):
		return false
	}
	q.settle(Inconclusive, fmt.Sprintf("At base %s is %s: it cannot fall by %s, so the rule shows nothing.", q.metric.Name,
		estimated(stat.Expit(q.comparison.anchor), 0.02), speak(q.metric).asked(*asked)),
		"Hold it to a min, ask for fewer points, or loosen the SLO that it counts against.")
	return true
}

// tell writes the answer in words.
func (q *question) tell(o Outcome, th thresholds) {
	t, ch, name := speak(q.metric), q.finding.Change, q.metric.Name
	here := fmt.Sprintf("%s is %s (%s, %s interval)", name, t.change(ch.Worse, ch.digits()), t.span(ch), percent(roundTo(ch.Level, 4)))
	switch o {
	case Regressed:
		q.settle(o, fmt.Sprintf("%s; the tolerance is %s.", here, t.asked(*q.rule.Tolerance)),
			q.lookFirst()+"See what differs between the builds. If it is intended: a waiver first, in a change of its own, and after the merge benchgate baseline accept --new-epoch --reason TEXT.")
	case Improved:
		q.settle(o, here+".", "Keep it: after the merge, benchgate baseline accept --new-epoch --reason TEXT.")
	case Pass:
		q.settle(o, fmt.Sprintf("%s is %s; the rule excludes %s or more.%s", name, t.most(ch), t.asked(*q.rule.RuleOut), q.spared(th)), "")
	case Observed:
		q.settle(o, here+"; a rule without rule_out can only block."+q.spared(th), "Nothing has to be done. Set rule_out if a pass should be shown.")
	default:
		q.settle(o, q.undecided(th), q.next(th))
	}
}

// undecided says what an inconclusive comparison leaves open.
func (q *question) undecided(th thresholds) string {
	t, ch, name := speak(q.metric), q.finding.Change, q.metric.Name
	if th.excluded(*q.comparison, false) {
		when := "before the last look"
		if q.stage == 1 {
			when = "in the first stage"
		}
		return fmt.Sprintf("%s is %s, %s: %s or more is excluded, but %s a pass also asks for a change within the tolerance of %s.", name,
			t.change(ch.Worse, ch.digits()), t.most(ch), t.asked(*q.rule.RuleOut), when, t.asked(*q.rule.Tolerance))
	}
	why := fmt.Sprintf("%s may be anything %s: neither a worsening nor the absence of one by %s is shown.%s", name, t.span(ch), t.asked(*q.rule.RuleOut), q.spared(th))
	if m := q.finding.MDE80; m != nil && *m < 10 {
		why += fmt.Sprintf(" A comparison like this one finds %s four times in five.", t.change(*m, decimals(*m*100/4)))
	}
	return why
}

// next says what would decide: the next look, where one was planned, or more than was planned.
func (q *question) next(th thresholds) string {
	if q.another() {
		return fmt.Sprintf("The next look is at %s a side. %s", count(q.looks[q.look+1], "visit"), goOn)
	}
	return q.more(th)
}

// spared says why an interval that lies wholly on the worse side did not count as a regression; empty elsewhere.
func (q *question) spared(t thresholds) string {
	c := q.comparison
	switch {
	case c.Low <= 0:
		return ""
	case c.Delta < t.tolerance:
		return fmt.Sprintf(" It is worse, but by less than the tolerance of %s.", speak(q.metric).asked(*q.rule.Tolerance))
	}
	return " Asked alone this would count as worse; among all rules asked together it does not."
}
