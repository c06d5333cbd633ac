// Package world draws measurements of builds whose true difference is known.
//
// A [World] says how chance treats requests, runs and days. From a seed it draws a [Draw]: everything that chance did to both
// sides of one comparison. [Draw.At] then measures that draw at a true effect, so that a gate can be put through the same
// chance at every effect. Nothing here was measured on a real server, and the digests say so. It is for tests and for the
// commands under bench/, never for the program.
package world

import (
	"fmt"
	"slices"
)

// World says how equal builds differ. Spreads are standard deviations of logarithms. The zero value has no noise between
// runs: only its requests differ.
type World struct {
	Name string
	// Run is the spread of a whole run. Tail, when positive, draws it from Student's t with so many degrees of freedom,
	// scaled to the same spread.
	Run  float64
	Tail int
	// Queue serves requests by eight servers at load 0.75, so that TTFT p95 is mostly waiting. Otherwise TTFT is lognormal.
	Queue bool
	// Outlier is the chance of a run to be slower by a factor between OutlierLow and OutlierHigh.
	Outlier, OutlierLow, OutlierHigh float64
	// Head multiplies Run on the candidate's side; 0 means 1.
	Head float64
	// Day is the spread between sessions.
	Day float64
	// Drift is how much slower each run of a session is than the one before it.
	Drift float64
	// Slow is the spread of a slow wave through a session, and Memory the correlation of neighbouring runs in it.
	Slow, Memory float64
	// Requests of a run; 0 means 100.
	Requests int
	// Scenario names the digests; empty means "world".
	Scenario string
}

// all lists the worlds that every gate is put through.
var all = []World{
	{Name: "quiet", Run: 0.05},
	{Name: "quiet_outlier", Run: 0.05, Outlier: 1.0 / 8, OutlierLow: 1.4, OutlierHigh: 1.8},
	{Name: "typical", Run: 0.10},
	{Name: "noisy", Run: 0.15},
	{Name: "queue", Run: 0.03, Queue: true},
	{Name: "outlier", Run: 0.10, Outlier: 1.0 / 12, OutlierLow: 1.4, OutlierHigh: 1.4},
	{Name: "heavy", Run: 0.10, Tail: 3},
	{Name: "hetero", Run: 0.10, Head: 2},
	{Name: "drift", Run: 0.08, Drift: 0.01},
	{Name: "slow", Run: 0.06, Slow: 0.08, Memory: 0.8},
	{Name: "day05", Run: 0.10, Day: 0.05},
	{Name: "day10", Run: 0.10, Day: 0.10},
}

// All returns the worlds that every gate is put through, from quiet to troubled.
func All() []World { return slices.Clone(all) }

// Named returns one of [All].
func Named(name string) (World, error) {
	for _, w := range all {
		if w.Name == name {
			return w, nil
		}
	}
	var names []string
	for _, w := range all {
		names = append(names, w.Name)
	}
	return World{}, fmt.Errorf("unknown world %q; there are %v", name, names)
}

func (w World) requests() int {
	if w.Requests > 0 {
		return w.Requests
	}
	return 100
}

func (w World) scenario() string {
	if w.Scenario != "" {
		return w.Scenario
	}
	return "world"
}
