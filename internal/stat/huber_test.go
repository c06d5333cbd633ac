package stat

import (
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
