package gate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

// changed is a digest with other facts.
func changed(d bench.Digest, facts ...string) bench.Digest {
	for i := 0; i < len(facts); i += 2 {
		d.MustMatch[facts[i]] = facts[i+1]
	}
	return d
}

func rewriting(p Policy, facts ...string) Policy {
	p.Rewritten = map[string][]string{"chat": facts}
	return p
}

func TestWhatTheHeadItselfChangesIsNew(t *testing.T) {
	base := one(history("chat", 5))
	head := func(facts ...string) []bench.Digest { return one(changed(digest("chat", headDay, quiet...), facts...)) }
	model, both := rewriting(primary(), bench.KeyModel), rewriting(primary(), bench.KeyModel, bench.KeyWorkload)
	limited := rewriting(primary(Rule{Metric: "error.ratio", Max: ptr(0.005)}), bench.KeyModel)
	elsewhere := primary()
	elsewhere.Rewritten = map[string][]string{"batch": {bench.KeyModel}}
	strict := model
	strict.OnMissing = "fail"
	broken := one(runs(changed(digest("chat", headDay, quiet...), bench.KeyModel, "another"), func(_ int, r *bench.Run) {
		r.OK, r.Metrics["error.ratio"] = 90, 0.1
	}))
	for _, d := range []decision{
		{"the model", model, base, head(bench.KeyModel, "another"), 0, New, 0, "The head itself changes the model: model is one model at base and another here.", "Once it is merged, accept a baseline"},
		{"the model, and missing is to fail", strict, base, head(bench.KeyModel, "another"), 0, New, 3, "The head itself changes the model", ""},
		{"the workload", rewriting(primary(), bench.KeyWorkload), base, head(bench.KeyWorkload, "another"), 0, New, 0, "changes the workload", ""},
		{"both", both, base, head(bench.KeyModel, "another", bench.KeyWorkload, "another"), 0, New, 0, "changes the model and the workload", ""},
		{"one of them alone", both, base, head(bench.KeyModel, "another"), 0, New, 0, "changes the model: ", ""},
		{"more than that", model, base, head(bench.KeyModel, "another", bench.KeyDriver, "another"), 0, Incomparable, 3, "driver is", ""},
		{"another fact", model, base, head(bench.KeyWorkload, "another"), 0, Incomparable, 3, "workload is", ""},
		{"in another scenario", elsewhere, base, head(bench.KeyModel, "another"), 0, Incomparable, 3, "model is", ""},
		{"without a word of it", primary(), base, head(bench.KeyModel, "another"), 0, Incomparable, 3, "model is", ""},
		{"what nobody knows here", model, base, head(bench.KeyModel, ""), 0, Incomparable, 3, "model is", ""},
		{"what was not known at base", model, one(changed(history("chat", 5), bench.KeyModel, "")), head(bench.KeyModel, "another"), 0, Incomparable, 3, "model is", ""},
		{"a change that changes nothing", model, base, head(), 0, Pass, 0, "", ""},
		{"a limit that holds", limited, base, head(bench.KeyModel, "another"), 1, New, 0, "The head itself changes the model", ""},
		{"a limit that is broken", limited, base, broken, 1, Breached, 1, "requests failed", ""},
	} {
		d.run(t)
	}
}

func TestRulesOfTheHeadItselfShowNothingGood(t *testing.T) {
	p := primary(Rule{Metric: "error.ratio", Max: ptr(0.005)})
	p.Proposed = true
	waived := p
	waived.Waivers = []Waiver{{Metric: "ttft.p95", Scenario: "chat", Ceiling: 5, Until: headDay, Why: "so be it"}}
	base := one(history("chat", 5))
	head := func(slower float64) []bench.Digest { return one(digest("chat", headDay, times(quiet, slower)...)) }
	for _, d := range []decision{
		{"as fast", p, base, head(1), 0, New, 0, "The rules are those of the head itself, and base has none. ttft.p95 is", "Once they are merged"},
		{"faster", p, base, head(0.5), 0, New, 0, "The rules are those of the head itself", ""},
		{"a limit that holds", p, base, head(1), 1, New, 0, "The rules are those of the head itself", ""},
		{"slower", p, base, head(2), 0, Regressed, 1, "slower", ""},
		{"slower, with a waiver of its own", waived, base, head(2), 0, New, 0, "The rules are those of the head itself", ""},
		{"no baseline", p, nil, head(1), 0, New, 0, "There is no baseline", ""},
	} {
		d.run(t)
	}
}

func TestADeadCandidateOfAnotherModelIsInvalid(t *testing.T) {
	dead := one(runs(changed(digest("chat", headDay, quiet...), bench.KeyModel, "another"), func(_ int, r *bench.Run) {
		r.OK, r.Metrics = 0, map[string]float64{"error.ratio": 1}
	}))
	decision{"dead", rewriting(primary(), bench.KeyModel), one(history("chat", 5)), dead, 0, Invalid, 3, "failed", ""}.run(t)
}

func TestTheEnvironmentShowsWhatTheHeadRewrites(t *testing.T) {
	v := Decide(rewriting(primary(), bench.KeyModel), one(history("chat", 5)), one(changed(digest("chat", headDay, quiet...), bench.KeyModel, "another")))
	want := []Fact{{Name: bench.KeyModel, Base: "one model", Head: "another"}}
	if diff := cmp.Diff(want, v.Environment.Diff); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTurnsOnTheHeadsWorkloadShowNothingGood(t *testing.T) {
	p := rewriting(primary(), bench.KeyWorkload)
	level := []float64{0.41, 0.40, 0.42, 0.41, 0.40, 0.41}
	for name, c := range map[string]struct {
		slower float64
		p      Policy
		want   Outcome
	}{
		"as fast":                {1, p, New},
		"faster":                 {0.5, p, New},
		"slower":                 {2, p, Regressed},
		"the workload of base":   {1, primary(), Pass},
		"another model's change": {1, rewriting(primary(), bench.KeyModel), Pass},
	} {
		b, h := abba("chat", []int{6}, level, times(level, c.slower))
		v := Decide(c.p, one(b), one(h))
		if v.Outcome != c.want {
			t.Errorf("%s: %s, want %s: %s", name, v.Outcome, c.want, v.Summary)
		}
		if c.want == New && !strings.Contains(v.Summary, "both sides were measured with it") {
			t.Errorf("%s: %s", name, v.Summary)
		}
	}
}

func TestTurnsWithAnotherModelAreNew(t *testing.T) {
	level := []float64{0.41, 0.40, 0.42, 0.41, 0.40, 0.41}
	b, h := abba("chat", []int{6}, level, level)
	v := Decide(rewriting(primary(), bench.KeyModel), one(b), one(changed(h, bench.KeyModel, "another")))
	if v.Outcome != New || len(v.Open()) != 0 {
		t.Errorf("%s, open %v: %s", v.Outcome, v.Open(), v.Summary)
	}
}

func TestConfirmGoesOnOnlyWhereTheReferenceCanAnswer(t *testing.T) {
	level := []float64{0.41, 0.40, 0.42, 0.41, 0.40, 0.41}
	base := history("chat", 5)
	b, h := abba("chat", []int{6}, level, level)
	for name, c := range map[string]struct {
		fact string
		more []string // scenarios that need the second stage
		// want are the outcomes after the first stage, after the second, and after the second without a baseline.
		want [3]Outcome
	}{
		"another model":    {bench.KeyModel, nil, [3]Outcome{New, New, New}},
		"another workload": {bench.KeyWorkload, []string{"chat"}, [3]Outcome{Invalid, New, New}},
	} {
		p := rewriting(primary(), c.fact)
		first := changed(digest("chat", headDay, quiet...), c.fact, "another")
		v := Confirm(p, one(base), nil, one(first))
		if diff := cmp.Diff(c.more, v.Unconfirmed()); diff != "" || v.Outcome != c.want[0] {
			t.Errorf("%s: %s, unconfirmed (-want +got):\n%s", name, v.Outcome, diff)
		}
		reference := b
		if c.fact == bench.KeyWorkload {
			reference = changed(digest("chat", headDay), c.fact, "another")
			reference.Sessions = b.Sessions
		}
		whole := joined(first, h)
		if v := Confirm(p, one(base), one(reference), one(whole)); v.Outcome != c.want[1] {
			t.Errorf("%s, both stages: %s: %s", name, v.Outcome, v.Summary)
		}
		if v := Confirm(p, nil, one(reference), one(whole)); v.Outcome != c.want[2] {
			t.Errorf("%s, no baseline: %s: %s", name, v.Outcome, v.Summary)
		}
	}
}
