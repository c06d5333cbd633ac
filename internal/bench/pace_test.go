package bench_test

import (
	"math"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

// played is an open loop of evenly spaced requests on a server of the given slots, each request of which takes a while.
func played(n int, rate float64, slots int, takes func(i int) float64) []bench.Request {
	free := make([]float64, slots)
	var out []bench.Request
	for i := range n {
		due := float64(i) / rate
		slot := 0
		for s := range free {
			if free[s] < free[slot] {
				slot = s
			}
		}
		free[slot] = max(due, free[slot]) + takes(i)
		out = append(out, bench.Request{Index: i, Scheduled: due, Sent: due, FirstToken: free[slot], LastToken: free[slot], End: free[slot], Class: bench.OK})
	}
	return out
}

func TestPaceTellsASaturatedServerFromASlowOne(t *testing.T) {
	for name, c := range map[string]struct {
		requests []bench.Request
		served   float64
		behind   bool
	}{
		"quick answers":                      {played(100, 10, 50, func(int) float64 { return 0.1 }), 10, false},
		"answers longer than the schedule":   {played(100, 10, 1000, func(int) float64 { return 60 }), 10, false},
		"a capacity of 4 a second":           {played(100, 10, 2, func(int) float64 { return 0.5 }), 4, true},
		"a capacity just below the rate":     {played(100, 10, 1, func(int) float64 { return 0.105 }), 9.52, false},
		"a server that fills up and settles": {played(100, 10, 50, func(i int) float64 { return min(0.5, float64(i)/40) }), 9.74, false},
		"answers that get shorter":           {played(100, 10, 50, func(i int) float64 { return 2 - float64(i)/100 }), 10, false},
	} {
		p := bench.PaceOf(c.requests, 10)
		if p == nil || math.Abs(p.Served-c.served) > 0.1 || p.Behind() != c.behind {
			t.Errorf("%s: %+v, behind %v; want %v, behind %v", name, p, p.Behind(), c.served, c.behind)
		}
	}
}

func TestPaceNeedsRequestsThatSucceeded(t *testing.T) {
	few := played(19, 10, 1, func(int) float64 { return 1 })
	if p := bench.PaceOf(few, 10); p != nil || p.Behind() {
		t.Errorf("19 requests: %v", p)
	}
	failed := played(100, 10, 1, func(int) float64 { return 1 })
	for i := range failed {
		failed[i].Class = bench.Refused
	}
	if p := bench.PaceOf(failed, 10); p != nil {
		t.Errorf("no success: %v", p)
	}
	if p := bench.PaceOf(make([]bench.Request, 100), 10); p != nil {
		t.Errorf("all at once: %v", p)
	}
}

func TestAPaceThatCannotBeIsRefused(t *testing.T) {
	for _, p := range []*bench.Pace{{Asked: -1}, {Served: math.NaN()}, {Asked: math.Inf(1)}} {
		if err := bench.CheckRun(bench.Run{Pace: p}); err == nil {
			t.Errorf("%+v: no error", *p)
		}
	}
}
