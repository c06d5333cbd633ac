package main

import (
	"math"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/world"
)

// What a job's minutes are counted with.
const (
	runMinutes   = 1.0
	startMinutes = 2.0
)

// metric is what every gate judges.
const metric = "ttft.p95"

// design is how much is measured on both sides, and in which order.
type design struct {
	name                 string
	sessions, runs, head int   // committed: sessions of the base, runs in each, runs of the candidate
	looks                []int // interleaved: visits a side
}

var (
	committed   = design{name: "committed", sessions: 5, runs: 5, head: 5}
	interleaved = design{name: "interleaved", looks: []int{6, 8, 10}}
	confirm     = design{name: "confirm", sessions: 5, runs: 5, head: 5, looks: []int{6, 8, 10}}
)

func (d design) draw(w world.World, seed uint64) *world.Draw {
	switch {
	case d.looks == nil:
		return w.Committed(seed, d.sessions, d.runs, d.head)
	case d.sessions == 0:
		return w.Interleaved(seed, d.looks...)
	}
	return w.Confirm(seed, d.sessions, d.runs, d.head, d.looks...)
}

// size says how many runs of each side a gate may look at.
func (d design) size() (base, head int) {
	last := 0
	if d.looks != nil {
		last = d.looks[len(d.looks)-1]
	}
	return d.sessions*d.runs + last, d.head + last
}

// dataset is one comparison: a draw, and what gates want to know of it.
type dataset struct {
	draw       *world.Draw
	seed       uint64
	equal      world.Sides
	base, head []float64 // TTFT p95 of every run in the order measured, of equal builds
	pooled     []float64 // resampled ratios of the pooled p95, once they are drawn
}

func (d design) dataset(w world.World, seed uint64) *dataset {
	x := &dataset{draw: d.draw(w, seed), seed: seed}
	x.equal = x.draw.At(world.Effect{})
	history := append(values(x.equal.Base), values(x.equal.Reference)...)
	for _, s := range history {
		x.base = append(x.base, s...)
	}
	for _, s := range values(x.equal.Head) {
		x.head = append(x.head, s...)
	}
	return x
}

// sides are the digests at a true effect.
func (x *dataset) sides(effect float64) world.Sides {
	if effect == 0 {
		return x.equal
	}
	return x.draw.At(world.Effect{TTFT: effect})
}

// values are the metric's values, session by session.
func values(d bench.Digest) [][]float64 {
	var out [][]float64
	for _, s := range d.Sessions {
		var of []float64
		for _, r := range s.Runs() {
			of = append(of, r.Metrics[metric])
		}
		out = append(out, of)
	}
	return out
}

func logs(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = math.Log(x)
	}
	return out
}

func times(xs []float64, by float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = x * by
	}
	return out
}

func mean(xs []float64) float64 {
	total := 0.0
	for _, x := range xs {
		total += x
	}
	return total / float64(len(xs))
}
