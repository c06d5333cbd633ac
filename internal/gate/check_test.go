package gate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

// failed are the checks that failed, with their details.
func failed(v Verdict) []Check {
	var out []Check
	for _, c := range v.Validity {
		if !c.OK {
			out = append(out, c)
		}
	}
	return out
}

func TestValidityChecks(t *testing.T) {
	share := func(x float64) func(int, *bench.Run) { return func(_ int, r *bench.Run) { r.CachedTokens = &x } }
	for _, test := range []struct {
		name       string
		base, head func(i int, r *bench.Run)
		want       []Check
	}{
		{"all is well", first(0, nil), first(0, nil), nil},
		{"warm cache on one side", share(0), share(0.4), []Check{{Scenario: "chat", Name: "cached tokens", Detail: "0 % of prompt tokens at base, 40 % here"}}},
		{
			"late schedule", first(0, nil), first(1, func(r *bench.Run) { r.Client.LagP99 = 0.03 }),
			[]Check{{Scenario: "chat", Side: "head", Name: "schedule lag", Detail: "p99 at worst 30 ms, limit 21 ms"}},
		},
		{
			"server died", first(0, nil), first(1, func(r *bench.Run) { r.Invalid = "died" }),
			[]Check{{Scenario: "chat", Side: "head", Name: "server", Detail: `run 1: "died"`}},
		},
		{
			"dead run at base", first(1, fails(100)), first(0, nil),
			[]Check{{Scenario: "chat", Side: "base", Name: "server", Detail: `run 1 of session s-2026-05-03T02: "all of 100 requests failed"`}},
		},
		{
			"void runs", first(0, nil), first(3, func(r *bench.Run) { r.Void = "hot" }),
			[]Check{
				{Scenario: "chat", Side: "head", Name: "runs", Detail: "2 runs fit to compare, 200 requests, 0 failed"},
				{Scenario: "chat", Side: "head", Name: "void runs", Detail: `run 1: "hot"; run 2: "hot"; run 3: "hot"`},
			},
		},
		{
			"client queue", first(0, nil), first(5, func(r *bench.Run) { r.Client.Queued = 0.2 }),
			[]Check{{Scenario: "chat", Side: "head", Name: "client queue", Detail: "max_concurrency delayed 20 % of requests"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, head := runs(history("chat", 2), test.base), runs(digest("chat", headDay, quiet...), test.head)
			if diff := cmp.Diff(test.want, failed(Decide(primary(), one(base), one(head)))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestEnvironmentTellsSharedFactsOnce(t *testing.T) {
	var base, head []bench.Digest
	for _, name := range []string{"batch", "chat"} {
		b, h := history(name, 1), digest(name, headDay, quiet...)
		b.MustMatch, h.MustMatch = map[string]string{"machine": "m", "workload": name}, map[string]string{"machine": "m", "workload": name}
		h.Sessions[0].UnderTest = map[string]string{"version": "0.33", "flags": "--fast"}
		base, head = append(base, b), append(head, h)
	}
	head[1].MustMatch["workload"] = "other"
	base = append(base, history("gone", 1))
	want := Environment{
		MustMatch: []Fact{{"", "machine", "m", "m"}, {"batch", "workload", "batch", "batch"}, {"chat", "workload", "chat", "other"}},
		UnderTest: []Fact{{"", "flags", "", "--fast"}, {"", "version", "0.32", "0.33"}},
		Diff:      []Fact{{"chat", "workload", "chat", "other"}, {"", "flags", "", "--fast"}, {"", "version", "0.32", "0.33"}},
	}
	if diff := cmp.Diff(want, Decide(primary(), base, head).Environment); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if e := Decide(primary(), nil, head).Environment; len(e.Diff) > 0 || len(e.UnderTest) != 2 {
		t.Errorf("without a baseline: %+v", e)
	}
}

func TestBaselineIsAsOldAsItsOldestScenario(t *testing.T) {
	old := runs(history("batch", 2), first(0, nil))
	for i := range old.Sessions {
		old.Sessions[i].Started = old.Sessions[i].Started.AddDate(0, 0, -10)
	}
	fresh := history("chat", 5)
	fresh.Sessions[4].Origin = bench.Origin{Who: "lab", Commit: "0123abc"}
	v := Decide(primary(), []bench.Digest{old, fresh}, []bench.Digest{digest("batch", headDay, quiet...), digest("chat", headDay, quiet...)})
	want := &Baseline{AgeDays: 12.29166667, Sessions: 2, Origin: Origin{Who: "lab", Commit: "0123abc"}, SinceEpoch: v.Baseline.SinceEpoch}
	if diff := cmp.Diff(want, v.Baseline); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRenamedRunnerWarns(t *testing.T) {
	head := digest("chat", headDay, quiet...)
	head.Runner = "other"
	v := Decide(primary(), one(history("chat", 5)), one(head))
	want := []string{`the baseline is of runner "lab", the candidate of "other"`}
	if diff := cmp.Diff(want, v.Warnings); diff != "" || v.Outcome != Pass || v.Runner != "other" {
		t.Errorf("%s, runner %s (-want +got)\n%s", v.Outcome, v.Runner, diff)
	}
}

func TestSimulationIsSaid(t *testing.T) {
	base, head := history("chat", 5), digest("chat", headDay, quiet...)
	base.Simulated, head.Simulated = true, true
	if v := Decide(primary(), one(base), one(head)); !v.Simulated || v.Outcome != Pass {
		t.Errorf("simulated %v, %s", v.Simulated, v.Outcome)
	}
	head.Simulated = false
	if v := Decide(primary(), one(base), one(head)); !v.Simulated || v.Outcome != Incomparable {
		t.Errorf("simulated %v, %s", v.Simulated, v.Outcome)
	}
}
