package load

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// wantedSchedule is one case of the oracle's files.
type wantedSchedule struct {
	Seed       uint32    `json:"seed"`
	Rate       float64   `json:"rate"`
	Burstiness any       `json:"burstiness"` // a number or "inf"
	Requests   int       `json:"requests"`
	Step       int       `json:"step"` // above 0 the file holds every step-th time, and then the last
	At         []float64 `json:"at"`
}

func (w wantedSchedule) burstiness() float64 {
	if b, ok := w.Burstiness.(float64); ok {
		return b
	}
	return math.Inf(1)
}

// thin keeps of a whole schedule what the file holds.
func (w wantedSchedule) thin(at []float64) []float64 {
	if w.Step == 0 {
		return at
	}
	var kept []float64
	for i := 0; i < len(at); i += w.Step {
		kept = append(kept, at[i])
	}
	return append(kept, at[len(at)-1])
}

// vllm_schedules.json holds times that vllm 0.33 gave; schedules.json those of NumPy, by make_schedules.py.
func TestArrivalsAreThoseOfVLLMBenchServe(t *testing.T) {
	for _, file := range []string{"testdata/vllm_schedules.json", "testdata/schedules.json"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var oracle struct{ Cases []wantedSchedule }
		if err := json.Unmarshal(data, &oracle); err != nil {
			t.Fatal(err)
		}
		if len(oracle.Cases) < 17 {
			t.Fatalf("%s holds %d cases", file, len(oracle.Cases))
		}
		for _, c := range oracle.Cases {
			t.Run(fmt.Sprintf("seed %d, rate %v, burstiness %v, %d requests", c.Seed, c.Rate, c.Burstiness, c.Requests), func(t *testing.T) {
				compareTimes(t, c.At, c.thin(Arrivals(c.Seed, c.Rate, c.burstiness(), c.Requests)))
			})
		}
	}
}

func compareTimes(t *testing.T, want, got []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d times, want %d", len(got), len(want))
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			t.Fatalf("time %d is %.15g s, want %.15g s", i, got[i], want[i])
		}
	}
}

// The first and the ten-thousandth draw for the seed 5489 are fixed by the C++ standard ([rand.predef], mt19937).
func TestTheGeneratorIsMT19937(t *testing.T) {
	l := newLegacy(5489)
	first, last := l.uint32(), uint32(0)
	for range 9999 {
		last = l.uint32()
	}
	if first != 3499211612 || last != 4123659995 {
		t.Errorf("draws 1 and 10000 are %d and %d, want 3499211612 and 4123659995", first, last)
	}
}

func TestArrivalsRiseToTheExactMeanRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint32().Draw(t, "seed")
		rate := rapid.Float64Range(1e-3, 1e5).Draw(t, "rate")
		burstiness := rapid.OneOf(rapid.Float64Range(0.05, 100), rapid.Just(math.Inf(1))).Draw(t, "burstiness")
		n := rapid.IntRange(1, 300).Draw(t, "requests")
		at := Arrivals(seed, rate, burstiness, n)
		if len(at) != n {
			t.Fatalf("%d times, want %d", len(at), n)
		}
		last := 0.0
		for i, v := range at {
			if !(v >= last) {
				t.Fatalf("time %d is %v after %v", i, v, last)
			}
			last = v
		}
		if want := float64(n) / rate; math.Abs(last-want) > 1e-9*want {
			t.Fatalf("the last is due at %v s, want %v s", last, want)
		}
	})
}

func TestScheduleThatCannotBeIsNone(t *testing.T) {
	for _, c := range []struct {
		rate, burstiness float64
		n                int
	}{
		{0, 1, 5},
		{-1, 1, 5},
		{math.NaN(), 1, 5},
		{math.Inf(1), 1, 5},
		{1, 0, 5},
		{1, -1, 5},
		{1, math.NaN(), 5},
		{1, 1, 0},
		{1, 1, -3},
	} {
		if at := Arrivals(1, c.rate, c.burstiness, c.n); at != nil {
			t.Errorf("rate %v, burstiness %v, %d requests: %v, want none", c.rate, c.burstiness, c.n, at)
		}
	}
}
