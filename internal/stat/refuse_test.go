package stat

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestCompareRefuses(t *testing.T) {
	good := one([]float64{1, 1.1, 0.9, 1.05})
	ordered := func(places ...float64) Sample {
		return Sample{Sessions: good.Sessions, Order: [][]float64{places}}
	}
	same := Options{SameSession: true}
	for name, c := range map[string]struct {
		base, head Sample
		o          Options
		want       error
		says       string
	}{
		"no runs":                     {Sample{}, good, Options{}, ErrTooFew, "base has 0 runs"},
		"two runs":                    {good, one([]float64{1, 2}), Options{}, ErrTooFew, "head has 2 runs"},
		"two sessions of one run":     {good, Sample{Sessions: [][]float64{{1}, {2}, {}}}, Options{}, ErrTooFew, "needs 3"},
		"NaN":                         {one([]float64{1, math.NaN(), 2}), good, Options{}, ErrNotFinite, "base: value NaN"},
		"infinity":                    {good, one([]float64{1, math.Inf(-1), 2}), Options{}, ErrNotFinite, "head: value -Inf"},
		"square overflows":            {good, one([]float64{1, 1e200, 2}), Options{}, ErrNotFinite, "1e+200"},
		"NaN as a place":              {ordered(1, 4, math.NaN(), 8), ordered(2, 3, 6, 7), same, ErrNotFinite, "NaN"},
		"one side after the other":    {ordered(1, 2, 3, 4), ordered(5, 6, 7, 8), same, ErrOrder, "correlation of order and side is 0.87"},
		"the other before the one":    {ordered(5, 6, 7, 8), ordered(1, 2, 3, 4), same, ErrOrder, "-0.87"},
		"mostly after the other":      {ordered(1, 2, 3, 6), ordered(4, 5, 7, 8), same, ErrOrder, "0.65"},
		"all at one place":            {ordered(1, 1, 1, 1), ordered(1, 1, 1, 1), same, ErrOrder, "NaN"},
		"order of one side":           {ordered(1, 4, 5, 8), good, same, ErrOrder, "only one side"},
		"order of fewer runs":         {ordered(1, 4, 5), ordered(2, 3, 6, 7), same, ErrOrder, "3 places for 4 runs"},
		"order of fewer sessions":     {Sample{good.Sessions, [][]float64{}}, ordered(2, 3, 6, 7), same, ErrOrder, "0 sessions instead of 1"},
		"confidence of one":           {good, good, Options{Confidence: 1}, nil, "confidence 1"},
		"confidence that is none":     {good, good, Options{Confidence: math.NaN()}, nil, "confidence NaN"},
		"negative number of deals":    {good, good, Options{Resamples: -1}, nil, "-1 resamples"},
		"negative spread of days":     {good, good, Options{DaySD: -1}, nil, "day sd -1"},
		"infinite weight of the days": {good, good, Options{DayDF: math.Inf(1)}, nil, "+Inf"},
		"floor that is none":          {good, good, Options{Floor: math.NaN()}, nil, "floor NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Compare(c.base, c.head, c.o)
			if err == nil {
				t.Fatalf("want an error with %q, got %+v", c.says, got)
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("want %q, got %q", c.want, err)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("want an error that says %q, got %q", c.says, err)
			}
		})
	}
}

func TestOrderIsIgnoredAcrossSessions(t *testing.T) {
	s := Sample{Sessions: [][]float64{{1, 1.1, 0.9}}, Order: [][]float64{{1, 2, 3}}}
	got, err := Compare(s, s, Options{})
	diff(t, "compare", []any{"bootstrap+t+sessions(1)", nil}, []any{got.Method, err})
}

func TestMethodNamesWhatWentIn(t *testing.T) {
	runs := []float64{0, 0.11, -0.1, 0.05, 0.02, -0.07, 0.01, 0.2}
	flat := []float64{0.3, 0.3, 0.3, 0.3}
	ordered := func(s Sample, places ...float64) Sample {
		s.Order = [][]float64{places}
		return s
	}
	for name, c := range map[string]struct {
		base, head Sample
		same       bool
		want       string
	}{
		"one campaign":          {one(runs[:4]), one(runs[4:]), true, "bootstrap+t"},
		"uneven sides":          {one(runs[:3]), one(runs[3:]), true, "bootstrap+t+welch"},
		"one and a half to one": {one(runs[:4]), one(runs[2:8]), true, "bootstrap+t"},
		"a little more":         {one(runs[:5]), one(runs), true, "bootstrap+t+welch"},
		"partly confounded":     {ordered(one(runs[:4]), 1, 2, 4, 7), ordered(one(runs[4:]), 3, 5, 6, 8), true, "bootstrap+t, trend"},
		"other days":            {Sample{Sessions: [][]float64{runs[:4], runs[4:]}}, one(runs[2:5]), false, "bootstrap+t+welch+sessions(2)"},
		"no spread":             {one(flat), one(flat), true, "t"},
		"a sequence":            {ordered(one(runs[:4]), 1, 4, 5, 8), ordered(one(runs[4:]), 2, 3, 6, 7), true, "bootstrap+t, trend"},
	} {
		got, err := Compare(c.base, c.head, Options{SameSession: c.same})
		diff(t, name, []any{c.want, nil}, []any{got.Method, err})
		diff(t, name+": a second opinion unless the order counts", c.base.Order == nil, got.PPerm != nil)
	}
}

func TestNoSecondOpinionFromTooManyArrangements(t *testing.T) {
	for n, want := range map[int]int{3: 20, 5: 252, 8: 12_870, 9: 0, 40: 0} {
		diff(t, "ways", want, choose(2*n, n))
	}
	diff(t, "lopsided", []int{19_600, 0, 15_504}, []int{choose(50, 47), choose(51, 3), choose(20, 5)})
}

func TestWarnings(t *testing.T) {
	calm := []float64{0, 0.1, -0.1, 0.05, 0.02}
	for name, c := range map[string]struct {
		base, head Sample
		same       bool
		want       []string
	}{
		"nothing":    {one(calm), one(calm), true, nil},
		"one less":   {one(calm), one(calm[:4]), true, []string{"only 4 runs"}},
		"few runs":   {one(calm), one(calm[:3]), true, []string{"only 3 runs"}},
		"one day":    {one(calm), one(calm), false, []string{"single session"}},
		"two days":   {Sample{Sessions: [][]float64{calm, calm}}, one(calm), false, nil},
		"noisy":      {one([]float64{0, 2, 0, 2, 0}), one(calm), true, []string{"very noisy"}},
		"degenerate": {one([]float64{1, 1, 1, 1, 1}), one([]float64{1, 1, 1, 1, 1.001}), true, []string{"degenerate"}},
	} {
		got, err := Compare(c.base, c.head, Options{SameSession: c.same})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Warnings) != len(c.want) {
			t.Errorf("%s: want %q, got %q", name, c.want, got.Warnings)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got.Warnings[i], want) {
				t.Errorf("%s: want %q, got %q", name, want, got.Warnings[i])
			}
		}
	}
}

// Of three runs a side, one deal in 1,296 has no spread at all: at so high a confidence the bootstrap bounds nothing.
func TestTooHighAConfidenceBoundsNothing(t *testing.T) {
	got, err := Compare(one([]float64{0, 0.1, 0.25}), one([]float64{0.3, 0.41, 0.62}), Options{Confidence: 0.9999, Resamples: 99_999, SameSession: true})
	diff(t, "compare", []any{math.Inf(-1), math.Inf(1), nil}, []any{got.Low, got.High, err})
}

func TestSummariesRefuse(t *testing.T) {
	for name, f := range map[string]func() error{
		"quantile of nothing":       func() error { _, err := Quantile(nil, 0.5); return err },
		"quantile below 0":          func() error { _, err := Quantile([]float64{1}, -0.1); return err },
		"quantile that is none":     func() error { _, err := Quantile([]float64{1}, math.NaN()); return err },
		"mean of nothing":           func() error { _, err := Mean(nil); return err },
		"geometric mean of nothing": func() error { _, err := GeoMean(nil); return err },
		"geometric mean of zero":    func() error { _, err := GeoMean([]float64{1, 0}); return err },
		"deviation of one":          func() error { _, err := SD([]float64{1}); return err },
		"share of no runs":          func() error { _, err := Proportion(nil, nil, 0); return err },
		"share of unequal lists":    func() error { _, err := Proportion([]int{1}, []int{2, 3}, 0); return err },
		"share of no requests":      func() error { _, err := Proportion([]int{0}, []int{0}, 0); return err },
		"more met than sent":        func() error { _, err := Proportion([]int{3}, []int{2}, 0); return err },
		"fewer than none met":       func() error { _, err := Proportion([]int{-1}, []int{2}, 0); return err },
		"share at no confidence":    func() error { _, err := Proportion([]int{1}, []int{2}, 1); return err },
		"levels of no looks":        func() error { _, err := Levels(nil, 0.025); return err },
		"looks that fall":           func() error { _, err := Levels([]int{6, 6}, 0.025); return err },
		"a look at nothing":         func() error { _, err := Levels([]int{0, 6}, 0.025); return err },
		"levels of no alpha":        func() error { _, err := Levels([]int{6}, 0); return err },
		"levels of half":            func() error { _, err := Levels([]int{6}, 0.5); return err },
	} {
		if f() == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

func TestGeoMeanIsTheMeanOfLogs(t *testing.T) {
	got, err := GeoMean([]float64{1, 4, 16})
	diff(t, "geometric mean", []any{4.0, nil}, []any{got, err})
}

func TestRoundKeepsWhatIsNoNumber(t *testing.T) {
	for _, x := range []float64{math.Inf(1), math.Inf(-1), math.MaxFloat64} {
		diff(t, "round", x, Round(x))
	}
	if !math.IsNaN(Round(math.NaN())) || math.Signbit(Round(math.Copysign(0, -1))) {
		t.Error("want NaN to stay and −0 to become 0")
	}
	diff(t, "round", 1.234567891, Round(1.23456789149))
}

func TestLogitOfNoShareIsAMistakeOfOurs(t *testing.T) {
	for _, c := range [][2]int{{-1, 5}, {6, 5}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Logit(%d, %d): want a panic", c[0], c[1])
				}
			}()
			Logit(c[0], c[1])
		}()
	}
}

func TestHolmOfWhatIsNoChanceIsOne(t *testing.T) {
	diff(t, "holm", []float64{1, 0.03, 1, 1}, Holm([]float64{math.NaN(), 0.0075, -1, 2}))
	diff(t, "nothing", []float64{}, Holm(nil))
}
