package gate

import (
	"math"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// Prospect is how one metric of a baseline stands, and what a candidate could be told by it. Spreads are standard
// deviations on the scale on which runs are compared: logarithms, or logits of a ratio.
type Prospect struct {
	Metric bench.Metric
	// Level is the mean over the sessions: geometric for times and rates.
	Level float64
	RunSD float64 // between runs of one session
	// DaySD is how far sessions seem to differ beyond that, the prior and the sessions together; Seen is the same without
	// a prior, nil for a single session.
	DaySD float64
	Seen  *float64
	// Since is the change since the epoch began, in words; empty where it is not known.
	Since string
	// MDE80 is the smallest worsening that a candidate would be caught with four times in five, Further the same once the
	// baseline has one session more; nil where it keeps no more. Fractions, or points of a ratio.
	MDE80   float64
	Further *float64
}

// Outlook says what a baseline can see of a candidate of one session with so many runs that are as noisy as its own, for
// each metric that tells its level and that its runs have, with enough successes in each.
func Outlook(p Policy, base bench.Digest, runs int) []Prospect {
	p = p.complete()
	s := newSide("base", base)
	var out []Prospect
	for _, name := range levelMetrics {
		m, err := bench.ParseMetric(name)
		if err != nil {
			panic(err) // a name of ours
		}
		if measured := s.comparable(m); len(measured) >= leastRuns && s.fewest(m) >= m.Least {
			if x, ok := p.prospect(base, m, measured, runs); ok {
				out = append(out, x)
			}
		}
	}
	return out
}

func (p Policy) prospect(base bench.Digest, m bench.Metric, measured []placed, runs int) (Prospect, bool) {
	sample, floor := bySession(measured, m), floorOf(measured, m)
	d, err := stat.Planned(sample, runs, stat.Options{Confidence: p.Confidence, DaySD: p.DaySD, Floor: floor})
	if err != nil {
		return Prospect{}, false
	}
	k := len(sample.Sessions)
	q := &question{metric: m, comparison: &comparison{anchor: centre(sample)}}
	x := Prospect{Metric: m, Level: level(m, centre(sample)), RunSD: stat.Round(d.RunSD()), DaySD: stat.Round(d.SD()), MDE80: q.worsening(d.Detects(0, foundOften))}
	if seen, _, ok := d.Seen(); ok {
		x.Seen = &seen
	}
	if k < bench.MostSessions {
		x.Further = ptr(q.worsening(d.Detects(1, foundOften)))
	}
	if s, ok := sinceOf(base, m, d, sample); ok {
		x.Since = s.words()
	}
	return x, true
}

// level turns a mean on the scale of the analysis into the unit of the metric.
func level(m bench.Metric, y float64) float64 {
	if m.Scale == bench.Logit {
		return stat.Round(stat.Expit(y))
	}
	return stat.Round(held(math.Exp(y)))
}

// bySession are the runs of a committed baseline as the statistics see them.
func bySession(runs []placed, m bench.Metric) stat.Sample {
	var out stat.Sample
	last := -1
	for _, r := range runs {
		if r.session != last {
			last = r.session
			out.Sessions = append(out.Sessions, nil)
		}
		y, _ := value(m, r)
		k := len(out.Sessions) - 1
		out.Sessions[k] = append(out.Sessions[k], y)
	}
	return out
}
