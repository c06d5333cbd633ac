package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
	"github.com/benchgate/benchgate/internal/world"
)

// The question of the guard: may a pass be given where another look or a second stage could follow, although the estimate is
// already at the tolerance or beyond? Answered on the statistics alone.
const (
	alpha     = 0.025
	tolerance = 0.05
	ruleOut   = 0.25
)

var guardEffects = []float64{0, 0.10, 0.20, 0.25}

// looked counts how campaigns ended at one true effect.
type looked struct {
	pass, regressed, inconclusive int
	runs                          int // measured in the job, over all campaigns
}

// glance is one comparison of a campaign: what is known when runs have been measured.
type glance struct {
	stat.Comparison
	runs     int
	mayBlock bool
}

// guard prints what the guard does in every world, at reps campaigns each.
func guard(out io.Writer, worlds []world.World, reps int) error {
	levels, err := stat.Levels(interleaved.looks, alpha)
	if err != nil {
		return err
	}
	tab := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(tab, "design\tworld\tguard\tpass at +25 %%\tat +20 %%\tat +10 %%\tred at +20 %%\tred at 0\tpass at 0\tinconclusive at 0\truns at 0\n")
	for _, d := range []design{interleaved, confirm} {
		for _, w := range worlds {
			with, without, err := guarded(w, d, levels, reps)
			if err != nil {
				return err
			}
			for _, row := range []struct {
				name string
				at   []looked
			}{{"without", without}, {"with", with}} {
				share := func(n int) string { return fmt.Sprintf("%.2f", 100*float64(n)/float64(reps)) }
				r := row.at
				fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.2f\n", d.name, w.Name, row.name, share(r[3].pass), share(r[2].pass),
					share(r[1].pass), share(r[2].regressed), share(r[0].regressed), share(r[0].pass), share(r[0].inconclusive),
					float64(r[0].runs)/float64(reps))
			}
		}
	}
	return tab.Flush()
}

// guarded counts by effect, with the guard and without it. A true effect moves the interval and changes nothing else, so the
// comparisons of a campaign are made once.
func guarded(w world.World, d design, levels []float64, reps int) (with, without []looked, err error) {
	with, without = make([]looked, len(guardEffects)), make([]looked, len(guardEffects))
	for seed := range reps {
		glances, err := d.glances(d.draw(w, uint64(seed)).At(world.Effect{}), levels)
		if err != nil {
			return nil, nil, err
		}
		for i, e := range guardEffects {
			with[i].count(glances, math.Log1p(e), true)
			without[i].count(glances, math.Log1p(e), false)
		}
	}
	return with, without, nil
}

// glances are the comparisons of a campaign in the order in which they become possible.
func (d design) glances(s world.Sides, levels []float64) ([]glance, error) {
	var out []glance
	runs := d.head
	head := world.Logs(s.Head, metric)
	turns := bench.Digest{Sessions: s.Head.Sessions[len(s.Head.Sessions)-1:]}
	if d.sessions > 0 {
		plain := stat.Sample{Sessions: head.Sessions[:1], Order: head.Order[:1]}
		c, err := stat.Compare(world.Logs(s.Base, metric), plain, stat.Options{Confidence: 1 - 2*alpha, Resamples: 1999, Seed: 1})
		if err != nil {
			return nil, err
		}
		out = append(out, glance{Comparison: c, runs: runs})
	}
	reference, candidate := world.Logs(s.Reference, metric), world.Logs(turns, metric)
	for k, n := range d.looks {
		c, err := stat.Compare(first(reference, n), first(candidate, n), stat.Options{
			Confidence: 1 - 2*levels[k], Resamples: 1999, Seed: 1, SameSession: true,
		})
		if err != nil {
			return nil, err
		}
		out = append(out, glance{Comparison: c, runs: runs + 2*n, mayBlock: true})
	}
	return out, nil
}

// count replays one campaign.
func (l *looked) count(glances []glance, shift float64, guard bool) {
	tau := math.Log1p(tolerance)
	for k, c := range glances {
		last := k == len(glances)-1
		delta, low, high := c.Delta+shift, c.Low+shift, c.High+shift
		switch {
		case c.mayBlock && low > 0 && delta >= tau:
			l.regressed++
		case high < 0 && delta <= -tau: // improved
		case high < math.Log1p(ruleOut) && (last || !guard || delta < tau):
			l.pass++
		case last:
			l.inconclusive++
		default:
			continue
		}
		l.runs += c.runs
		return
	}
}

// first cuts a sample of one session to its first n values.
func first(s stat.Sample, n int) stat.Sample {
	return stat.Sample{Sessions: [][]float64{s.Sessions[0][:n]}, Order: [][]float64{s.Order[0][:n]}}
}
