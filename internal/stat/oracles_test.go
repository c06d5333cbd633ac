package stat

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// oracles are answers of NumPy, SciPy and mpmath; testdata/make_oracles.py made them.
type oracles struct {
	Student struct {
		Tails     []struct{ DF, T, P float64 }
		Quantiles []struct{ DF, Q, T float64 }
	}
	Comparisons []struct {
		Name       string
		Base, Head [][]float64
		OrderBase  [][]float64 `json:"order_base"`
		OrderHead  [][]float64 `json:"order_head"`
		Seed       uint64
		Confidence float64
		Same       bool
		Want       struct {
			Delta, Low, High, P, SE, DF, SD float64
			PLess                           float64 `json:"p_less"`
		}
	}
	Proportions []struct {
		Met, Of    []int
		Confidence float64
		Want       struct {
			Point, Low, High, Rho float64
			DesignEffect          float64 `json:"design_effect"`
		}
	}
	Levels []struct {
		Looks       []int
		Alpha       float64
		Grid, Exact []float64
	}
	Detectable []struct{ SE, DF, Confidence, Power, Want float64 }
}

func readOracles(t *testing.T) (o oracles) {
	t.Helper()
	load(t, "oracles.json", &o)
	return o
}

func TestStudentTailsMatchMpmath(t *testing.T) {
	for _, c := range readOracles(t).Student.Tails {
		got := tTail(c.T, c.DF)
		if math.Abs(got-c.P) > 1e-10*c.P {
			t.Errorf("P(T > %v) with %v degrees of freedom: want %v, got %v", c.T, c.DF, c.P, got)
		}
		if left := tTail(-c.T, c.DF); math.Abs(left-(1-c.P)) > 1e-12 {
			t.Errorf("P(T > %v) with %v degrees of freedom: want %v, got %v", -c.T, c.DF, 1-c.P, left)
		}
	}
}

func TestStudentQuantilesMatchSciPy(t *testing.T) {
	for _, c := range readOracles(t).Student.Quantiles {
		for _, got := range []float64{tUpper(c.Q, c.DF), -tQuantile(c.Q, c.DF)} {
			if math.Abs(got-c.T) > 1e-10*c.T {
				t.Errorf("upper %v point with %v degrees of freedom: want %v, got %v", c.Q, c.DF, c.T, got)
			}
		}
	}
}

func TestStudentOfManyRunsIsTheCappedOne(t *testing.T) {
	for _, df := range []float64{2e4, 1e9, math.Inf(1)} {
		diff(t, "quantile", tUpper(0.025, maxDF), tUpper(0.025, df))
		diff(t, "tail", tTail(2, maxDF), tTail(2, df))
	}
	if got := tUpper(0.025, maxDF); got < 1.959964 || got > 1.9603 {
		t.Errorf("want just above the normal quantile 1.959964, got %v", got)
	}
}

func TestCompareMatchesTheHatMatrix(t *testing.T) {
	for _, c := range readOracles(t).Comparisons {
		o := Options{Confidence: c.Confidence, Resamples: 1999, Seed: c.Seed, SameSession: c.Same}
		got, err := specified(Sample{c.Base, c.OrderBase}, Sample{c.Head, c.OrderHead}, o)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		w := c.Want
		diff(t, c.Name, Comparison{Delta: w.Delta, Low: w.Low, High: w.High, SE: w.SE, DF: w.DF, P: w.P, PLess: w.PLess, SD: w.SD},
			Comparison{Delta: got.Delta, Low: got.Low, High: got.High, SE: got.SE, DF: got.DF, P: got.P, PLess: got.PLess, SD: got.SD})
	}
}

func TestProportionMatchesTheRootsOfWilsonsEquation(t *testing.T) {
	for _, c := range readOracles(t).Proportions {
		got, err := Proportion(c.Met, c.Of, c.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		w := c.Want
		n := 0
		for _, of := range c.Of {
			n += of
		}
		want := Share{Point: w.Point, Low: w.Low, High: w.High, Rho: w.Rho, DesignEffect: w.DesignEffect, N: float64(n) / w.DesignEffect}
		if d := cmp.Diff(want, got, cmpopts.EquateApprox(1e-8, 1e-12)); d != "" { // polynomial roots lose digits near 0 and 1
			t.Errorf("%v of %v (-want +got):\n%s", c.Met, c.Of, d)
		}
	}
}

func TestLevelsAreOnTheSafeSideOfTheExactOnes(t *testing.T) {
	for _, c := range readOracles(t).Levels {
		got, err := Levels(c.Looks, c.Alpha)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.Grid, got, cmpopts.EquateApprox(1e-4, 1e-9)); d != "" {
			t.Errorf("looks %v at %v, grid (-want +got):\n%s", c.Looks, c.Alpha, d)
		}
		for i, exact := range c.Exact {
			if got[i] > exact*(1+1e-9) || got[i] < 0.98*exact {
				t.Errorf("looks %v at %v: level %d is %v, exact %v", c.Looks, c.Alpha, i+1, got[i], exact)
			}
		}
	}
}

func TestSmallestDetectableChangeMatchesSciPy(t *testing.T) {
	for _, c := range readOracles(t).Detectable {
		diff(t, "detectable", c.Want, SmallestDetectable(c.SE, c.DF, c.Confidence, c.Power))
	}
	for _, bad := range [][4]float64{{-1, 8, .95, .8}, {1, 0, .95, .8}, {1, 8, 1, .8}, {1, 8, .95, 1}, {math.NaN(), 8, .95, .8}} {
		diff(t, "nothing is detectable", math.Inf(1), SmallestDetectable(bad[0], bad[1], bad[2], bad[3]))
	}
}
