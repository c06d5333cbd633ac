package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// add keeps a rule when it can be answered in every scenario that it is about, and nobody asked before.
func (b *ruleBook) add(n ast.Node, rule gate.Rule, kind string) {
	if b.claim(n, rule, kind) {
		b.rules = append(b.rules, rule)
	}
}

// claim checks the question a rule asks, scenario by scenario. One mistake is enough: the next would say the same.
func (b *ruleBook) claim(n ast.Node, rule gate.Rule, kind string) bool {
	m, err := bench.ParseMetric(rule.Metric)
	if err != nil {
		return false
	}
	for _, s := range b.scenarios {
		if len(rule.Scenarios) > 0 && !slices.Contains(rule.Scenarios, s.Name) {
			continue
		}
		if f := b.unanswerable(m, s, rule); f != nil {
			b.fail(n, f.message, f.hint)
			return false
		}
		q := question{s.Name, m.Name, kind}
		if line, ok := b.asked[q]; ok {
			b.fail(n, fmt.Sprintf("%s of scenario %q is already judged by the rule at line %d", m.Name, s.Name, line), "one question, one rule: delete one, or name other scenarios")
			return false
		}
		b.asked[q] = rule.At.Line
		if m.Scale == bench.Point {
			b.erring = append(b.erring, s.Name)
		}
	}
	return true
}

// unanswerable says why a scenario cannot answer a rule.
func (b *ruleBook) unanswerable(m bench.Metric, s Scenario, rule gate.Rule) *fault {
	what, _, _ := strings.Cut(m.Name, ".")
	elsewhere := ""
	if len(rule.Scenarios) == 0 && len(b.scenarios) > 1 {
		elsewhere = "; or name the scenarios that the rule is about: scenarios: [...]"
	}
	switch {
	case s.Load.Open() && (m.Name == "output.rate" || m.Name == "request.rate"):
		return &fault{
			fmt.Sprintf("%s of scenario %q is its schedule, not the server: its load is a rate", m.Name, s.Name),
			"give that scenario a concurrency instead of a rate, or judge ttft, tpot or goodput there" + elsewhere,
		}
	case what == "goodput" && s.SLO.IsZero():
		return &fault{
			fmt.Sprintf("%s needs an slo, and scenario %q has none", m.Name, s.Name),
			"write slo: {ttft: 500ms, tpot: 30ms} there" + elsewhere,
		}
	case (what == "tpot" || what == "icl") && s.OutputTokens == 1:
		return &fault{
			fmt.Sprintf("%s needs answers of two tokens or more, and those of scenario %q have one", m.Name, s.Name),
			"raise output_tokens, or judge ttft" + elsewhere,
		}
	case s.Load.Requests > 0 && m.Least > s.Load.Requests:
		return b.outOfReach(m, s, elsewhere)
	}
	return nil
}

// outOfReach names the number of requests that the statistic needs, and the strongest one that fits.
func (b *ruleBook) outOfReach(m bench.Metric, s Scenario, elsewhere string) *fault {
	what, _, _ := strings.Cut(m.Name, ".")
	weaker := ""
	for _, statistic := range []string{"p95", "p90", "p75", "p50"} {
		k, err := bench.ParseMetric(what + "." + statistic)
		if err == nil && k.Unit == bench.Seconds && k.Least <= s.Load.Requests {
			weaker = ", or judge " + k.Name
			break
		}
	}
	return &fault{
		fmt.Sprintf("%s needs %d successful requests in a run, and scenario %q sends %d", m.Name, m.Least, s.Name, s.Load.Requests),
		fmt.Sprintf("raise scenarios.%s.load.requests to %d or more%s%s", s.Name, m.Least, weaker, elsewhere),
	}
}

// errors is the default limit on errors, for every scenario that no rule on error.ratio is about.
func (b *ruleBook) errors() []gate.Rule {
	var names []string
	for _, s := range b.scenarios {
		if !slices.Contains(b.erring, s.Name) {
			names = append(names, s.Name)
		}
	}
	limit := defaultErrors
	switch len(names) {
	case 0:
		return nil
	case len(b.scenarios):
		names = nil
	}
	return []gate.Rule{{Metric: "error.ratio", Scenarios: names, Max: &limit}}
}

// waivers reads gate.waivers.
func (r *reader) waivers(list []block[waiver], scenarios []Scenario) []gate.Waiver {
	var out []gate.Waiver
	lines := map[question]int{}
	for _, w := range list {
		v := r.waiver(w, scenarios)
		q := question{scenario: v.Scenario, metric: v.Metric}
		if line, ok := lines[q]; ok && v.Metric != "" {
			r.fail(w.node, fmt.Sprintf("%s of scenario %q is already waived at line %d", v.Metric, v.Scenario, line), "delete one")
			continue
		}
		lines[q] = v.At.Line
		out = append(out, v)
	}
	return out
}

func (r *reader) waiver(w block[waiver], scenarios []Scenario) gate.Waiver {
	v := w.v
	r.need(w.node, v.Metric.given(), "metric", "say what may be worse: metric: ttft.p95")
	r.need(w.node, v.Scenario.given(), "scenario", "say where: scenario: chat")
	r.need(w.node, v.Ceiling.given(), "ceiling", "say how much worse, at most: ceiling: 15%")
	r.need(w.node, v.Until.given(), "until", "say until which day, at most: until: 2027-01-31")
	r.need(w.node, v.Why.given(), "why", `say why, for whoever finds it later: why: "engine 0.34 scheduler"`)
	m, _ := r.metric(v.Metric)
	out := gate.Waiver{
		Metric: m.Name, Ceiling: r.share(v.Ceiling, m.Unit == bench.Ratio, 0, change), Why: r.text(v.Why, ""),
		Issue: r.count(v.Issue, 0, 1, 1<<31-1), At: r.placeOf(w.node),
	}
	if v.Scenario.given() {
		out.Scenario, _ = r.known(v.Scenario, scenarios)
	}
	if v.Until.given() {
		day, f := parseDay(v.Until.written())
		r.failed(v.Until.scalar, f)
		out.Until = day
	}
	return out
}
