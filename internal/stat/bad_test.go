package stat

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// outcome of a comparison of odd runs, in one campaign and across sessions.
type outcome struct {
	err    error
	delta  float64
	holds0 bool   // no change lies in the interval
	warns  string // of one campaign; "" for none
	method string // of one campaign
}

func TestOddRunsHaveAnOutcome(t *testing.T) {
	same := func(x float64, n int) []float64 { return slices.Repeat([]float64{x}, n) }
	usual := []float64{0.02, -0.05, 0.08, -0.01, 0.04, -0.07, 0.03}
	zero := math.Copysign(0, -1)
	for name, c := range map[string]struct {
		base, head []float64
		want       outcome
	}{
		"one run":                       {usual, usual[:1], outcome{err: ErrTooFew}},
		"two runs":                      {usual[:2], usual, outcome{err: ErrTooFew}},
		"all runs equal":                {same(-0.9, 5), same(-0.9, 5), outcome{holds0: true, warns: "degenerate", method: "t"}},
		"all runs equal, many":          {same(-0.9, 10), same(-0.9, 10), outcome{holds0: true, warns: "degenerate", method: "t"}},
		"all runs zero":                 {same(0, 6), same(0, 6), outcome{holds0: true, warns: "degenerate", method: "t"}},
		"zeros of either sign":          {same(0, 6), same(zero, 6), outcome{holds0: true, warns: "degenerate", method: "t"}},
		"each side constant":            {same(0, 6), same(0.1, 6), outcome{delta: 0.1, warns: "degenerate", method: "t"}},
		"one side constant":             {same(0.5, 7), usual, outcome{delta: -0.4942857143, method: "bootstrap+t"}},
		"the shorter side constant":     {append(usual, usual...), same(0.5, 3), outcome{delta: 0.4942857143, method: "bootstrap+t+welch", warns: "only 3"}},
		"all but one run equal":         {append(same(0, 9), 0.4), same(0, 10), outcome{delta: -0.04, holds0: true, method: "bootstrap+t"}},
		"one huge run of five":          {usual[:5], []float64{0.02, -0.05, 30, -0.01, 0.04}, outcome{delta: 5.984, holds0: true, warns: "very noisy", method: "bootstrap+t"}},
		"one huge run of seven":         {usual, []float64{0.02, -0.05, 30, -0.01, 0.04, -0.07, 0.03}, outcome{delta: 0.0077, holds0: true, warns: "very noisy", method: "huber permutation+t"}},
		"a huge run hides no change":    {usual, []float64{0.32, 0.25, 30, 0.29, 0.34, 0.23, 0.33}, outcome{delta: 0.3077, warns: "very noisy", method: "huber permutation+t"}},
		"the largest runs there can be": {usual, append([]float64{9e73, -9e73}, usual...), outcome{holds0: true, warns: "very noisy", method: "huber permutation+t+welch", delta: 0}},
		"minus zero among runs":         {[]float64{zero, 0.1, -0.1}, []float64{0, 0.1, -0.1}, outcome{holds0: true, warns: "only 3", method: "bootstrap+t"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Compare(one(c.base), one(c.head), Options{Resamples: 999, SameSession: true})
			across, err2 := Compare(one(c.base), one(c.head), Options{Resamples: 999})
			if c.want.err != nil {
				if !errors.Is(err, c.want.err) || !errors.Is(err2, c.want.err) {
					t.Fatalf("want %v, got %v and %v", c.want.err, err, err2)
				}
				return
			}
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			for _, g := range []Comparison{got, across} {
				numbers := []float64{g.Delta, g.Low, g.High, g.SE, g.DF, g.P, g.PLess, g.SD}
				if slices.ContainsFunc(numbers, math.IsNaN) || slices.ContainsFunc(numbers, negativeZero) || !(g.Low <= g.Delta && g.Delta <= g.High) {
					t.Errorf("%+v", g)
				}
			}
			if math.Abs(got.Delta-c.want.delta) > 0.02+1e-9*math.Abs(c.want.delta) || (got.Low <= 0 && got.High >= 0) != c.want.holds0 {
				t.Errorf("delta %v in %v..%v, want %v, zero inside: %v", got.Delta, got.Low, got.High, c.want.delta, c.want.holds0)
			}
			if got.Method != c.want.method || !strings.HasPrefix(strings.Join(got.Warnings, "; "), c.want.warns) || (c.want.warns == "") != (got.Warnings == nil) {
				t.Errorf("by %q with warnings %q", got.Method, got.Warnings)
			}
		})
	}
}

func negativeZero(x float64) bool { return x == 0 && math.Signbit(x) }

// Where more than half of the runs agree to within the floor no scale tells a slow run from a usual one, and means are
// compared as with few runs.
func TestNearlyEqualRunsAreComparedByMeans(t *testing.T) {
	base := []float64{0, 0, 0.001, 0, 0, 0.3, 0, 0.001}
	got, err := Compare(one(base), one(base), Options{SameSession: true})
	diff(t, "compare", []any{"bootstrap+t", false, nil}, []any{got.Method, got.Degenerate, err})
}
