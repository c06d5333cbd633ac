package report

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/gate"
)

func TestQuantityPrintsTheDigitsThatTheIntervalSupports(t *testing.T) {
	for _, test := range []struct {
		value float64
		unit  string
		half  float64
		want  string
	}{
		{0.41234, "s", 0, "412 ms"},
		{0.41234, "s", 0.03, "412 ms"},
		{0.41234, "s", 0.0008, "412.3 ms"},
		{0.41234, "s", 0.00004, "412.34 ms"},
		{1.31234, "s", 0.2, "1.3 s"},
		{1.31234, "s", 0.04, "1.31 s"},
		{12.3, "s", 3, "12 s"},
		{0.0000421, "s", 0, "42.1 µs"},
		{0.00000004, "s", 0, "0.0400 µs"},
		{0, "s", 0, "0 s"},
		{878.4, "tok/s", 120, "878 tok/s"},
		{12345.6, "tok/s", 0, "12346 tok/s"},
		{7.8125, "req/s", 0.4, "7.8 req/s"},
		{0.978, "ratio", 0.012, "98 %"},
		{0.978, "ratio", 0.004, "97.8 %"},
		{0, "ratio", 0, "0 %"},
		{1, "ratio", 0, "100 %"},
		{-0.0001, "ratio", 0.03, "0 %"},
		{math.NaN(), "s", 0, "–"},
		{math.Inf(1), "s", 0.1, "–"},
	} {
		if got := Quantity(test.value, test.unit, test.half); got != test.want {
			t.Errorf("%v ± %v %s is %q, want %q", test.value, test.half, test.unit, got, test.want)
		}
	}
}

// A digit is worth no more than half the interval, so that none of the value is lost, and no less than a tenth of it.
func TestDigitsFollowTheInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		half := math.Pow(10, rapid.Float64Range(-5, 3).Draw(t, "log of half"))
		s := digits(rapid.Float64Range(-1e4, 1e4).Draw(t, "x"), half)
		_, after, _ := strings.Cut(s, ".")
		last := math.Pow10(-len(after))
		if last > half*1.0001 && len(after) < 6 && last < 1 {
			t.Fatalf("%s hides what ± %v knows", s, half)
		}
		if len(after) > 0 && last < half/10.001 {
			t.Fatalf("%s shows more than ± %v knows", s, half)
		}
	})
}

func TestChangeIsSaidInWords(t *testing.T) {
	for _, test := range []struct {
		unit, better     string
		points           bool
		worse, low, high float64
		want             string
	}{
		{"s", "lower", false, 0.31, 0.24, 0.38, "31 % slower (24 to 38 %)"},
		{"s", "lower", false, 0.13, -0.08, 0.34, "13 % slower (−8 to 34 %)"},
		{"s", "lower", false, -0.04, -0.10, 0.02, "4 % faster (−2 to 10 %)"},
		{"s", "lower", false, -0.0004, -0.10, 0.10, "0 % slower (−10 to 10 %)"},
		{"s", "lower", false, 0.012, 0.009, 0.015, "1.2 % slower (0.9 to 1.5 %)"},
		{"tok/s", "higher", false, 0.14, 0.04, 0.25, "14 % worse (4 to 25 %)"},
		{"tok/s", "higher", false, -0.14, -0.25, -0.04, "14 % better (4 to 25 %)"},
		{"ratio", "higher", true, 0.032, 0.011, 0.053, "3 points lower (1 to 5)"},
		{"ratio", "lower", true, 0.032, 0.011, 0.053, "3 points higher (1 to 5)"},
	} {
		f := gate.Finding{Unit: test.unit, Better: test.better, Change: &gate.Change{Worse: test.worse, WorseLow: test.low, WorseHigh: test.high, Points: test.points}}
		if got := change(f); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestBothSidesAreWrittenInOneUnit(t *testing.T) {
	side := func(x float64) *gate.Side { return &gate.Side{Point: x, NRuns: 5} }
	c := &gate.Change{Worse: 0.3, WorseLow: 0.2, WorseHigh: 0.4}
	for _, test := range []struct {
		f    gate.Finding
		want string
	}{
		{gate.Finding{Unit: "s", Base: side(0.98), Head: side(1.274), Change: c}, "0.98 → 1.27 s"},
		{gate.Finding{Unit: "s", Base: side(0.381), Head: side(0.497), Change: c}, "381 → 497 ms"},
		{gate.Finding{Unit: "s", Head: side(0.497)}, "– → 497 ms"},
		{gate.Finding{Unit: "s", Base: side(0.497)}, "497 ms → –"},
		{gate.Finding{}, ""},
	} {
		if got := sides(test.f); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestAxisKeepsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		worse := rapid.SliceOfN(rapid.Float64Range(-0.99, 40), 3, 3).Draw(t, "worse")
		low, high := min(worse[0], worse[1], worse[2]), max(worse[0], worse[1], worse[2])
		a := axisOf([]gate.Finding{{Change: &gate.Change{Worse: worse[1], WorseLow: low, WorseHigh: high}}})
		if at := a.at(0); !(at > 0 && at < 1) {
			t.Fatalf("no change lies at %v", at)
		}
		from, _ := a.clip(low)
		to, _ := a.clip(high)
		if !(from <= to) {
			t.Fatalf("%v at %v, %v at %v", low, from, high, to)
		}
		for _, tick := range a.ticks(0.1) {
			if at := a.at(tick); at < 0 || at > 1 {
				t.Fatalf("tick %v at %v", tick, at)
			}
		}
		if n := len([]rune(strip(a, gate.Finding{Change: &gate.Change{Worse: worse[1], WorseLow: low, WorseHigh: high}}))); n != cells {
			t.Fatalf("%d cells", n)
		}
	})
}

func TestScaleStepsAreRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := math.Pow(10, rapid.Float64Range(-4, 4).Draw(t, "low"))
		high := low * rapid.Float64Range(1, 100).Draw(t, "ratio")
		from, to, step := rounded(low, high)
		if from > low+1e-9*high || to < high-1e-9*high {
			t.Fatalf("%v to %v does not hold %v to %v", from, to, low, high)
		}
		if n := (to - from) / step; n > 8 {
			t.Fatalf("%v steps of %v from %v to %v", n, step, from, to)
		}
		lead := step / math.Pow(10, math.Floor(math.Log10(step)+1e-9))
		if math.Abs(lead-1) > 1e-6 && math.Abs(lead-2) > 1e-6 && math.Abs(lead-5) > 1e-6 {
			t.Fatalf("a step of %v", step)
		}
	})
}
