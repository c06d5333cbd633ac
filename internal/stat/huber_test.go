package stat

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// huberOracle is what NumPy and SciPy find; testdata/make_huber.py made it.
type huberOracle struct {
	Comparisons []struct {
		Name       string
		Base, Head []float64
		OrderBase  []float64 `json:"order_base"`
		OrderHead  []float64 `json:"order_head"`
		Seed       uint64
		Confidence float64
		Want       struct {
			Delta, Low, High, P, SE, DF float64
			PLess                       float64 `json:"p_less"`
			Outside                     int
		}
	}
}

func TestOneCampaignIsComparedByHubersEstimateWithEnoughRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for want, sizes := range map[string][][2]int{
		"huber permutation+t":       {{6, 6}, {10, 10}},
		"huber permutation+t+welch": {{6, 7}, {15, 5}, {5, 20}},
		"bootstrap+t":               {{5, 5}, {6, 5}},
		"bootstrap+t+welch":         {{14, 5}, {4, 30}},
	} {
		for _, n := range sizes {
			got, err := Compare(one(normals(r, 0.1, n[0])[0]), one(normals(r, 0.1, n[1])[0]), Options{Resamples: 99, SameSession: true})
			diff(t, fmt.Sprint(n), []any{want, nil}, []any{got.Method, err})
		}
	}
}

func TestSessionsAreComparedByMeansHoweverManyTheirRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for want, c := range map[string][2][]int{
		"bootstrap+t+sessions(1)":       {{8}, {8}},
		"bootstrap+t+welch+sessions(5)": {{5, 5, 5, 5, 5}, {5}},
		"bootstrap+t+welch+sessions(4)": {{10, 10, 10, 10}, {10}},
		"bootstrap+t+sessions(2)":       {{6, 6}, {6, 6}},
	} {
		got, err := Compare(Sample{Sessions: normals(r, 0.1, c[0]...)}, Sample{Sessions: normals(r, 0.1, c[1]...)}, Options{Resamples: 99})
		diff(t, fmt.Sprint(c, " method"), []any{want, nil}, []any{got.Method, err})
	}
}

func TestHuberMatchesNumPy(t *testing.T) {
	var all huberOracle
	load(t, "huber.json", &all)
	for _, c := range all.Comparisons {
		base, head := one(c.Base), one(c.Head)
		if c.OrderBase != nil {
			base.Order, head.Order = [][]float64{c.OrderBase}, [][]float64{c.OrderHead}
		}
		o := Options{Confidence: c.Confidence, Resamples: 1999, Seed: c.Seed, SameSession: true}
		got, err := Compare(base, head, o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := prepare(base, head, o)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := p.huber(append(append([]float64{}, c.Base...), c.Head...), p.o.Floor)
		w := c.Want
		if !ok || f.outside != w.Outside {
			t.Errorf("%s: %d residuals outside, want %d (scale found: %v)", c.Name, f.outside, w.Outside, ok)
		}
		want := []float64{w.Delta, w.Low, w.High, w.P, w.PLess, w.SE, w.DF}
		if d := cmp.Diff(want, []float64{got.Delta, got.Low, got.High, got.P, got.PLess, got.SE, got.DF}, cmpopts.EquateApprox(1e-6, 1e-7)); d != "" {
			t.Errorf("%s: delta, low, high, p, p less, se, df (-want +got):\n%s", c.Name, d)
		}
	}
}

// A run that is far out counts, and how far out it is does not.
func TestAFarRunCountsAndItsDistanceDoesNot(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for i := range 200 {
		n := 6 + i%5
		base, head := one(normals(r, 0.1, n)[0]), one(normals(r, 0.1, n)[0])
		if i%2 == 1 {
			base.Order, head.Order = abba(n)
		}
		compare := func(slow float64) Comparison {
			h := one(append([]float64{slow}, head.Sessions[0][1:]...))
			h.Order = head.Order
			c, err := Compare(base, h, Options{Resamples: 199, Seed: uint64(i), SameSession: true})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(c.Method, "huber") {
				t.Fatalf("method %q", c.Method)
			}
			c.SD, c.PPerm, c.Warnings = 0, nil, nil // these are of the runs as they are
			return c
		}
		far, further, fast := compare(1), compare(50), compare(-1)
		if d := cmp.Diff(far, further, cmpopts.EquateApprox(1e-5, 1e-6)); d != "" {
			t.Errorf("%d runs a side, case %d (-far +further):\n%s", n, i, d)
		}
		if !(fast.Delta < far.Delta) {
			t.Errorf("a slow run and a fast one make no difference: %+v and %+v", far, fast)
		}
	}
}

// Where no residual is cut the estimate is the difference of means.
func TestRunsThatAreAllUsualAreComparedByTheirMeans(t *testing.T) {
	base, head := []float64{-0.09, -0.05, -0.08, 0.07, 0.09, 0.06}, []float64{0.11, 0.15, 0.12, 0.27, 0.29, 0.26}
	got, err := Compare(one(base), one(head), Options{SameSession: true})
	means, err2 := specified(one(base), one(head), Options{SameSession: true})
	diff(t, "compare", []any{means.Delta, means.SE, means.DF, nil, nil}, []any{got.Delta, got.SE, got.DF, err, err2})
}
