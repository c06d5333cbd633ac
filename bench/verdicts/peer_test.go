package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/benchgate/benchgate/internal/world"
)

// The figures are those of independent implementations of the same rules in the same worlds, in Python: one session of five
// runs a side, in percent.
func TestPeersBlockWhatTheirOwnAuthorsWould(t *testing.T) {
	d := design{name: "five and five", sessions: 1, runs: 5, head: 5}
	reps := 4000
	if testing.Short() {
		reps = 200
	}
	for _, c := range []struct {
		gate, world       string
		equal, at20, at50 float64 // at50 below 0: not known
	}{
		{"github-action-benchmark 120 %", "typical", 15.3, 50, 90},
		{"github-action-benchmark 150 %", "typical", 1.1, 10, 50},
		{"github-action-benchmark 200 %", "typical", 0, 0.2, 5},
		{"github-action-benchmark 150 %", "outlier", 3.9, -1, -1},
		{"Bencher t 95 %", "typical", 8.9, 44, 90},
		{"Bencher t 99 %", "typical", 2.5, 19, 67},
		{"benchstat (Mann-Whitney)", "typical", 1.9, 41, 97},
		{"pooled requests, bootstrap", "typical", 6.5, 77, -1},
		{"pooled requests, bootstrap", "outlier", 11.8, -1, -1},
	} {
		t.Run(c.gate+" in "+c.world, func(t *testing.T) {
			w := named(t, c.world)
			r := only(t, d, w, c.gate, reps)
			for what, want := range map[string]float64{"": c.equal, "20": c.at20, "50": c.at50} {
				got := r.FalseBlock
				if what != "" {
					got = r.Power[what]
				}
				// Both figures are counted; the other one in 1,200 comparisons at least, and on workloads of its own, few of
				// them: for these a thirtieth.
				room := 4*100*math.Hypot(mcError(want/100, reps), mcError(want/100, 1200)) + want/30 + 0.3
				if want >= 0 && math.Abs(100*got-want) > room {
					t.Errorf("at +%s %%: %.1f %% blocked, want %.1f ± %.1f", what, 100*got, want, room)
				}
			}
		})
	}
}

// only measures one peer.
func only(t *testing.T, d design, w world.World, gate string, reps int) row {
	t.Helper()
	for _, r := range peers(d) {
		if r.name == gate {
			rows, err := measure(w, d, []rule{r}, reps, reps, []int{20, 50})
			if err != nil {
				t.Fatal(err)
			}
			return rows[0]
		}
	}
	t.Fatalf("no gate %q", gate)
	return row{}
}

func TestPeersByHand(t *testing.T) {
	x := &dataset{base: []float64{1, 2, 3, 4, 5}, head: []float64{8.0, 9}}
	for _, c := range []struct {
		name   string
		decide func(*dataset, float64) answer
		effect float64
		want   word
	}{
		{"8 is not more than 200 % of 5", ratio(2), 0, pass},
		{"8 is more than 150 % of 5", ratio(1.5), 0, block},
		{"10.4 is more than 200 % of 5", ratio(2), 0.3, block},
		// mean 3, sd of a population √2, t(0.99, 4) = 3.7469: the boundary is 8.299.
		{"8 is below the boundary", bencher(0.99), 0, pass},
		{"8.32 is above it", bencher(0.99), 0.04, block},
	} {
		if got := c.decide(x, c.effect).word; got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// The exact two-sided p of 5 v 5 without overlap is 2/252, of one pair out of order 4/252, of three 14/252.
func TestBenchstatByHand(t *testing.T) {
	base := []float64{1, 2, 3, 4, 5}
	for _, c := range []struct {
		head []float64
		want word
	}{
		{[]float64{6, 7, 8, 9, 10}, block},
		{[]float64{0.1, 0.2, 0.3, 0.4, 0.5}, improved},
		{[]float64{4.5, 7, 8, 9, 10}, block},
		{[]float64{1.5, 2.5, 8, 9, 10}, pass},
	} {
		if got := mannWhitney(&dataset{base: base, head: c.head}, 0).word; got != c.want {
			t.Errorf("%v against %v: got %v, want %v", c.head, base, got, c.want)
		}
	}
}

// A gamma variable has its shape for a mean and for a variance.
func TestGammaHasItsMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 50000
	for _, shape := range []float64{1, 6, 475} {
		sum, squares := 0.0, 0.0
		for range n {
			g := gamma(rng, shape)
			sum += g
			squares += (g - shape) * (g - shape)
		}
		if m := sum / n; math.Abs(m/shape-1) > 0.03 {
			t.Errorf("shape %v: mean %v", shape, m)
		}
		if v := squares / n; math.Abs(v/shape-1) > 0.06 {
			t.Errorf("shape %v: variance %v", shape, v)
		}
	}
}

// The direct draw of an order statistic against the plain bootstrap.
func TestResampledPercentileIsThatOfResamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]float64, 100)
	for i := range values {
		values[i] = float64(i)
	}
	const n = 20000
	var direct, plain, ranks float64
	for range n {
		direct += resampled95(rng, values) / n
		deal := make([]int, len(values))
		for range values {
			deal[rng.IntN(len(values))]++
		}
		k := int(0.95*float64(len(values)-1)) + 1
		for i, count := range deal {
			if ranks += float64(count); int(ranks) >= k {
				plain += values[i] / n
				break
			}
		}
		ranks = 0
	}
	if math.Abs(direct-plain) > 0.15 {
		t.Errorf("the 95th of 100 is %.2f on average, by plain resamples %.2f", direct, plain)
	}
}
