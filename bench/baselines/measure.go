package main

import (
	"math"
	"slices"
	"strconv"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/world"
)

const (
	runs      = 5    // in a session of the baseline
	runSpread = 0.10 // of a whole run; with that of its 100 requests TTFT p95 has a log-sd of 0.125
	tolerance = 0.05
)

// effects are the true changes at which power is counted.
var effects = []float64{0.10, 0.20, 0.30}

// cell is one baseline in one kind of place, and a candidate.
type cell struct {
	sessions int
	day      float64 // sd between days
	head     int     // runs of the candidate
}

// row is what came out of one cell: shares of its comparisons.
type row struct {
	Sessions   int     `json:"sessions"`
	Runs       int     `json:"runs"`
	Head       int     `json:"head"`
	DaySD      float64 `json:"day_sd"`
	Reps       int     `json:"reps"`
	FalseBlock float64 `json:"false_block"` // equal builds that are called regressed
	SE         float64 `json:"se"`          // its Monte Carlo error
	// Power maps a true worsening in percent to the share that is called regressed.
	Power        map[string]float64 `json:"power"`
	Pass         float64            `json:"pass"` // of equal builds, as are the next two
	Inconclusive float64            `json:"inconclusive"`
	Improved     float64            `json:"improved"`
	MDE80        float64            `json:"mde80"` // median of what verdicts say of themselves
}

func (c cell) world() world.World { return world.World{Name: "typical", Run: runSpread, Day: c.day} }

// measure decides so many comparisons of equal builds. A true effect multiplies every time to the first token of the
// candidate, so it moves the interval and nothing else: power follows from the same decisions.
func measure(c cell, reps int) row {
	r := row{Sessions: c.sessions, Runs: runs, Head: c.head, DaySD: c.day, Reps: reps, Power: map[string]float64{}}
	var found []float64
	share := 1 / float64(reps)
	for seed := range reps {
		f := decide(c, uint64(seed), 0)
		found = append(found, *f.MDE80)
		switch f.Outcome {
		case gate.Regressed:
			r.FalseBlock += share
		case gate.Improved:
			r.Improved += share
		case gate.Pass:
			r.Pass += share
		default:
			r.Inconclusive += share
		}
		for _, e := range effects {
			if caught(f, e) {
				r.Power[percent(e)] += share
			}
		}
	}
	slices.Sort(found)
	r.MDE80 = digits(found[len(found)/2], 3)
	r.SE = digits(math.Sqrt(r.FalseBlock*(1-r.FalseBlock)/float64(reps)), 4)
	for _, x := range []*float64{&r.FalseBlock, &r.Improved, &r.Pass, &r.Inconclusive} {
		*x = digits(*x, 4)
	}
	for k, x := range r.Power {
		r.Power[k] = digits(x, 4)
	}
	return r
}

// decide is the verdict of the product on one draw, at a true effect.
func decide(c cell, seed uint64, effect float64) gate.Finding {
	s := c.world().Committed(seed, c.sessions, runs, c.head).At(world.Effect{TTFT: effect})
	p := gate.Defaults()
	p.Rules = p.Rules[:1] // the primary alone
	return gate.Decide(p, []bench.Digest{s.Base}, []bench.Digest{s.Head}).Findings[0]
}

// caught says what the decision would have been had the candidate been slower by so much.
func caught(f gate.Finding, effect float64) bool {
	by := 1 + effect
	return f.Change.Low*by > 1 && f.Change.Ratio*by >= 1+tolerance
}

func percent(e float64) string { return strconv.Itoa(int(math.Round(e * 100))) }

func digits(x float64, n int) float64 {
	scale := math.Pow10(n)
	return math.Round(x*scale) / scale
}
