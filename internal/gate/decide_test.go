package gate

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// decision is one case: what goes in, and what one finding says.
type decision struct {
	name       string
	policy     Policy
	base, head []bench.Digest
	finding    int // place of the finding looked at
	want       Outcome
	code       int    // of the whole verdict
	why, next  string // parts of the sentences
}

func (d decision) run(t *testing.T) {
	t.Run(d.name, func(t *testing.T) {
		v := Decide(d.policy, d.base, d.head)
		sane(t, v)
		f := v.Findings[d.finding]
		if f.Outcome != d.want || v.ExitCode != d.code {
			t.Errorf("outcome %s, exit code %d; want %s, %d\nwhy: %s", f.Outcome, v.ExitCode, d.want, d.code, f.Why)
		}
		if !strings.Contains(f.Why, d.why) {
			t.Errorf("why: %s\nwant in it: %s", f.Why, d.why)
		}
		if !strings.Contains(f.Next, d.next) {
			t.Errorf("next: %s\nwant in it: %s", f.Next, d.next)
		}
	})
}

// sane checks what holds for every verdict: it can be written and read back, all that is no pass says what to do, and the
// headline is one of the findings.
func sane(t rapid.TB, v Verdict) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteVerdict(&b, v); err != nil {
		t.Fatal(err)
	}
	back, err := ReadVerdict(bytes.NewReader(b.Bytes()), "verdict.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v, back); diff != "" {
		t.Errorf("write and read (-want +got)\n%s", diff)
	}
	headline := false
	for _, f := range v.Findings {
		headline = headline || f.Outcome == v.Outcome
		if (f.Next == "") != (f.Outcome == Pass) || f.Why == "" {
			t.Errorf("%s %s is %s: why %q, next %q", f.Scenario, f.Metric, f.Outcome, f.Why, f.Next)
		}
	}
	if !headline || v.Summary == "" || v.Bound == "" {
		t.Errorf("headline %s, summary %q, bound %q", v.Outcome, v.Summary, v.Bound)
	}
}

func hasWarning(f Finding, part string) bool {
	return strings.Contains(strings.Join(f.Warnings, "\n"), part)
}

func TestComparativeRule(t *testing.T) {
	base := one(history("chat", 5))
	head := func(by float64) []bench.Digest { return one(digest("chat", headDay, times(quiet, by)...)) }
	fail := primary()
	fail.OnInconclusive = "fail"
	rate := Policy{Rules: []Rule{{Metric: "output.rate", Tolerance: ptr(0.05), RuleOut: ptr(0.25)}}}
	blockOnly := Policy{Rules: []Rule{{Metric: "tpot.mean", Tolerance: ptr(0.05)}}}
	for _, d := range []decision{
		{"as fast as before passes with its bound", primary(), base, head(1), 0, Pass, 0, "at most 9 % slower; the rule excludes 25 % or more", ""},
		{"slower regresses", primary(), base, head(1.3), 0, Regressed, 1, "ttft.p95 is 29 % slower (from 18 % to 41 % slower, 95 % interval); the tolerance is 5 %", "waiver"},
		{"faster improves", primary(), base, head(0.7), 0, Improved, 0, "31 % faster (from 24 % to 37 % faster", "--new-epoch"},
		{"neither is inconclusive", primary(), one(history("chat", 1)), head(1.1), 0, Inconclusive, 0, "neither a worsening nor the absence of one by 25 % is shown", "About 5 more sessions in the baseline would decide"},
		{"inconclusive can be made to fail", fail, one(history("chat", 1)), head(1.12), 0, Inconclusive, 4, "four times in five", "coarse"},
		{"a lower rate is worse", rate, base, head(1.3), 0, Regressed, 1, "output.rate is 29 % worse", ""},
		{"a higher rate is better", rate, base, head(0.7), 0, Improved, 0, "better", ""},
		{"without rule_out a rule that does not block observes", blockOnly, base, head(1.05), 0, Observed, 0, "can only block", ""},
		{"without rule_out a rule can block", blockOnly, base, head(1.3), 0, Regressed, 1, "tpot.mean is 29 % slower", ""},
		{"without rule_out a rule sees an improvement", blockOnly, base, head(0.7), 0, Improved, 0, "", ""},
	} {
		d.run(t)
	}
}

// The decision by itself: where its parts disagree, each of them can stop a red or a green.
func TestDecisionNeedsAllItsParts(t *testing.T) {
	th := thresholds{tolerance: 0.05, ruleOut: 0.22, better: -0.05}
	c := func(low, delta, high, holm, holmBetter float64) comparison {
		return comparison{Comparison: stat.Comparison{Low: low, Delta: delta, High: high}, holm: [directions]float64{holm, holmBetter}}
	}
	for _, test := range []struct {
		name string
		c    comparison
		want Outcome
	}{
		{"shown worse", c(0.01, 0.1, 0.3, 0.02, 1), Regressed},
		{"at its level", c(0.01, 0.1, 0.3, 0.025, 1), Regressed},
		{"adjusted p too large", c(0.01, 0.1, 0.3, 0.026, 1), Inconclusive},
		{"interval touches nothing", c(0, 0.1, 0.3, 0.01, 1), Inconclusive},
		{"below tolerance", c(0.01, 0.049, 0.3, 0.01, 1), Inconclusive},
		{"worse, but a pass as well", c(0.01, 0.04, 0.1, 0.01, 1), Pass},
		{"shown better", c(-0.2, -0.1, -0.01, 1, 0.02), Improved},
		{"better, adjusted p too large", c(-0.2, -0.1, -0.01, 1, 0.03), Pass},
		{"better, interval touches nothing", c(-0.2, -0.1, 0, 1, 0.01), Pass},
		{"better by too little", c(-0.2, -0.049, -0.01, 1, 0.01), Pass},
		{"at the rule-out", c(-0.2, 0, 0.22, 1, 1), Inconclusive},
		{"no bound above", c(-0.2, 0, math.Inf(1), 1, 1), Inconclusive},
	} {
		if got := th.decide(test.c, 0.025, false); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestWhatWouldDecide(t *testing.T) {
	order := []int{0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0}
	values := []float64{0.40, 0.56, 0.44, 0.46, 0.38, 0.49, 0.43, 0.42, 0.47, 0.45, 0.48, 0.41}
	base, head := interleaved("chat", order, values)
	wild, wilder := interleaved("chat", order, []float64{0.1, 0.9, 0.1, 0.9, 0.1, 0.4, 0.3, 0.2, 0.9, 0.1, 0.8, 0.1})
	far := history("chat", 2)
	runs(far, func(i int, r *bench.Run) { r.Metrics["ttft.p95"] *= 1 + 4*float64(i/5) })
	for _, d := range []decision{
		{"more runs where sides take turns", primary(), one(base), one(head), 0, Inconclusive, 0, "", "About 1 more visit on each side would decide"},
		{"no number of runs on a wild runner", primary(), one(wild), one(wilder), 0, Inconclusive, 0, "", "Not even 40 runs a side would decide: quieten the runner"},
		{"runs or a quieter machine where days differ", primary(), one(far), one(digest("chat", headDay, quiet...)), 0, Inconclusive, 0, "", "Not even 10 sessions in the baseline would decide; more runs a session (benchgate run --runs N), a quieter machine"},
		{"one session and much to see", primary(), one(history("chat", 1)), one(digest("chat", headDay, times(quiet, 1.12)...)), 0, Inconclusive, 0, "", "though 10 may still not decide; more runs a session"},
	} {
		d.run(t)
	}
}

// Huber's estimate knows a change as well as means of steadier runs would, and that is what more runs are counted by.
func TestARareSlowRunAsksForNoMoreRunsThanItsEstimateNeeds(t *testing.T) {
	base := []float64{0.41, 0.48, 0.38, 0.46, 0.43, 0.39, 0.44, 0.50}
	head := []float64{0.44, 0.47, 0.40, 0.52, 0.42, 0.48, 1.60, 0.45}
	b, h := abba("chat", []int{8}, base, head)
	decision{"by Huber's estimate", primary(), one(b), one(h), 0, Inconclusive, 0, "", "About 1 more visit on each side would decide"}.run(t)
	f := Decide(primary(), one(b), one(h)).Findings[0]
	if !strings.HasPrefix(f.Method, "huber") || f.Change.SD < 0.3 {
		t.Errorf("%s, runs differ by %v", f.Method, f.Change.SD)
	}
}

func TestDaysThatDifferMoreWidenTheInterval(t *testing.T) {
	base, head := one(history("chat", 5)), one(digest("chat", headDay, quiet...))
	wild := primary()
	wild.DaySD = 0.3
	decision{"day_sd 5 %", primary(), base, head, 0, Pass, 0, "", ""}.run(t)
	decision{"day_sd 30 %", wild, base, head, 0, Inconclusive, 0, "", ""}.run(t)
}

func TestTurnsInDifferentCampaignsAreDifferentDays(t *testing.T) {
	base, head := interleaved("chat", []int{0, 1, 1, 0, 0, 1, 1, 0}, []float64{0.41, 0.42, 0.40, 0.41, 0.43, 0.41, 0.42, 0.40})
	head.Sessions[0].ID = "other turns"
	if m := Decide(primary(), one(base), one(head)).Findings[0].Method; !strings.Contains(m, "sessions(1)") {
		t.Errorf("method %s", m)
	}
}

func TestWorseWithinToleranceIsNoRegression(t *testing.T) {
	var order []int
	var values []float64
	for i := range 20 {
		side := []int{0, 1, 1, 0}[i%4]
		order = append(order, side)
		values = append(values, 0.4*(1+0.03*float64(side))*(1+0.002*float64(i%3)))
	}
	base, head := interleaved("chat", order, values)
	decision{"3 % slower for sure", primary(), one(base), one(head), 0, Pass, 0, "It is worse, but by less than the tolerance of 5 %", ""}.run(t)
}

func TestWorseByExactlyTheToleranceRegresses(t *testing.T) {
	same := []float64{400, 400, 400, 400, 400, 400}
	base, head := interleaved("chat", []int{0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0}, append(append([]float64{}, same...), same...))
	runs(head, func(_ int, r *bench.Run) {
		r.Metrics["ttft.p95"] = 420
		r.Metrics["output.rate"] = 400
	})
	runs(base, func(_ int, r *bench.Run) { r.Metrics["output.rate"] = 420 })
	p := primary(Rule{Metric: "output.rate", Tolerance: ptr(0.05), RuleOut: ptr(0.25)})
	decision{"a time", p, one(base), one(head), 0, Regressed, 1, "5.0 % slower", ""}.run(t)
	w := p
	w.Waivers = []Waiver{{Metric: "ttft.p95", Scenario: "chat", Ceiling: 0.05, Until: headDay}}
	decision{"a waiver of just that", w, one(base), one(head), 0, Waived, 1, "Waived up to 5 %", ""}.run(t)
	decision{"a rate: base ÷ head", p, one(base), one(head), 1, Regressed, 1, "5.0 % worse", ""}.run(t)
}

func TestScenariosThatLackSomething(t *testing.T) {
	base, head := one(history("chat", 5)), one(digest("chat", headDay, quiet...))
	expects := primary()
	expects.Scenarios = []string{"batch", "chat"}
	names := Policy{Rules: []Rule{{Metric: "ttft.p95", Scenarios: []string{"batch"}, Tolerance: ptr(0.05)}}}
	fail := primary()
	fail.OnMissing = "fail"
	without := func(d bench.Digest, metric string) []bench.Digest {
		return one(runs(d, func(_ int, r *bench.Run) { delete(r.Metrics, metric) }))
	}
	for _, d := range []decision{
		{"the candidate lacks a scenario of the baseline", primary(), base, nil, 0, Missing, 3, `no digest of scenario "chat"`, "benchgate run --scenario chat"},
		{"the candidate lacks a scenario of the config", expects, base, head, 0, Missing, 3, `no digest of scenario "batch"`, ""},
		{"the candidate lacks a scenario that a rule names", names, base, head, 0, Missing, 3, `no digest of scenario "batch"`, ""},
		{"no baseline is new", primary(), nil, head, 0, New, 0, "no baseline", "benchgate baseline accept"},
		{"no baseline can be made to fail", fail, nil, head, 0, New, 3, "no baseline", ""},
		{"missing is 3 under any policy", fail, base, nil, 0, Missing, 3, "", ""},
		{"the candidate lacks the metric", primary(), base, without(digest("chat", headDay, quiet...), "ttft.p95"), 0, Missing, 3, "the candidate has no ttft.p95", ""},
		{"both lack the metric", primary(), without(history("chat", 5), "ttft.p95"), without(digest("chat", headDay, quiet...), "ttft.p95"), 0, Missing, 3, "", ""},
		{"the baseline lacks the metric", primary(), without(history("chat", 5), "ttft.p95"), head, 0, New, 0, "the baseline has no ttft.p95", ""},
		{"a scenario that no rule asks about is observed", Policy{Rules: []Rule{}}, base, head, 0, Observed, 0, "No rule", ""},
	} {
		d.run(t)
	}
}

func TestNothingToDecideIsInvalid(t *testing.T) {
	v := Decide(Policy{}, nil, nil)
	if v.Outcome != Invalid || v.ExitCode != 3 || !strings.Contains(v.Summary, "nothing to decide") {
		t.Errorf("%s, exit code %d: %s", v.Outcome, v.ExitCode, v.Summary)
	}
}

func TestDigestsOfDifferentThingsAreIncomparable(t *testing.T) {
	base := one(history("chat", 5))
	head := func(edit func(*bench.Digest)) []bench.Digest {
		d := digest("chat", headDay, quiet...)
		edit(&d)
		return one(d)
	}
	slo := func(d *bench.Digest) { d.SLO.TTFT = ptr(0.5) }
	goodput := Policy{Rules: []Rule{{Metric: "goodput.ratio", Min: ptr(0.95)}}}
	for _, d := range []decision{
		{"another machine", primary(), base, head(func(d *bench.Digest) { d.MustMatch[bench.KeyMachine] = "two" }), 0, Incomparable, 3, `machine is "one machine" at base and "two" here`, "same machine"},
		{"known on one side", primary(), base, head(func(d *bench.Digest) { delete(d.MustMatch, bench.KeyModel) }), 0, Incomparable, 3, "unknown here", ""},
		{"another SLO makes goodput incomparable", goodput, base, head(slo), 0, Incomparable, 3, "The SLO", "--new-epoch"},
		{"another SLO leaves latency alone", primary(), base, head(slo), 0, Pass, 0, "", ""},
		{"a limit needs the same surroundings too", Policy{Rules: []Rule{{Metric: "ttft.p95", Max: ptr(0.5)}}}, base, head(func(d *bench.Digest) { d.MustMatch[bench.KeyWorkload] = "?" }), 0, Incomparable, 3, "workload", ""},
	} {
		d.run(t)
	}
}

func TestUnknownOnBothSidesWarns(t *testing.T) {
	base, head := history("chat", 5), digest("chat", headDay, quiet...)
	for _, d := range []bench.Digest{base, head} {
		delete(d.MustMatch, bench.KeyDriver)
		delete(d.MustMatch, bench.KeyAccelerator)
	}
	v := Decide(primary(), one(base), one(head))
	want := []string{"chat: unknown on both sides and taken to agree: accelerator, driver"}
	if diff := cmp.Diff(want, v.Warnings); diff != "" || v.Outcome != Pass {
		t.Errorf("%s (-want +got)\n%s", v.Outcome, diff)
	}
}

func TestTwoDigestsOfOneScenarioAreRefused(t *testing.T) {
	base, head := history("chat", 5), digest("chat", headDay, quiet...)
	decision{"at base", primary(), []bench.Digest{base, history("chat", 2)}, one(head), 0, Invalid, 3, "two base digests", ""}.run(t)
	decision{"in the candidate", primary(), one(base), []bench.Digest{head, head}, 0, Invalid, 3, "two head digests", ""}.run(t)
}

func TestWorstOutcomeWins(t *testing.T) {
	lenient, strict := Policy{}, Policy{OnInconclusive: "fail", OnMissing: "fail"}
	for _, test := range []struct {
		outcomes []Outcome
		policy   Policy
		want     Outcome
		code     int
	}{
		{nil, lenient, Invalid, 3},
		{[]Outcome{Pass}, lenient, Pass, 0},
		{[]Outcome{Pass, Improved, Observed}, lenient, Improved, 0},
		{[]Outcome{Observed, Pass}, lenient, Pass, 0},
		{[]Outcome{Improved, Waived}, lenient, Waived, 0},
		{[]Outcome{Waived, New}, lenient, New, 0},
		{[]Outcome{New, Inconclusive}, lenient, Inconclusive, 0},
		{[]Outcome{New, Inconclusive}, strict, New, 3},
		{[]Outcome{Pass, Inconclusive}, strict, Inconclusive, 4},
		{[]Outcome{Inconclusive, Missing}, strict, Missing, 3},
		{[]Outcome{Missing, Incomparable, Invalid}, lenient, Invalid, 3},
		{[]Outcome{Missing, Breached}, lenient, Breached, 1},
		{[]Outcome{Invalid, Drifted}, lenient, Drifted, 1},
		{[]Outcome{Breached, Regressed, Missing}, lenient, Regressed, 1},
		{[]Outcome{Pass, "fine"}, lenient, "fine", 3},
	} {
		got := Worst(test.policy, test.outcomes...)
		if got != test.want || got.ExitCode(test.policy) != test.code {
			t.Errorf("worst of %v under %+v is %s, exit code %d; want %s, %d", test.outcomes, test.policy, got, got.ExitCode(test.policy), test.want, test.code)
		}
	}
}

func TestAFindingSaysWhatTheScenarioPromises(t *testing.T) {
	base, head := digest("chat", baseDay, quiet...), digest("chat", headDay, quiet...)
	slo := bench.SLO{TTFT: ptr(0.5), TPOT: ptr(0.03)}
	base.SLO, head.SLO = slo, slo
	var rules []Rule
	want := map[string]*bench.SLO{
		"ttft.p95": {TTFT: slo.TTFT}, "tpot.mean": {TPOT: slo.TPOT}, "e2el.p95": nil, "output.rate": nil,
		"goodput.ratio": &slo, "error.ratio": nil,
	}
	for metric := range want {
		rules = append(rules, Rule{Metric: metric})
	}
	got := map[string]*bench.SLO{}
	for _, f := range Decide(Policy{Rules: rules}, []bench.Digest{base}, []bench.Digest{head}).Findings {
		got[f.Metric] = f.SLO
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
