package main

import (
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
)

func TestVisitsInTurnAreThoseThatWereAskedFor(t *testing.T) {
	asked := config.Campaign{Looks: []int{6, 8}, VisitRuns: 2}
	whole := bench.Run{Sent: 1, OK: 1}
	void := bench.Run{Sent: 1, OK: 1, Void: "late"}
	visits := func(all ...[]bench.Run) (out []bench.Visit) {
		for i, runs := range all {
			out = append(out, bench.Visit{Number: i + 1, Runs: runs})
		}
		return out
	}
	for name, c := range map[string]struct {
		s    bench.Session
		want string
	}{
		"as asked":             {bench.Session{Looks: []int{6, 8}, Visits: visits([]bench.Run{whole, whole}, []bench.Run{whole, void, whole})}, ""},
		"ended within a visit": {bench.Session{Looks: []int{6, 8}, Visits: visits([]bench.Run{whole, whole}, []bench.Run{whole})}, ""},
		"no looks are named":   {bench.Session{Visits: visits([]bench.Run{whole, whole})}, ""},
		"no visit yet":         {bench.Session{Looks: []int{6, 8}}, ""},
		"other looks":          {bench.Session{Looks: []int{4}}, "looks at [4] visits, and the rules ask for campaign.looks [6 8]"},
		"more runs a visit":    {bench.Session{Visits: visits([]bench.Run{whole, whole, whole})}, "3 valid runs in visit 1, and the rules ask for campaign.visit_runs 2"},
		"fewer in each":        {bench.Session{Visits: visits([]bench.Run{whole}, []bench.Run{whole})}, "at most 1 run a visit, and the rules ask for campaign.visit_runs 2"},
	} {
		c.s.Interleaved = true
		if got := otherPlan(c.s, asked); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
