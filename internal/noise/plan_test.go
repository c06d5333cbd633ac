package noise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

var usualPlan = Plan{Confidence: .95, DaySD: .05, Runs: 5, Looks: []int{6, 8, 10}}

// ofSD is a time whose runs differ by this much.
func ofSD(sd float64) Metric {
	return Metric{Metric: bench.Metric{Name: "ttft.p95", Scale: bench.Log, Unit: bench.Seconds}, SD: sd, N: 12, Typical: 1}
}

// TestEqualBuildPassesTheAdvisedRuleOutFourTimesInFive compares equal builds in a seeded laboratory, the way gate does, and
// counts how often the interval ends below the smallest rule_out that the formula gives. Monte Carlo error 1.3 points (2.5
// with -short). The comparison's interval is a little wider than Student's, and where it is Huber's (six runs a side or
// more, in one campaign) a little more so.
func TestEqualBuildPassesTheAdvisedRuleOutFourTimesInFive(t *testing.T) {
	const sd = .1
	reps := 1000
	if testing.Short() {
		reps = 250
	}
	turns, err := usualPlan.Turns(10)
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]Way{
		"one session of 5": usualPlan.Together(5), "interleaved, 10 visits": turns,
		"committed, 1 session": usualPlan.Committed(1), "committed, 5 sessions": usualPlan.Committed(5),
	} {
		r := rand.New(rand.NewPCG(11, uint64(w.Runs+w.Sessions)))
		limit := math.Log1p(w.Detects(ofSD(sd)))
		passed := 0
		for rep := range reps {
			base, head := laboratory(r, w, sd)
			c, err := stat.Compare(base, head, stat.Options{
				Confidence: w.Confidence, Resamples: 199, Seed: uint64(rep), SameSession: w.Sessions == 0, DaySD: usualPlan.DaySD,
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.High < limit {
				passed++
			}
		}
		share := float64(passed) / float64(reps)
		t.Logf("%s: rule_out %.1f %% is passed by %.1f %% of equal builds", name, 100*math.Expm1(limit), 100*share)
		if share < .72 || share > .88 {
			t.Errorf("%s: %.1f %% of equal builds pass, want about 80 %%", name, 100*share)
		}
	}
}

// laboratory measures two equal builds: days differ by what the plan says.
func laboratory(r *rand.Rand, w Way, sd float64) (base, head stat.Sample) {
	session := func() []float64 {
		day := 0.0
		if w.Sessions > 0 {
			day = usualPlan.DaySD * r.NormFloat64()
		}
		runs := make([]float64, w.Runs)
		for i := range runs {
			runs[i] = day + sd*r.NormFloat64()
		}
		return runs
	}
	for range max(1, w.Sessions) {
		base.Sessions = append(base.Sessions, session())
	}
	head.Sessions = append(head.Sessions, session())
	if w.Interleaved {
		base.Order, head.Order = make([][]float64, 1), make([][]float64, 1)
		for i := range 2 * w.Runs {
			order := &base.Order[0]
			if i%4 == 1 || i%4 == 2 {
				order = &head.Order[0]
			}
			*order = append(*order, float64(i+1))
		}
	}
	return base, head
}

// TestAdviceNamesTheDesignThatReaches. By hand, for the third: .12·√(2/30)·(2.164 + .848) = .0933, a change of 9.8 %; with 28
// visits it is 10.2 %.
func TestAdviceNamesTheDesignThatReaches(t *testing.T) {
	for _, c := range []struct {
		sd   float64
		ask  Ask
		want []string
	}{
		{.05, Ask{.05, .25}, []string{"design: confirm or interleaved, looks 6-8-10, reaches rule_out 10 %", "rule_out 40 % with 1 session, 25 % with 5, 20 % with 10"}},
		{.05, Ask{.05, 0}, []string{"confirm or interleaved, looks 6-8-10, reaches rule_out 10 %"}},
		{.12, Ask{.05, .10}, []string{"rule_out 10 % is out of reach: 10 interleaved visits a side reach 20 %; 30 would do (campaign.looks)"}},
		{.60, Ask{.05, .25}, []string{"not even 40 would do: quieten the workload or the machine first", "rule_out above 100 % even with 10 sessions"}},
		{.01, Ask{.10, .25}, []string{"reaches rule_out 15 %"}},
	} {
		lines, err := usualPlan.Advise(ofSD(c.sd), c.ask)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(lines, "\n")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("sd %v, %+v: advice %q, want %q", c.sd, c.ask, text, want)
			}
		}
	}
}

func TestCommittedIsAdvisedWhereDaysAreTheSmallerTrouble(t *testing.T) {
	p := usualPlan
	p.Looks = []int{4}
	p.DaySD = .01
	p.Runs = 20
	lines, err := p.Advise(ofSD(.12), Ask{.05, .25})
	if err != nil || !strings.Contains(lines[0], "design: committed, with 5 sessions or more in the baseline, reaches rule_out 15 %") {
		t.Errorf("advice %q (%v)", lines, err)
	}
}

// TestLevelOfTheLastLook is that of the published table: one-sided .01747 for looks at 6, 8 and 10.
func TestLevelOfTheLastLook(t *testing.T) {
	w, err := usualPlan.Turns(10)
	if err != nil || math.Abs((1-w.Confidence)/2-.01747) > 5e-6 {
		t.Errorf("level %v (%v), want .01747", (1-w.Confidence)/2, err)
	}
	p := usualPlan
	p.Looks = []int{8, 6}
	if _, err := p.Turns(8); err == nil {
		t.Error("looks that go down have a level")
	}
}

func TestSharesAreToldInPoints(t *testing.T) {
	m := Metric{Metric: bench.Metric{Name: "goodput.ratio", Scale: bench.Logit, Unit: bench.Ratio}, SD: 0, N: 12, Typical: .98, centre: math.Log(.98 / .02), each: 100}
	// Independent requests alone: √(1/98.5 + 1/2.5) = .640 on the logit; .640·√.4·(2.306 + .889) = 1.294 down from 3.892 is a
	// share of .9307, 4.9 points less.
	if got := usualPlan.Together(5).Detects(m); math.Abs(got-.0493) > .0005 {
		t.Errorf("%v points can be seen, want .0493", got)
	}
	if r, ok := usualPlan.Together(5).RuleOut(m, .03); !ok || r != .05 {
		t.Errorf("rule_out %v, want five points", r)
	}
	if text := named(usualPlan.Together(5), m, .03); text != "5 points" {
		t.Errorf("told as %q", text)
	}
}

// TestReachLaws: more noise is never seen through better, more runs or sessions never worse.
func TestReachLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sd := rapid.Float64Range(.006, .5).Draw(t, "sd")
		n := rapid.IntRange(3, 30).Draw(t, "n")
		k := rapid.IntRange(1, 9).Draw(t, "sessions")
		p := usualPlan
		p.Runs = n
		turns := func(n int) Way {
			w, err := p.Turns(n)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		for what, pair := range map[string][2]Way{
			"a run": {p.Together(n), p.Together(n + 1)}, "a visit": {turns(n), turns(n + 1)}, "a session": {p.Committed(k), p.Committed(k + 1)},
		} {
			before, after := pair[0].Detects(ofSD(sd)), pair[1].Detects(ofSD(sd))
			if !(after < before) {
				t.Fatalf("%s more: %v, before %v", what, after, before)
			}
			if noisier := pair[0].Detects(ofSD(1.1 * sd)); !(noisier > before) {
				t.Fatalf("%s: with more noise %v, with less %v", what, noisier, before)
			}
		}
	})
}

func ExamplePlan_Together() {
	m := ofSD(.10)
	for _, n := range []int{3, 5, 10, 20} {
		fmt.Printf("%d runs a side: %.0f %%\n", n, 100*usualPlan.Together(n).Detects(m))
	}
	// Output:
	// 3 runs a side: 35 %
	// 5 runs a side: 22 %
	// 10 runs a side: 14 %
	// 20 runs a side: 10 %
}
