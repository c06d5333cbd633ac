package gate

import "github.com/benchgate/benchgate/internal/bench"

// levelMetrics are what tells the level of a baseline.
var levelMetrics = [...]string{"ttft.p50", "ttft.p95", "tpot.mean", "e2el.p95", "output.rate", "goodput.ratio"}

// LevelPolicy asks whether a session stands at another level than the sessions before it, with [Decide] of the same two
// digests: regressed or improved says that it does. It compares with a tolerance of 5 % (five points for goodput) and without
// a rule-out, over every metric that tells the level and that both digests have in enough runs, with enough successes in
// each. No rule is primary, so one Holm family covers them all. It has no rule where the two cannot be compared at all.
func LevelPolicy(base, head bench.Digest) Policy {
	p := Defaults()
	p.Rules, p.Planned = nil, false
	for _, name := range levelMetrics {
		p.Rules = append(p.Rules, Rule{Metric: name, Tolerance: ptr(0.05)})
	}
	var rules []Rule
	for _, q := range ask(p.complete(), match(p.complete(), []bench.Digest{base}, []bench.Digest{head})) {
		if q.prepare(); !q.settled() {
			rules = append(rules, q.rule)
		}
	}
	p.Rules = rules
	return p
}
