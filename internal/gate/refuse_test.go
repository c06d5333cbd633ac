package gate

import (
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

// edited is a candidate as fast as the baseline in which some runs are changed.
func edited(n int, edit func(i int, r *bench.Run)) []bench.Digest {
	values := make([]float64, n)
	for i := range values {
		values[i] = quiet[i%len(quiet)]
	}
	return one(runs(digest("chat", headDay, values...), edit))
}

func first(n int, edit func(r *bench.Run)) func(int, *bench.Run) {
	return func(i int, r *bench.Run) {
		if i < n {
			edit(r)
		}
	}
}

// fails makes n requests of a run fail.
func fails(n int) func(r *bench.Run) {
	return func(r *bench.Run) {
		r.OK -= n
		good := *r.Good - n
		r.Good = &good
		r.Failed = map[bench.Class]int{bench.HTTP5xx: r.Sent - r.OK}
		r.FirstError = "CUDA out of memory"
		if r.OK == 0 {
			r.Metrics = map[string]float64{"error.ratio": 1}
		}
	}
}

func TestRefusals(t *testing.T) {
	base := one(history("chat", 5))
	fine := edited(5, func(int, *bench.Run) {})
	void := func(r *bench.Run) { r.Void = "lag p99 31 ms" }
	crash := func(r *bench.Run) { r.Invalid = "server died" }
	absent := func(r *bench.Run) { delete(r.Metrics, "ttft.p95") }
	few := func(r *bench.Run) { r.Sent, r.OK = 58, 58; good := 58; r.Good = &good }
	old := func(edit func(int, *bench.Run)) []bench.Digest { return one(runs(history("chat", 2), edit)) }
	errors := Policy{Rules: []Rule{{Metric: "error.ratio", Max: ptr(0.5)}}}
	unfinished := edited(3, first(0, void))
	unfinished[0].Sessions[0].Planned = 5
	for _, d := range []decision{
		{"fewer runs than planned", primary(), base, unfinished, 0, Invalid, 3, "The candidate has 3 of the 5 runs that were planned", "measures what is missing"},
		{"two runs", primary(), base, edited(2, first(0, void)), 0, Invalid, 3, "The candidate has 2 valid runs and at least 3 are needed", "5 runs"},
		{"two runs at base", primary(), one(digest("chat", baseDay, quiet[:2]...)), fine, 0, Invalid, 3, "The baseline has 2 valid runs", ""},
		{"no run at all", primary(), base, edited(0, first(0, void)), 0, Invalid, 3, "0 valid runs", ""},
		{"more than a fifth void", primary(), base, edited(7, first(2, void)), 0, Invalid, 3, `2 of the candidate's 7 runs were spoilt by the client or the host, more than 20 %: run 1: "lag p99 31 ms"`, "the validity checks in the report"},
		{"more than a fifth of the baseline void", primary(), old(first(3, void)), fine, 0, Invalid, 3, "3 of the baseline's 10 runs cannot be used", ""},
		{"more than a fifth of the baseline misbehaved", primary(), old(first(3, crash)), fine, 0, Invalid, 3, "server died", ""},
		{"every request of every run failed", primary(), base, edited(5, first(5, fails(100))), 0, Invalid, 3, `All 100 requests of run 1 failed, the first with "CUDA out of memory"`, "server's log"},
		{"every request of one run failed", primary(), base, edited(5, first(1, fails(100))), 0, Invalid, 3, "All 100 requests of run 1", ""},
		{"a dead server breaks no limit", errors, base, edited(5, first(5, fails(100))), 0, Invalid, 3, "failed", ""},
		{"a dead server is not new", primary(), nil, edited(5, first(5, fails(100))), 0, Invalid, 3, "failed", ""},
		{"too few successes for a percentile", primary(), base, edited(5, first(1, few)), 0, Invalid, 3, "ttft.p95 needs 59 successes a run and a run of the candidate has 58", "ttft.p50"},
		{"too few successes at base", primary(), old(first(1, few)), fine, 0, Invalid, 3, "a run of the baseline has 58", "ttft.p50"},
		{"the metric is absent from a third of the runs", primary(), base, edited(6, first(2, absent)), 0, Invalid, 3, "2 of the candidate's 6 runs lack ttft.p95", ""},
		{"the metric is absent from a third of the baseline", primary(), old(first(4, absent)), fine, 0, Invalid, 3, "4 of the baseline's 10 runs lack ttft.p95", ""},
		{"a ratio of nothing", Policy{Rules: []Rule{{Metric: "queue.p95", Tolerance: ptr(0.05)}}}, base, edited(5, func(_ int, r *bench.Run) { r.Metrics["queue.p95"] = 0 }), 0, Invalid, 3, "queue.p95 is 0 in every run", "max"},
	} {
		d.run(t)
	}
}

func TestRulesThatMakeNoSense(t *testing.T) {
	base, head := one(history("chat", 5)), one(digest("chat", headDay, quiet...))
	nan := ptr(0)
	*nan /= *nan
	for _, d := range []struct {
		rule Rule
		why  string
	}{
		{Rule{Metric: "ttft.mode", Tolerance: ptr(0.05)}, `unknown statistic "mode"`},
		{Rule{Metric: "ttft.p95", Tolerance: ptr(0.05), Max: ptr(1)}, "more than one"},
		{Rule{Metric: "ttft.p95", RuleOut: ptr(0.05)}, "no tolerance"},
		{Rule{Metric: "ttft.p95", Tolerance: ptr(0.3), RuleOut: ptr(0.25)}, "smaller than tolerance"},
		{Rule{Metric: "ttft.p95", Tolerance: nan}, "NaN"},
		{Rule{Metric: "ttft.p95", Tolerance: ptr(-0.1)}, "-0.1"},
		{Rule{Metric: "error.ratio", Tolerance: ptr(0.05)}, "held to a limit, not compared"},
		{Rule{Metric: "error.ratio", Min: ptr(0.05)}, "on which error.ratio is good"},
		{Rule{Metric: "goodput.ratio", Max: ptr(0.05)}, "on which goodput.ratio is good"},
	} {
		decision{d.why, Policy{Rules: []Rule{d.rule}}, base, head, 0, Invalid, 3, d.why, "Correct the rule"}.run(t)
	}
}

func TestFallbackIsUsedWhereTheMetricIsOutOfReach(t *testing.T) {
	base := one(history("chat", 5))
	few := edited(5, func(_ int, r *bench.Run) { r.Sent, r.OK = 40, 40 })
	absent := edited(5, func(_ int, r *bench.Run) { delete(r.Metrics, "ttft.p95") })
	for name, head := range map[string][]bench.Digest{"too few successes": few, "absent": absent} {
		t.Run(name, func(t *testing.T) {
			v := Decide(Defaults(), base, head)
			sane(t, v)
			f := v.Findings[0]
			if f.Metric != "ttft.p50" || f.Outcome != Pass || !hasWarning(f, "ttft.p50 is judged instead") || !v.DefaultRules {
				t.Errorf("%s is %s, warnings %q, default rules %v", f.Metric, f.Outcome, f.Warnings, v.DefaultRules)
			}
		})
	}
	neither := edited(5, func(_ int, r *bench.Run) { r.Sent, r.OK = 4, 4 })
	decision{"the fallback is out of reach too", Defaults(), base, neither, 0, Invalid, 3, "ttft.p50 needs 5 successes", ""}.run(t)
}

func TestJustEnoughSuccessesAreEnough(t *testing.T) {
	enough := func(_ int, r *bench.Run) { r.Sent, r.OK = 59, 59; good := 59; r.Good = &good }
	decision{"59 for p95", primary(), one(runs(history("chat", 5), enough)), edited(5, enough), 0, Pass, 0, "", ""}.run(t)
}

func TestFewRunsWarn(t *testing.T) {
	v := Decide(primary(), one(history("chat", 5)), one(digest("chat", headDay, quiet[:4]...)))
	if f := v.Findings[0]; f.Outcome != Pass || !hasWarning(f, "only 4 runs") {
		t.Errorf("%s, warnings %q", f.Outcome, f.Warnings)
	}
}

func TestVoidRunsAreListedAndNotCompared(t *testing.T) {
	head := edited(6, first(1, func(r *bench.Run) {
		r.Void = "host too hot"
		r.Metrics["ttft.p95"] = 40
	}))
	v := Decide(primary(), one(history("chat", 5)), head)
	sane(t, v)
	f := v.Findings[0]
	if f.Outcome != Pass || f.Head.NRuns != 5 {
		t.Errorf("%s over %d runs: %s", f.Outcome, f.Head.NRuns, f.Why)
	}
	p := f.Runs[25]
	if p.Side != "head" || p.Valid || p.Note != "host too hot" || p.Value != 40 {
		t.Errorf("the void run is listed as %+v", p)
	}
}

func TestAFifthOfRunsMayBeVoid(t *testing.T) {
	void := func(r *bench.Run) { r.Void = "lag p99 31 ms" }
	for measured, lost := range map[int]int{4: 1, 8: 2, 12: 3} {
		n := measured + lost
		v := Decide(primary(), one(history("chat", 5)), edited(n, first(lost, void)))
		if f := v.Findings[0]; f.Outcome != Pass || f.Head.NRuns != measured {
			t.Errorf("%d of %d runs void: %s over %d runs: %s", lost, n, f.Outcome, f.Head.NRuns, f.Why)
		}
		if checks := failed(v); len(checks) > 0 {
			t.Errorf("%d of %d runs void: failed checks %+v", lost, n, checks)
		}
	}
}

func TestMisbehavingBaselineRunsAreDropped(t *testing.T) {
	base := one(runs(history("chat", 2), first(2, func(r *bench.Run) {
		r.Invalid = "server restarted"
		r.Metrics["ttft.p95"] = 4
	})))
	v := Decide(primary(), base, one(digest("chat", headDay, quiet...)))
	if f := v.Findings[0]; f.Base.NRuns != 8 || !hasWarning(f, "server restarted") {
		t.Errorf("base has %d runs, warnings %q", f.Base.NRuns, f.Warnings)
	}
}

func TestAnswersOfUnknownLength(t *testing.T) {
	ceiling := func(d bench.Digest, tokens float64) []bench.Digest {
		d.MustMatch[bench.KeyOutput] = "ceiling"
		return one(runs(d, func(_ int, r *bench.Run) { r.OutputTokens = tokens }))
	}
	base := ceiling(history("chat", 5), 100)
	rule := func(metric string) Policy {
		return Policy{Rules: []Rule{{Metric: metric, Tolerance: ptr(0.05), RuleOut: ptr(0.25)}}}
	}
	longer, alike, unknown := ceiling(digest("chat", headDay, quiet...), 102), ceiling(digest("chat", headDay, quiet...), 101.9), ceiling(digest("chat", headDay, quiet...), 0)
	for _, d := range []decision{
		{"e2el of longer answers", rule("e2el.p95"), base, longer, 0, Incomparable, 3, "102.0 tokens here and 100.0 at base", "ttft and tpot"},
		{"output.rate of longer answers", rule("output.rate"), base, longer, 0, Incomparable, 3, "ceiling", ""},
		{"goodput of longer answers", rule("goodput.ratio"), base, longer, 0, Incomparable, 3, "ceiling", ""},
		{"ttft of longer answers", rule("ttft.p95"), base, longer, 0, Pass, 0, "", ""},
		{"tpot of longer answers", rule("tpot.mean"), base, longer, 0, Pass, 0, "", ""},
		{"e2el of answers nearly as long", rule("e2el.p95"), base, alike, 0, Pass, 0, "", ""},
		{"e2el of answers of unknown length", rule("e2el.p95"), base, unknown, 0, Incomparable, 3, "not known", ""},
	} {
		d.run(t)
	}
}
