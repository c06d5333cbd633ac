package main

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/world"
)

// What the project promises of its own verdicts: see docs/statistics.md. Each limit is given three Monte Carlo errors.

// counted is how many comparisons a promise is counted in.
func counted() int {
	if testing.Short() {
		return 40
	}
	return 6000
}

// brief leaves two worlds of a list when time is short.
func brief(all []world.World) []world.World {
	if !testing.Short() {
		return all
	}
	return slices.DeleteFunc(all, func(w world.World) bool { return w.Name != "typical" && w.Name != "quiet_outlier" })
}

func atMost(t *testing.T, what string, share, limit float64, n int) {
	t.Helper()
	t.Logf("%s: %.2f %% of %d, limit %.1f %%", what, 100*share, n, 100*limit)
	if share > limit+3*mcError(limit, n) {
		t.Errorf("%s: %.2f %% of %d, want at most %.1f %%", what, 100*share, n, 100*limit)
	}
}

func atLeast(t *testing.T, what string, share, limit float64, n int) {
	t.Helper()
	t.Logf("%s: %.1f %% of %d, at least %.1f %% promised", what, 100*share, n, 100*limit)
	if share < limit-3*mcError(limit, n) {
		t.Errorf("%s: %.1f %% of %d, want at least %.1f %%", what, 100*share, n, 100*limit)
	}
}

func named(t testing.TB, name string) world.World {
	t.Helper()
	w, err := world.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// product measures the gate's own design in one world.
func product(t *testing.T, w world.World, d design, effects ...int) row {
	t.Helper()
	for _, r := range products() {
		if r.design.name == d.name {
			rows, err := measure(w, d, []rule{r}, counted(), counted(), effects)
			if err != nil {
				t.Fatal(err)
			}
			return rows[0]
		}
	}
	t.Fatalf("no design %q", d.name)
	return row{}
}

func TestCommittedVerdictIsRight(t *testing.T) {
	var worlds []world.World
	for _, name := range []string{"quiet", "quiet_outlier", "typical", "noisy", "queue", "outlier", "heavy", "day05"} {
		worlds = append(worlds, named(t, name))
	}
	for _, w := range brief(worlds) {
		t.Run(w.Name, func(t *testing.T) {
			r := product(t, w, committed)
			atMost(t, "equal builds blocked", r.FalseBlock, 0.025, r.Reps)
			atLeast(t, "intervals that hold the truth", *r.Coverage, 0.935, r.Reps)
		})
	}
}

func TestCommittedVerdictFindsRegressions(t *testing.T) {
	w := named(t, "typical")
	w.Day = 0.03
	r := product(t, w, committed, 20, 30)
	atMost(t, "equal builds blocked", r.FalseBlock, 0.025, r.Reps)
	atLeast(t, "blocked at +20 %", r.Power["20"], 0.45, r.PowerReps)
	atLeast(t, "blocked at +30 %", r.Power["30"], 0.85, r.PowerReps)
}

// Where days differ more than day_sd supposes, or runs of one day hang together, a baseline from other days promises
// nothing. The figures are printed for docs/statistics.md.
func TestCommittedVerdictOutsideItsPromise(t *testing.T) {
	for _, name := range []string{"slow", "drift", "day10"} {
		if testing.Short() && name != "slow" {
			continue
		}
		r := product(t, named(t, name), committed)
		t.Logf("%s: %.2f %% of %d equal builds blocked, coverage %.1f %%", name, 100*r.FalseBlock, r.Reps, 100**r.Coverage)
		// Four figures of four decimals.
		if sum := r.FalseBlock + r.Pass + r.Improved + r.Inconclusive; math.Abs(sum-1) > 2.5e-4 {
			t.Errorf("%s: the answers add up to %v", name, sum)
		}
	}
}

func TestInterleavedVerdictIsRight(t *testing.T) {
	for _, w := range brief(world.All()) {
		t.Run(w.Name, func(t *testing.T) {
			var effects []int
			if w.Name == "typical" {
				effects = []int{20}
			}
			r := product(t, w, interleaved, effects...)
			atMost(t, "equal builds blocked", r.FalseBlock, 0.029, r.Reps)
			if w.Name != "typical" {
				return
			}
			atLeast(t, "blocked at +20 %", r.Power["20"], 0.78, r.PowerReps)
			// Visits lie between 6 and 10: their sd is below 2.
			if visits := r.MeanRuns / 2; visits > 7.5+3*2/math.Sqrt(float64(r.Reps)) {
				t.Errorf("equal builds take %.2f visits a side, want at most 7.5", visits)
			} else {
				t.Logf("equal builds take %.2f visits a side", visits)
			}
		})
	}
}

func TestConfirmedVerdictIsRight(t *testing.T) {
	for _, w := range brief(world.All()) {
		t.Run(w.Name, func(t *testing.T) {
			var effects []int
			if w.Name == "typical" {
				effects = []int{20}
			}
			r := product(t, w, confirm, effects...)
			atMost(t, "equal builds blocked", r.FalseBlock, 0.016, r.Reps)
			if w.Name == "typical" {
				atLeast(t, "blocked at +20 %", r.Power["20"], 0.72, r.PowerReps)
			}
		})
	}
}

func ptr(x float64) *float64 { return &x }

// configured are the rules of a benchgate.yaml with an open and a closed loop: two primaries, one more comparison for both,
// and two limits.
func configured() gate.Policy {
	p := policy()
	p.Rules = []gate.Rule{
		{Metric: "ttft.p95", Scenarios: []string{"chat"}, Primary: true, Tolerance: ptr(0.05), RuleOut: ptr(0.25)},
		{Metric: "output.rate", Scenarios: []string{"batch"}, Primary: true, Tolerance: ptr(0.05), RuleOut: ptr(0.25)},
		{Metric: "tpot.mean", Tolerance: ptr(0.05)},
		{Metric: "goodput.ratio", Scenarios: []string{"chat"}, Min: ptr(0.95)},
		{Metric: "error.ratio", Max: ptr(0.005)},
	}
	return p
}

// reds says which kind of rule is red.
func reds(v gate.Verdict) (primary, comparative, any bool) {
	for _, f := range v.Findings {
		switch f.Outcome {
		case gate.Regressed:
			comparative, any = true, true
			primary = primary || f.Primary
		case gate.Breached:
			any = true
		}
	}
	return primary, comparative, any
}

func TestTwoScenariosWithAllTheirRulesAreRight(t *testing.T) {
	for _, name := range []string{"typical", "queue"} {
		for _, d := range []design{committed, interleaved, confirm} {
			if testing.Short() && name == "queue" {
				continue
			}
			t.Run(name+" "+d.name, func(t *testing.T) {
				chat := named(t, name)
				batch := chat
				chat.Scenario, batch.Scenario = "chat", "batch"
				var primary, comparative, some tally
				decideAll(counted(), func(seed uint64) [3]answer {
					return family(d, seed, chat, batch)
				}, &primary, &comparative, &some)
				atMost(t, "equal builds with a red primary", primary.share(block), 0.025, primary.n)
				atMost(t, "equal builds with a red comparison", comparative.share(block), 0.05, comparative.n)
				atMost(t, "equal builds with anything red", some.share(block), 0.05, some.n)
			})
		}
	}
}

// family decides two equal builds in both scenarios.
func family(d design, seed uint64, worlds ...world.World) [3]answer {
	var base, reference, head []bench.Digest
	for i, w := range worlds {
		s := d.draw(w, seed*2+uint64(i)).At(world.Effect{})
		base, reference, head = append(base, s.Base), append(reference, s.Reference), append(head, s.Head)
	}
	var v gate.Verdict
	switch d.name {
	case "committed":
		v = gate.Decide(configured(), base, head)
	case "interleaved":
		v = gate.Decide(configured(), reference, head)
	default:
		v = gate.Confirm(configured(), base, reference, head)
	}
	var out [3]answer
	primary, comparative, some := reds(v)
	for i, red := range []bool{primary, comparative, some} {
		if red {
			out[i].word = block
		}
	}
	for _, f := range v.Findings {
		if f.Outcome == gate.Invalid || f.Outcome == gate.Incomparable || f.Outcome == gate.Missing {
			panic(fmt.Sprintf("%s %s is %s: %s", f.Scenario, f.Metric, f.Outcome, f.Why))
		}
	}
	return out
}
