package config

import (
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// Defaults of the gate, as fractions.
const (
	defaultTolerance = 0.05
	defaultRuleOut   = 0.25
	defaultErrors    = 0.005
)

// change bounds a tolerance, a rule_out or a ceiling: a change of more than the tenfold is a slip.
var change = bounds{greatest: 10, above: true}

func (r *reader) policy(f file, scenarios []Scenario) gate.Policy {
	g := f.Gate.v
	b := g.Baseline.v
	p := gate.Policy{
		Confidence:     r.percent(g.Confidence, 0.95, bounds{least: 0.8, greatest: 0.999}),
		OnInconclusive: r.word(g.OnInconclusive, "warn", "warn", "fail"),
		OnMissing:      r.word(g.OnMissing, "warn", "warn", "fail"),
		Slack:          r.share(g.Slack, true, 0.03, bounds{greatest: 0.5}),
		MaxAge:         r.duration(b.MaxAge, 30*24*time.Hour),
		DaySD:          r.percent(b.DaySD, 0.05, bounds{greatest: 1, above: true}),
	}
	for _, s := range scenarios {
		p.Scenarios = append(p.Scenarios, s.Name)
	}
	book := ruleBook{reader: r, scenarios: scenarios, asked: map[question]int{}}
	for _, s := range scenarios {
		if q := f.Scenarios[s.Name].v.Primary; q.given() {
			book.primary(s.Name, q)
		}
	}
	for _, q := range g.Rules {
		book.rule(q)
	}
	p.Rules = append(book.rules, book.errors()...)
	p.Waivers = r.waivers(g.Waivers, scenarios)
	return p
}

// ruleBook collects the rules, and knows which question has been asked of which scenario.
type ruleBook struct {
	*reader
	scenarios []Scenario
	rules     []gate.Rule
	asked     map[question]int // line
	erring    []string         // scenarios whose errors a rule is about, or that have none by max: off
}

type question struct{ scenario, metric, kind string }

func (b *ruleBook) primary(name string, q block[primary]) {
	b.need(q.node, q.v.Metric.given(), "metric", "say what is compared: metric: ttft.p95")
	m, ok := b.metric(q.v.Metric)
	if !ok {
		return
	}
	if m.Scale == bench.Point {
		b.fail(q.v.Metric.node, m.Name+" is held to a limit, not compared", "make it a rule under gate: {metric: error.ratio, max: 0.5%}")
		return
	}
	t, o := b.margins(m, q.v.Tolerance, q.v.RuleOut, defaultTolerance, defaultRuleOut)
	b.add(q.v.Metric.node, gate.Rule{Metric: m.Name, Scenarios: []string{name}, Primary: true, Tolerance: &t, RuleOut: &o, At: b.placeOf(q.node)}, "change")
}

// rule reads one entry of gate.rules: exactly one of tolerance, min and max.
func (b *ruleBook) rule(q block[rule]) {
	v := q.v
	b.need(q.node, v.Metric.given(), "metric", "say what is judged: metric: tpot.mean")
	names := b.named(v.Scenarios)
	if v.Scenarios != nil && len(v.Scenarios) == 0 {
		b.fail(entry(q.node, "scenarios"), "the rule is about no scenario", "name some, or delete scenarios: then it is about all")
	}
	m, ok := b.metric(v.Metric)
	if !ok || len(names) == 0 && v.Scenarios != nil {
		return
	}
	out := gate.Rule{Metric: m.Name, Scenarios: names, At: b.placeOf(q.node)}
	asked := 0
	for _, s := range []scalar{v.Tolerance.scalar, v.Min.scalar, v.Max.scalar} {
		if s.given() {
			asked++
		}
	}
	switch {
	case asked > 1:
		b.fail(q.node, "tolerance, min and max exclude each other", "make it two rules")
	case v.Min.given():
		b.odd(v.RuleOut.scalar, "rule_out belongs to a tolerance, not to a limit", "delete it")
		b.minimum(out, m, v)
	case v.Max.given():
		b.odd(v.RuleOut.scalar, "rule_out belongs to a tolerance, not to a limit", "delete it")
		b.maximum(out, m, v)
	case v.Tolerance.given():
		b.comparative(out, m, v)
	default:
		b.fail(q.node, "none of tolerance, min and max", "write tolerance: 5% to compare, or a limit: min or max")
	}
}

func (b *ruleBook) comparative(out gate.Rule, m bench.Metric, v rule) {
	if m.Scale == bench.Point {
		b.fail(v.Tolerance.node, m.Name+" is held to a limit, not compared", "write max: 0.5%")
		return
	}
	t, o := b.margins(m, v.Tolerance, v.RuleOut, defaultTolerance, 0)
	out.Tolerance = &t
	if v.RuleOut.given() {
		out.RuleOut = &o
	}
	b.add(v.Metric.node, out, "change")
}

// margins reads tolerance and rule_out; the second has to be the larger one.
func (b *ruleBook) margins(m bench.Metric, tolerance, ruleOut share, t, o float64) (float64, float64) {
	ratio := m.Unit == bench.Ratio
	limits := change
	if ratio {
		limits.greatest = 1
	}
	t = b.share(tolerance, ratio, t, limits)
	o = b.share(ruleOut, ratio, o, limits)
	switch {
	case o == 0 || o > t:
	case ruleOut.given():
		b.fail(ruleOut.node, "rule_out has to be larger than tolerance", "a pass excludes a change of rule_out; tolerance is the smallest one that counts")
	default:
		b.fail(tolerance.node, "tolerance has to be smaller than rule_out, 25% unless set", "write a rule_out too")
	}
	return t, o
}

func (b *ruleBook) minimum(out gate.Rule, m bench.Metric, q rule) {
	if !m.HigherBetter() {
		b.fail(q.Min.node, "less is better of "+m.Name+": a minimum would ask for more", "write max")
		return
	}
	if v, ok := b.limit(q.Min, m, true); ok {
		out.Min = &v
		b.add(q.Metric.node, out, "min")
	}
}

func (b *ruleBook) maximum(out gate.Rule, m bench.Metric, q rule) {
	if m.HigherBetter() {
		b.fail(q.Max.node, "more is better of "+m.Name+": a maximum would ask for less", "write min")
		return
	}
	if q.Max.written() == "off" {
		b.off(out, m, q)
		return
	}
	if v, ok := b.limit(q.Max, m, m.Unit != bench.Ratio); ok {
		out.Max = &v
		b.add(q.Metric.node, out, "max")
	}
}

// off removes the default rule on errors; there is no other default to remove.
func (b *ruleBook) off(out gate.Rule, m bench.Metric, q rule) {
	if m.Scale != bench.Point {
		b.fail(q.Max.node, "only error.ratio has a default limit to switch off", "delete the rule")
		return
	}
	b.claim(q.Metric.node, out, "max")
}

// limit reads a limit in the metric's own unit.
func (b *ruleBook) limit(l limit, m bench.Metric, positive bool) (float64, bool) {
	before := len(b.mistakes)
	var v float64
	switch m.Unit {
	case bench.Seconds:
		v = b.seconds(duration(l), 1)
	case bench.Ratio:
		v = b.percent(percent(l), 0, bounds{greatest: 1, above: positive})
	default:
		v = b.positive(number(l), 1)
	}
	return v, len(b.mistakes) == before
}

func (r *reader) metric(m metric) (bench.Metric, bool) {
	if !m.given() {
		return bench.Metric{}, false
	}
	name := m.written()
	found, err := bench.ParseMetric(name)
	if err == nil {
		return found, true
	}
	var names []string
	for _, k := range bench.Metrics() {
		names = append(names, k.Name)
	}
	hint := "a metric is what.statistic, such as ttft.p95, tpot.mean or e2el.p50; or request.rate, output.rate, goodput.ratio, goodput.rate, error.ratio"
	if near := nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.fail(m.node, "unknown metric "+quote(name), hint)
	return bench.Metric{}, false
}

// named reads the scenarios of a rule.
func (b *ruleBook) named(list []label) []string {
	var names []string
	for _, l := range list {
		if name, ok := b.known(l, b.scenarios); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (r *reader) known(l label, scenarios []Scenario) (string, bool) {
	name := l.written()
	var names []string
	for _, s := range scenarios {
		if s.Name == name {
			return name, true
		}
		names = append(names, s.Name)
	}
	hint := "the scenarios are " + strings.Join(names, ", ")
	if near := nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.fail(l.node, "there is no scenario "+quote(name), hint)
	return "", false
}

// placeOf is where a rule stands, for annotations on its line.
func (r *reader) placeOf(n ast.Node) gate.Place {
	return gate.Place{File: r.place, Line: r.spot(n).line}
}
