package noise

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// oracles are NumPy's and SciPy's answers; testdata/make_oracles.py made them.
type oracles struct {
	SplitMix []string `json:"splitmix"`
	Spreads  []struct {
		Steady       float64
		Levels       []float64 `json:"levels"`
		SD           float64   `json:"sd"`
		Low          float64   `json:"sd_low"`
		High         float64   `json:"sd_high"`
		Order, First float64
		OrderHalf    float64 `json:"order_half"`
		FirstHalf    float64 `json:"first_half"`
	} `json:"spreads"`
	Chances []struct {
		Metric string
		Logs   [][]float64
		Seed   uint64
		SD     float64
	} `json:"chances"`
	Designs []struct {
		Runs, Base, Sessions int
		Interleaved          bool
		SD                   float64
		DaySD                float64 `json:"day_sd"`
		Confidence           float64
		Power                float64
		Reach                float64
	} `json:"designs"`
}

func readOracles(t *testing.T) oracles {
	t.Helper()
	data, err := os.ReadFile("testdata/oracles.json")
	if err != nil {
		t.Fatal(err)
	}
	var o oracles
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	if len(o.Spreads) < 5 || len(o.Chances) < 6 || len(o.Designs) < 50 {
		t.Fatal("the oracle has fewer cases than it should")
	}
	return o
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Max(math.Abs(want), 1e-9)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestDrawsAreSplitMix64(t *testing.T) {
	d := stat.Draws(7)
	for i, want := range readOracles(t).SplitMix {
		if got := strconv.FormatUint(d.Next(), 10); got != want {
			t.Errorf("draw %d is %s, want %s", i+1, got, want)
		}
	}
}

func TestSpreadAgreesWithSciPy(t *testing.T) {
	for _, c := range readOracles(t).Spreads {
		m := Metric{Metric: bench.Metric{Scale: bench.Log}, levels: c.Levels}
		m.spread()
		near(t, "sd", m.SD, c.SD, 1e-9)
		near(t, "low end of sd", m.SDLow, c.Low, 0.002)
		allowed := 0.01
		if len(c.Levels) < 9 {
			allowed = 0.1
		}
		near(t, "high end of sd", m.SDHigh, c.High, allowed)
		near(t, "order", m.Order.Change, c.Order, 1e-9)
		near(t, "sd around the line", m.Steady, c.Steady, 1e-8)
		near(t, "half-width of order", m.Order.Half, c.OrderHalf, 1e-8)
		near(t, "first", m.First.Change, c.First, 1e-9)
		near(t, "half-width of first", m.First.Half, c.FirstHalf, 1e-8)
	}
}

func TestChanceInRequestsAgreesWithNumPy(t *testing.T) {
	for _, c := range readOracles(t).Chances {
		m, err := bench.ParseMetric(c.Metric)
		if err != nil {
			t.Fatal(err)
		}
		runs := make([]map[int]bench.Request, len(c.Logs[0]))
		for r := range runs {
			runs[r] = map[int]bench.Request{}
			for i := range c.Logs {
				runs[r][i] = bench.Request{Index: i, Sent: 1, FirstToken: 1 + math.Exp(c.Logs[i][r]), LastToken: 9, OutputTokens: 2, Class: bench.OK}
			}
		}
		draw := stat.Draws(c.Seed)
		near(t, c.Metric, align(m, runs).resample(m, &draw), c.SD, 1e-8)
	}
}

func TestReachAgreesWithSciPy(t *testing.T) {
	for _, c := range readOracles(t).Designs {
		d := stat.Design{Runs: c.Runs, Base: c.Base, Sessions: c.Sessions, Interleaved: c.Interleaved, DaySD: c.DaySD}
		near(t, "reach", d.Detects(c.SD, c.Confidence, c.Power), c.Reach, 1e-8)
	}
}
