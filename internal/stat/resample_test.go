package stat

import (
	"math"
	"math/bits"
	"math/rand/v2"
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

// More resamples need more time but no more memory than the list they fill.
func TestResamplingAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	base, head := one(normals(r, 0.1, 9)[0]), one(normals(r, 0.1, 9)[0])
	for _, inTurn := range []bool{false, true} {
		if inTurn {
			base.Order, head.Order = abba(9)
		}
		p, err := prepare(base, head, Options{SameSession: true})
		if err != nil {
			t.Fatal(err)
		}
		f, ok := p.huber(slices.Concat(p.base.runs, p.head.runs), p.o.Floor)
		if !ok {
			t.Fatal("no scale")
		}
		short, long, e := make([]float64, 10), make([]float64, 1000), f.moved(0)
		for name, fill := range map[string]func([]float64){
			"bootstrap": func(t []float64) { f.resample(t, e, 1) },
			"shuffle":   func(t []float64) { f.shuffle(t, e, 1) },
		} {
			few, many := testing.AllocsPerRun(5, func() { fill(short) }), testing.AllocsPerRun(5, func() { fill(long) })
			if many != few || many > 1 {
				t.Errorf("%s, in turn %v: %v allocations for 10 resamples, %v for 1,000", name, inTurn, few, many)
			}
		}
	}
}

// A deal is every run's value once, and each assignment is as likely.
func TestShufflesDealEachValueOnce(t *testing.T) {
	runs := []float64{1, 2, 4, 8, 16, 32}
	base, head := one(runs[:3]), one(runs[3:])
	p, err := prepare(base, head, Options{SameSession: true})
	if err != nil {
		t.Fatal(err)
	}
	f := huber{model: p.model}
	e := slices.Clone(runs)
	seen, deals := map[float64]int{}, 20_000
	for i := range deals {
		f.shuffle(make([]float64, 1), e, uint64(i)*golden)
		if !slices.Equal(slices.Sorted(slices.Values(e)), runs) {
			t.Fatalf("dealt %v", e)
		}
		seen[e[0]+e[1]+e[2]]++
	}
	if len(seen) != 20 {
		t.Fatalf("%d ways to choose 3 of 6, want 20", len(seen))
	}
	for sum, n := range seen {
		if math.Abs(float64(n)/float64(deals)-0.05) > 4*math.Sqrt(0.05*0.95/float64(deals)) {
			t.Errorf("base of sum %v in %d of %d deals", sum, n, deals)
		}
	}
	// And the statistic is that of the deal.
	got := make([]float64, 1)
	f.shuffle(got, e, 99)
	diff(t, "t", f.t(e), got[0])
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
