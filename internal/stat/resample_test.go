package stat

import (
	"math"
	"math/bits"
	"slices"
	"testing"
)

// The one-pass sums of squares would lose every digit in a deal of nearly equal values.
func TestDealsOfNearlyEqualRunsKeepTheirDigits(t *testing.T) {
	runs := []float64{0, 1e-6, 2.5e-6, 10}
	m, err := fit(runs, runs, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := m.errors()
	got := make([]float64, 2000)
	m.resample(got, e, 5)
	tight := 0
	for b := range got {
		var deal []float64
		for i := range e {
			k, _ := bits.Mul64(mix(5+uint64(b*len(e)+i+1)*golden), uint64(len(e)))
			deal = append(deal, e[k])
		}
		base, head := deal[:4], deal[4:]
		sd := math.Sqrt((sumSquares(base, mean(base)) + sumSquares(head, mean(head))) / m.df)
		want := m.studentise(mean(head)-mean(base), sd)
		if sd < 1e-5 && sd > 1e-9*m.sd {
			tight++
		}
		if math.Abs(got[b]-want) > 1e-6*math.Abs(want)+1e-8 && !(math.IsInf(want, 0) && got[b] == want) {
			t.Fatalf("deal %d: want %v, got %v of %v", b, want, got[b], deal)
		}
	}
	if tight == 0 {
		t.Error("no deal was tight: the test shows nothing")
	}
}

func TestADealWithoutSpreadIsInfinitelyFarOut(t *testing.T) {
	m := model{sd: 2, root: 0.5}
	for _, c := range [][3]float64{
		{3, 1, 6},
		{-3, 1, -6},
		{3, 1e-6, 6e6}, // little spread is still spread
		{3, 1e-10, math.Inf(1)},
		{-3, 0, math.Inf(-1)},
		{1e-10, 1e-10, 0},
	} {
		diff(t, "t", c[2], m.studentise(c[0], c[1]))
	}
}

func TestTiesCountOnBothSides(t *testing.T) {
	above, below := beyond([]float64{0, 1, 1 + 1e-13, 1 - 1e-13, 2, 3, math.Inf(-1)}, 1)
	diff(t, "ties", []int{5, 5}, []int{above, below})
}

func TestRankOfTheBound(t *testing.T) {
	for _, c := range []struct {
		n          int
		confidence float64
		want       int
	}{{9999, 0.95, 250}, {9999, 0.9, 500}, {999, 0.99, 5}, {19, 0.95, 1}, {1, 0.5, 1}, {3, 0.01, 1}} {
		diff(t, "rank", c.want, rank(c.n, c.confidence))
	}
}

// A history of nights with one run each has no spread within sessions at all.
func TestSessionsOfOneRunEach(t *testing.T) {
	nights := [][]float64{{0.1}, {0}, {-0.1}, {0.05}}
	got, err := Compare(Sample{Sessions: nights}, one([]float64{0.2, 0.25, 0.3}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "delta", 0.2375, got.Delta)
	flat := Sample{Sessions: slices.Repeat([][]float64{{0}}, 10)}
	got, err = Compare(flat, flat, Options{DaySD: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	if !(got.Low < 0 && got.High > 0 && got.High < 0.1 && got.DF > 1) {
		t.Errorf("%+v", got)
	}
}
