package gate

import (
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

// met sets how many requests of each run met the SLO.
func met(d bench.Digest, counts ...int) bench.Digest {
	return runs(d, func(i int, r *bench.Run) {
		n := counts[i%len(counts)]
		r.Good = &n
	})
}

func TestMinimumOnAShare(t *testing.T) {
	base := one(history("chat", 5))
	p := Policy{Slack: 0.03, Rules: []Rule{{Metric: "goodput.ratio", Min: ptr(0.95)}}}
	strict := p
	strict.Slack = 0
	head := func(counts ...int) []bench.Digest { return one(met(digest("chat", headDay, quiet...), counts...)) }
	bad := one(met(history("chat", 5), 80))
	for _, d := range []decision{
		{"a perfect record passes", p, base, head(100), 0, Pass, 0, "goodput.ratio is 100 % (97 % to 100 %, 95 % interval); the limit is 95 %, with a slack of 3 points", ""},
		{"the slack certifies", p, base, head(97, 98, 97), 0, Pass, 0, "", ""},
		{"without it nothing near the limit does", strict, base, head(97, 98, 97), 0, Inconclusive, 0, "neither shown kept nor shown broken", "slack"},
		{"wholly below", p, base, head(80, 84, 79, 90, 70), 0, Breached, 1, "below the limit of 95 %", ""},
		{"a base that breaches it changes no pass", p, bad, head(100), 0, Pass, 0, "", ""},
		{"already so at base", p, bad, head(80), 0, Observed, 0, "Already so at base", "repair the base"},
		{"a base that cannot be judged excuses nothing", p, one(met(digest("chat", baseDay, quiet[:2]...), 80)), head(80), 0, Breached, 1, "", ""},
		{"no record of what was good", p, base, one(runs(digest("chat", headDay, quiet...), func(_ int, r *bench.Run) {
			r.Good = nil
			delete(r.Metrics, "goodput.ratio")
		})), 0, Missing, 3, "no goodput.ratio", "slo"},
		{"a share without its count", p, base, one(runs(digest("chat", headDay, quiet...), func(_ int, r *bench.Run) {
			r.Good = nil
			r.Metrics["goodput.ratio"] = 0.8
		})), 0, Breached, 1, "80 %", ""},
	} {
		d.run(t)
	}
}

// One more failure in the worst run makes runs less alike and lifts the upper end from 92.39 % to 92.43 %.
func TestFailuresThatWidenTheIntervalDoNotCertify(t *testing.T) {
	p := Policy{Slack: 0.13, Rules: []Rule{{Metric: "goodput.ratio", Min: ptr(0.9241)}}}
	base := one(history("chat", 5))
	head := func(worst int) []bench.Digest {
		return edited(6, func(i int, r *bench.Run) {
			good := 36
			if i == 0 {
				good = worst
			}
			r.Sent, r.OK, r.Good = 40, 40, &good
		})
	}
	decision{"a breach", p, base, head(31), 0, Breached, 1, "", ""}.run(t)
	decision{"and one more failure", p, base, head(30), 0, Inconclusive, 0, "", ""}.run(t)
}

func TestMaximumOnErrorsIsAPointRule(t *testing.T) {
	base := one(history("chat", 5))
	p := Policy{Rules: []Rule{{Metric: "error.ratio", Max: ptr(0.005)}}}
	failing := func(d bench.Digest, n int) []bench.Digest { return one(runs(d, first(n, fails(1)))) }
	for _, d := range []decision{
		{"none", p, base, failing(digest("chat", headDay, quiet...), 0), 0, Pass, 0, "0 of 500 requests failed (0.0 %); the limit is 0.5 %", ""},
		{"just at the limit", p, base, failing(digest("chat", headDay, append(quiet, quiet...)...), 5), 0, Pass, 0, "5 of 1000", ""},
		{"one more", p, base, failing(digest("chat", headDay, append(quiet, quiet...)...), 6), 0, Breached, 1, "6 of 1000 requests failed (0.6 %)", "CUDA out of memory"},
		{"already so at base", p, failing(history("chat", 5), 25), failing(digest("chat", headDay, quiet...), 5), 0, Observed, 0, "Already so at base", ""},
		{"a void run does not count", p, base, one(runs(digest("chat", headDay, append(quiet, 0.4)...), first(1, func(r *bench.Run) {
			fails(50)(r)
			r.Void = "lock lost"
		}))), 0, Pass, 0, "0 of 500", ""},
	} {
		d.run(t)
	}
}

func TestLimitsOnTimesAndRates(t *testing.T) {
	base := one(history("chat", 5))
	at := func(metric string, low, high *float64) Policy {
		return Policy{Rules: []Rule{{Metric: metric, Min: low, Max: high}}}
	}
	head := func(by float64) []bench.Digest { return one(digest("chat", headDay, times(quiet, by)...)) }
	queue := func(seconds float64) []bench.Digest {
		return edited(5, func(i int, r *bench.Run) { r.Metrics["queue.p95"] = seconds * float64(i) })
	}
	for _, d := range []decision{
		{"a time within", at("ttft.p95", nil, ptr(0.5)), base, head(1), 0, Pass, 0, "ttft.p95 is 409 ms (399 ms to 420 ms, 95 % interval); the limit is 500 ms", ""},
		{"a time beyond", at("ttft.p95", nil, ptr(0.5)), base, head(1.5), 0, Breached, 1, "above the limit of 500 ms", "differs between the builds"},
		{"a time at the limit", at("ttft.p95", nil, ptr(0.41)), base, head(1), 0, Inconclusive, 0, "lies within", "campaign.runs"},
		{"a time beyond, already so at base", at("ttft.p95", nil, ptr(0.3)), base, head(1), 0, Observed, 0, "Already so at base", ""},
		{"a rate within", at("output.rate", ptr(900), nil), base, head(1), 0, Pass, 0, "977 tok/s", ""},
		{"a rate below", at("output.rate", ptr(900), nil), base, head(1.5), 0, Breached, 1, "below the limit of 900 tok/s", ""},
		{"a time whose percentile the baseline cannot have", at("ttft.p95", nil, ptr(0.5)), one(runs(history("chat", 2), func(_ int, r *bench.Run) { r.OK = 58 })), head(1), 0, Inconclusive, 0, "no latency", ""},
		{"a time of seconds", at("e2el.p95", nil, ptr(2)), base, head(1), 0, Pass, 0, "e2el.p95 is 1.23 s", ""},
		{"a queue that never formed, and of which the baseline knows nothing", at("queue.p95", nil, ptr(0.1)), base, queue(0), 0, Pass, 0, "queue.p95 is 0", ""},
	} {
		d.run(t)
	}
	none := one(runs(history("chat", 5), func(_ int, r *bench.Run) { r.Metrics["queue.p95"] = 0 }))
	decision{"no queue", at("queue.p95", nil, ptr(0.1)), none, queue(0), 0, Pass, 0, "queue.p95 is 0", ""}.run(t)
	decision{"a queue in some runs", at("queue.p95", nil, ptr(0.001)), none, queue(0.001), 0, Inconclusive, 0, "", ""}.run(t)
	decision{"a queue in most runs", at("queue.p95", nil, ptr(0.001)), none, queue(1), 0, Breached, 1, "", ""}.run(t)
}

func TestLimitsNeedNoBaseline(t *testing.T) {
	head := func(by float64) bench.Digest { return digest("chat", headDay, times(quiet, by)...) }
	errors := Rule{Metric: "error.ratio", Max: ptr(0.005)}
	limits := func(rules ...Rule) Policy { return Policy{Slack: 0.03, Rules: rules} }
	ceiling := head(1)
	ceiling.MustMatch[bench.KeyOutput] = "ceiling"
	for _, d := range []decision{
		{"a quarter of requests failed", Defaults(), nil, one(runs(head(1), first(5, fails(25)))), 1, Breached, 1, "125 of 500 requests failed", "CUDA out of memory"},
		{"and the comparison is new", Defaults(), nil, one(runs(head(1), first(5, fails(25)))), 0, New, 1, "no baseline", ""},
		{"no request failed", Defaults(), nil, one(head(1)), 1, Pass, 0, "0 of 500", ""},
		{"a share below", limits(Rule{Metric: "goodput.ratio", Min: ptr(0.95)}), nil, one(met(head(1), 80)), 0, Breached, 1, "below the limit", ""},
		{"a share kept", limits(Rule{Metric: "goodput.ratio", Min: ptr(0.95)}), nil, one(met(head(1), 100)), 0, Pass, 0, "", ""},
		{"a time beyond", limits(Rule{Metric: "ttft.p95", Max: ptr(0.5)}), nil, one(head(1.5)), 0, Breached, 1, "above the limit", ""},
		{"a time within", limits(Rule{Metric: "ttft.p95", Max: ptr(0.5)}), nil, one(head(1)), 0, Pass, 0, "", ""},
		{"answers of any length", limits(Rule{Metric: "e2el.p95", Max: ptr(0.5)}), nil, one(ceiling), 0, Breached, 1, "above the limit", ""},
		{"two runs", limits(errors), nil, one(digest("chat", headDay, quiet[:2]...)), 0, Invalid, 3, "2 valid runs", ""},
		{"a dead server", limits(errors), nil, one(runs(head(1), first(5, fails(100)))), 0, Invalid, 3, "failed", ""},
		{"a server that misbehaved", limits(errors), nil, one(runs(head(1), first(1, func(r *bench.Run) { r.Invalid = "server died" }))), 0, Invalid, 3, "misbehaved", ""},
		{"too few successes", limits(Rule{Metric: "ttft.p95", Max: ptr(0.5)}), nil, one(runs(head(1), first(5, fails(60)))), 0, Invalid, 3, "needs 59 successes", ""},
		{"no such metric", limits(Rule{Metric: "queue.p95", Max: ptr(0.5)}), nil, one(head(1)), 0, Missing, 3, "the candidate has no queue.p95", ""},
	} {
		d.run(t)
	}
}

func TestGoodputComparedInPoints(t *testing.T) {
	p := Policy{Rules: []Rule{{Metric: "goodput.ratio", Tolerance: ptr(0.05), RuleOut: ptr(0.15)}}}
	side := func(d bench.Digest, counts ...int) []bench.Digest { return one(met(d, counts...)) }
	base := side(history("chat", 5), 96, 97, 95, 96, 98)
	head := func() bench.Digest { return digest("chat", headDay, quiet...) }
	for _, d := range []decision{
		{"as good", p, base, side(head(), 96, 95, 97, 96, 97), 0, Pass, 0, "points lower; the rule excludes 15 points or more", ""},
		{"worse", p, base, side(head(), 70, 72, 69, 75, 71), 0, Regressed, 1, "25 points lower", ""},
		{"better", p, side(history("chat", 5), 70, 72, 69, 75, 71), side(head(), 96, 95, 97, 96, 97), 0, Improved, 0, "25 points higher", ""},
		{"a base with too little to gain", p, base, side(head(), 100), 0, Pass, 0, "points higher", ""},
		{"a base with nothing to lose", p, side(history("chat", 5), 3, 4), side(head(), 3, 4), 0, Inconclusive, 0, "it cannot fall by 15 points", "min"},
		{"a base with too little to rule out still regresses", p, side(history("chat", 5), 12, 13), side(head(), 0, 0), 0, Regressed, 1, "points lower", ""},
		{"two perfect records are not equal for sure", Policy{Rules: []Rule{{Metric: "goodput.ratio", Tolerance: ptr(0.005), RuleOut: ptr(0.01)}}}, side(history("chat", 5), 100), side(head(), 100), 0, Inconclusive, 0, "", ""},
	} {
		d.run(t)
	}
	v := Decide(p, base, side(head(), 70, 72, 69, 75, 71))
	if c := v.Findings[0].Change; !c.Points || c.Ratio != 0 || c.Worse < 0.24 || c.Worse > 0.26 {
		t.Errorf("change %+v", c)
	}
}
