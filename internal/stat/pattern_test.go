package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// patterns are answers of NumPy, SciPy and scikit-posthocs; testdata/make_patterns.py made them.
type patterns struct {
	Limits []struct {
		N     int
		Share float64
	}
	Modes []struct {
		Runs  []float64
		Share float64
	}
	First []struct {
		Sessions [][]float64
		Excess   float64
		Slow     bool
	}
	Outlying []struct {
		Runs     []float64
		Outlying []int
	}
}

func readPatterns(t *testing.T) (p patterns) {
	t.Helper()
	load(t, "patterns.json", &p)
	return p
}

func TestModeLimitsAreThoseOfTheSimulation(t *testing.T) {
	p := readPatterns(t)
	for i, want := range p.Limits {
		got := modeLimits[i]
		if got.n != want.N || got.share > want.Share || got.share < want.Share-1e-4 {
			t.Errorf("limit %d: want just below %v of %d values, got %v of %d", i, want.Share, want.N, got.share, got.n)
		}
	}
	diff(t, "number of limits", len(p.Limits), len(modeLimits))
}

func TestBestSplitIsTheBestOfAllSplits(t *testing.T) {
	for _, c := range readPatterns(t).Modes {
		within, all := bestSplit(c.Runs)
		diff(t, "share within groups", c.Share, within/all)
	}
}

func TestFirstSlowIsTheLeastSquaresFit(t *testing.T) {
	for _, c := range readPatterns(t).First {
		excess, slow := FirstSlow(c.Sessions)
		diff(t, "excess", c.Excess, excess)
		diff(t, "slow", c.Slow, slow)
	}
}

func TestOutlyingRunsAreThoseOfRosner(t *testing.T) {
	for _, c := range readPatterns(t).Outlying {
		if d := cmp.Diff(c.Outlying, Outlying(c.Runs), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%v (-want +got):\n%s", c.Runs, d)
		}
	}
}

// often is the share of samples of which something is true.
func often(n int, sample func() bool) float64 {
	hits := 0
	for range n {
		if sample() {
			hits++
		}
	}
	return float64(hits) / float64(n)
}

func samples(short, long int) int {
	if testing.Short() {
		return short
	}
	return long
}

// within fails when a rate of n samples is outside what is promised, four standard errors allowed.
func withinRates(t *testing.T, what string, got, least, most float64, n int) {
	t.Helper()
	t.Logf("%s: %.2f %% of %d samples", what, 100*got, n)
	room := func(p float64) float64 { return 4 * math.Sqrt(p*(1-p)/float64(n)) }
	if got < least-room(least) || got > most+room(most) {
		t.Errorf("%s: want %.1f to %.1f %%, got %.2f %%", what, 100*least, 100*most, 100*got)
	}
}

func draw(n int, one func() float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = one()
	}
	return xs
}

func TestOneModeSeldomLooksLikeTwo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	m := samples(400, 20_000)
	for _, n := range []int{8, 9, 10, 13, 25, 35, 50, 100} {
		for name, c := range map[string]struct {
			one  func() float64
			most float64
		}{
			"normal": {r.NormFloat64, 0.01}, "uniform": {r.Float64, 0.02}, "exponential": {r.ExpFloat64, 0.02},
			"normal with a slow run now and then": {func() float64 { return quietOutlier(r) }, 0.08},
		} {
			got := often(m, func() bool { return TwoModes(draw(n, c.one)) })
			withinRates(t, name, got, 0, c.most, m)
		}
	}
}

// quietOutlier is a run of a quiet machine that is 1.4 to 1.8 times slower one time in eight.
func quietOutlier(r *rand.Rand) float64 {
	y := 0.05 * r.NormFloat64()
	if r.Float64() < 1.0/8 {
		y += math.Log(1.4 + 0.4*r.Float64())
	}
	return y
}

func TestTwoModesAreSeen(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	m := samples(300, 10_000)
	for _, c := range []struct {
		n           int
		apart       float64
		least, most float64
	}{{8, 6, 0.15, 0.35}, {10, 6, 0.35, 0.6}, {10, 8, 0.6, 0.9}, {25, 6, 0.9, 0.98}, {25, 8, 0.99, 1}} {
		got := often(m, func() bool {
			xs := draw(c.n, r.NormFloat64)
			for i := range c.n / 2 {
				xs[i] += c.apart
			}
			return TwoModes(xs)
		})
		withinRates(t, "two groups of equal size", got, c.least, c.most, m)
	}
}

func TestFirstRunsAreSeldomCalledSlow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	m := samples(400, 20_000)
	for _, c := range []struct {
		sizes       []int
		slow        float64
		least, most float64
	}{
		{[]int{5}, 0, 0.008, 0.012},
		{[]int{12}, 0, 0.008, 0.012},
		{[]int{5, 5, 5, 5, 5}, 0, 0.008, 0.012},
		{[]int{2, 2, 2, 2, 2, 2}, 0, 0.008, 0.012},
		{[]int{5}, 0.3, 0.15, 0.3},
		{[]int{12}, 0.3, 0.4, 0.65},
		{[]int{5, 5, 5, 5, 5}, 0.3, 0.98, 1},
		{[]int{5, 5, 5, 5, 5}, 0.15, 0.6, 0.9},
	} {
		got := often(m, func() bool {
			s := normals(r, 0.1, c.sizes...)
			for _, runs := range s {
				runs[0] += c.slow
			}
			_, slow := FirstSlow(s)
			return slow
		})
		withinRates(t, "first run slow", got, c.least, c.most, m)
	}
}

func TestOutlyingRunsAreFoundAndOthersSeldomNamed(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	m := samples(300, 10_000)
	for _, c := range []struct {
		n     int
		found map[float64][2]float64 // by sd of the runs
	}{
		{5, map[float64][2]float64{0.05: {0.6, 0.68}, 0.07: {0.33, 0.4}, 0.09: {0.18, 0.25}}},
		{10, map[float64][2]float64{0.05: {0.98, 1}, 0.07: {0.88, 0.94}, 0.09: {0.63, 0.71}}},
		{25, map[float64][2]float64{0.05: {0.99, 1}, 0.07: {0.98, 1}, 0.09: {0.84, 0.92}}},
	} {
		normal := often(m, func() bool { return Outlying(draw(c.n, r.NormFloat64)) != nil })
		withinRates(t, "a run of a normal sample", normal, 0.015, 0.032, m)
		for _, sd := range []float64{0.05, 0.07, 0.09} {
			got := often(m, func() bool {
				xs := draw(c.n, func() float64 { return sd * r.NormFloat64() })
				xs[c.n/2] += math.Log(1.6)
				return slices.Contains(Outlying(xs), c.n/2)
			})
			withinRates(t, "a run 1.6 times slower", got, c.found[sd][0], c.found[sd][1], m)
		}
	}
}

// The runs of a real llama-server at 0.6 requests/s: five within 8 %, one 60 % slower.
func TestTheOneSlowRunOfSixIsNamed(t *testing.T) {
	diff(t, "outlying", []int{3}, Outlying([]float64{-0.92, -0.89, -0.95, -0.45, -0.9, -0.93}))
}

func TestPatternsOfLittleOrNothing(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, runs := range [][]float64{
		nil,
		{1},
		{1, 2},
		{1, 2, 9},
		{0, 0, 0, 0, 0, 0, 0, 0, 0},
		slices.Repeat([]float64{0.1}, 12), slices.Repeat([]float64{math.Copysign(0, -1), 0}, 6),
		{0.1 + 0.2, 0.3, 0.3, 0.3, 0.3, 0.1 + 0.2, 0.1 + 0.2, 0.3, 0.3}, // equal but for rounding
		{nan, 1, 1, 1, 1, 1, 1, 1, 9},
		{inf, 1, 1, 1, 1, 1, 1, 1, 9},
	} {
		diff(t, "two modes", false, TwoModes(runs))
		diff(t, "outlying", []int(nil), Outlying(runs))
		_, slow := FirstSlow([][]float64{nil, runs, {1}})
		diff(t, "first slow", false, slow)
	}
}

func TestPatternsOfTies(t *testing.T) {
	diff(t, "two values", true, TwoModes([]float64{1, 2, 1, 1, 2, 2, 1, 2}))
	diff(t, "a lone value is no group", false, TwoModes([]float64{1, 1, 1, 1, 1, 1, 1, 2}))
	diff(t, "a lone value", []int{7}, Outlying([]float64{1, 1, 1, 1, 1, 1, 1, 2}))
	diff(t, "two of them", []int{0, 7}, Outlying([]float64{2, 1, 1, 1, 1, 1, 1, 2}))
	excess, slow := FirstSlow([][]float64{{2, 1, 1, 1}})
	diff(t, "excess", 1.0, excess)
	diff(t, "slow", true, slow)
	_, slow = FirstSlow([][]float64{{0, 1, 1, 1}})
	diff(t, "a first run that is fast is not slow", false, slow)
}

func TestPatternsDoNotDependOnUnitOrLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(value(), 0, 30).Draw(t, "runs")
		by, to := rapid.Float64Range(0.1, 10).Draw(t, "by"), rapid.Float64Range(-20, 20).Draw(t, "to")
		changed := make([]float64, len(runs))
		for i, y := range runs {
			changed[i] = float64(by*y) + to
		}
		law(t, TwoModes(runs), TwoModes(changed))
		law(t, Outlying(runs), Outlying(changed))
		cut := rapid.IntRange(0, len(runs)).Draw(t, "cut")
		want, slow := FirstSlow([][]float64{runs[:cut], runs[cut:]})
		got, still := FirstSlow([][]float64{changed[:cut], changed[cut:]})
		law(t, want*by, got, loosely)
		law(t, slow, still)
	})
}

func TestModesDoNotDependOnOrderOrSign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(value(), 0, 30).Draw(t, "runs")
		turned := rapid.Permutation(runs).Draw(t, "permutation")
		for i := range turned {
			turned[i] = -turned[i]
		}
		law(t, TwoModes(runs), TwoModes(turned))
	})
}

func TestPatternsLeaveTheRunsAlone(t *testing.T) {
	runs := []float64{9, 1, 4, 2, 8, 3, 7, 40}
	before := slices.Clone(runs)
	TwoModes(runs)
	Outlying(runs)
	FirstSlow([][]float64{runs})
	diff(t, "runs", before, runs)
}
