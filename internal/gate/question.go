package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// question is one rule asked in one scenario, on its way to a finding.
type question struct {
	*pair
	policy     Policy
	rule       Rule
	metric     bench.Metric
	finding    Finding
	comparison *comparison // nil unless both sides are to be compared
	// rejected holds the adjusted p at which Holm's procedure rejected each direction, at this look or an earlier one.
	rejected [directions]*float64
	// decided says that the statistics have answered, whatever is thought of the answer.
	decided bool
	// unfit says that the rule or the candidate cannot be judged, whatever it is compared with.
	unfit bool
	// baseUnfit says that the committed baseline cannot be judged; isExcused that the answer is no fault of a change that
	// touches the gate alone.
	baseUnfit, isExcused bool
	// stage is 1 in the first stage of a confirm campaign, after which a second one may follow, and 2 in the second; before is
	// then the candidate in the first.
	stage  int
	before *side
}

// ask puts every rule to every scenario it applies to: scenarios by name, and within one the primary first, then the rules
// as they stand. A scenario that no rule asks about is observed rather than left out.
func ask(p Policy, pairs []*pair) []*question {
	rules := slices.Clone(p.Rules)
	slices.SortStableFunc(rules, func(a, b Rule) int { return order(b.Primary) - order(a.Primary) })
	var qs []*question
	for _, x := range pairs {
		before := len(qs)
		for _, r := range rules {
			if len(r.Scenarios) == 0 || slices.Contains(r.Scenarios, x.scenario) {
				qs = append(qs, newQuestion(p, x, r))
			}
		}
		if len(qs) == before {
			qs = append(qs, newQuestion(p, x, Rule{Metric: "ttft.p95", Fallback: "ttft.p50"}))
		}
	}
	return qs
}

func order(first bool) int {
	if first {
		return 1
	}
	return 0
}

func newQuestion(p Policy, x *pair, r Rule) *question {
	q := &question{pair: x, policy: p, rule: r}
	q.finding = Finding{
		Scenario: x.scenario, Metric: r.Metric, Primary: r.Primary, Rule: r.At,
		Tolerance: written(r.Tolerance), RuleOut: written(r.RuleOut), Min: written(r.Min), Max: written(r.Max), Look: x.place(),
		SLO: x.promised(r.Metric),
	}
	if x.warning != "" {
		q.warn("%s", x.warning)
	}
	return q
}

// promised is the part of the scenario's SLO that a metric has to do with; nil for none.
func (x *pair) promised(metric string) *bench.SLO {
	var of bench.SLO
	switch {
	case x.head != nil:
		of = x.head.digest.SLO
	case x.base != nil:
		of = x.base.digest.SLO
	}
	name, _, _ := strings.Cut(metric, ".")
	part, known := map[string]bench.SLO{
		"ttft": {TTFT: of.TTFT}, "tpot": {TPOT: of.TPOT}, "e2el": {E2EL: of.E2EL}, "goodput": of,
	}[name]
	if !known || part.IsZero() {
		return nil
	}
	return &part
}

// written is a number of a rule as a file can hold it.
func written(x *float64) *float64 {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return nil
	}
	return ptr(stat.Round(*x))
}

// settle writes the answer.
func (q *question) settle(o Outcome, why, next string) {
	q.finding.Outcome, q.finding.Why, q.finding.Next = o, why, next
}

func (q *question) settled() bool { return q.finding.Outcome != "" }

func (q *question) warn(format string, args ...any) {
	q.finding.Warnings = append(q.finding.Warnings, fmt.Sprintf(format, args...))
}

// comparative reports whether the rule asks for a change rather than a limit.
func (r Rule) comparative() bool { return r.Tolerance != nil }

// absolute reports whether the rule is a limit.
func (r Rule) absolute() bool { return r.Min != nil || r.Max != nil }

// fault says what is wrong with a rule; empty for a sound one. A config reader refuses these with the line; this is for
// policies made in code.
func (r Rule) fault(m bench.Metric) string {
	kinds := 0
	for _, x := range []*float64{r.Tolerance, r.Min, r.Max} {
		if x != nil {
			kinds++
			if math.IsNaN(*x) || math.IsInf(*x, 0) || *x < 0 {
				return fmt.Sprintf("the rule asks for %v", *x)
			}
		}
	}
	switch {
	case kinds > 1:
		return "the rule asks for more than one of tolerance, min and max"
	case r.RuleOut != nil && r.Tolerance == nil:
		return "the rule has a rule_out but no tolerance"
	case r.RuleOut != nil && !(*r.RuleOut >= *r.Tolerance && !math.IsInf(*r.RuleOut, 0)):
		return "rule_out is smaller than tolerance"
	case r.comparative() && m.Scale == bench.Point:
		return m.Name + " is held to a limit, not compared"
	case m.Unit == bench.Ratio && m.HigherBetter() && r.Max != nil, m.Unit == bench.Ratio && !m.HigherBetter() && r.Min != nil:
		return "the limit is on the side on which " + m.Name + " is good"
	}
	return ""
}

// prepare settles what can be settled without statistics: what is missing, new, incomparable or refused.
func (q *question) prepare() {
	m, err := bench.ParseMetric(q.rule.Metric)
	if err != nil {
		q.settle(Invalid, err.Error(), "Correct the rule.")
		q.unfit = true
		return
	}
	q.use(m)
	if fault := q.rule.fault(m); fault != "" {
		q.settle(Invalid, fault+".", "Correct the rule.")
		q.unfit = true
		return
	}
	q.through((*question).presence, (*question).surroundings, (*question).alive, (*question).turns, (*question).candidate)
	q.unfit = q.finding.Outcome == Invalid
	q.through((*question).asks, (*question).reach, (*question).lengths, (*question).baseline)
	q.show()
}

// through takes the steps until one of them settles the question.
func (q *question) through(steps ...func(*question)) {
	for _, step := range steps {
		if q.settled() {
			return
		}
		step(q)
	}
}

func (q *question) use(m bench.Metric) {
	q.metric = m
	q.finding.Metric, q.finding.Unit, q.finding.Better = m.Name, string(m.Unit), m.Better
}

// presence settles a scenario that one side lacks.
func (q *question) presence() {
	switch {
	case q.twice != "":
		q.settle(Invalid, fmt.Sprintf("There are two %s digests of scenario %q, and nobody knows which is meant.", q.twice, q.scenario),
			"Give one digest of each scenario.")
	case q.head == nil:
		q.settle(Missing, fmt.Sprintf("The candidate has no digest of scenario %q.", q.scenario),
			fmt.Sprintf("Measure it: benchgate run --scenario %s.", q.scenario))
	}
}

// surroundings settles digests that measured different things.
func (q *question) surroundings() {
	if len(q.comparable.Incomparable) > 0 {
		var parts, names []string
		for _, f := range q.comparable.Incomparable {
			parts = append(parts, fmt.Sprintf("%s is %s at base and %s here", f.Name, known(f.Base), known(f.Head)))
			names = append(names, f.Name)
		}
		q.settle(Incomparable, "The two sides did not measure the same thing: "+list(parts, 4)+".",
			"Measure both sides with the same "+strings.Join(names, ", ")+", or accept a new baseline: benchgate baseline accept --new-epoch --reason TEXT.")
		return
	}
	if q.base != nil && what(q.metric) == "goodput" && !sameSLO(q.base.digest.SLO, q.head.digest.SLO) {
		q.settle(Incomparable, "The SLO that goodput counts against differs between the sides.",
			"Accept a baseline that counts against the new SLO: benchgate baseline accept --new-epoch --reason TEXT.")
	}
}

func known(s string) string {
	if s == "" {
		return "unknown"
	}
	return quote(s)
}

func sameSLO(a, b bench.SLO) bool {
	same := func(x, y *float64) bool { return (x == nil) == (y == nil) && (x == nil || *x == *y) }
	return same(a.TTFT, b.TTFT) && same(a.TPOT, b.TPOT) && same(a.E2EL, b.E2EL)
}

// what is the first half of a metric's name.
func what(m bench.Metric) string {
	name, _, _ := strings.Cut(m.Name, ".")
	return name
}

// measured are the runs of a side that this question can use.
func (q *question) measured(s *side) []placed {
	if q.rule.comparative() {
		return s.comparable(q.metric)
	}
	return s.having(q.metric)
}

// show fills in what a reader sees of both sides, whatever the answer.
func (q *question) show() {
	for _, s := range []*side{q.base, q.head} {
		if s == nil || q.twice != "" {
			continue
		}
		if side := shown(s.having(q.metric), q.metric); s.name == "base" {
			q.finding.Base = side
		} else {
			q.finding.Head = side
		}
		q.finding.Runs = append(q.finding.Runs, s.points(q.metric)...)
	}
}

// points are the runs of one side for a picture. A run without a value has no point; the validity checks name it.
func (s *side) points(m bench.Metric) []RunPoint {
	var out []RunPoint
	fit := map[int]bool{}
	for _, r := range s.fit {
		fit[r.place] = true
	}
	for _, r := range s.runs {
		v, ok := raw(m, r)
		if !ok {
			continue
		}
		p := RunPoint{
			Side: s.name, Session: s.digest.Sessions[r.session].ID, Visit: r.visit, Order: r.place,
			Value: stat.Round(v), Valid: fit[r.place],
		}
		if r.Void != "" {
			p.Note = r.Void
		} else {
			p.Note = r.Invalid
		}
		out = append(out, p)
	}
	return out
}
