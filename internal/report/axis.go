package report

import (
	"math"

	"github.com/benchgate/benchgate/internal/gate"
)

// axis maps worsenings to places from 0 (left, better) to 1 (right, worse), on a logarithmic scale: twice as slow lies as
// far from no change as twice as fast.
type axis struct{ low, high float64 }

// What an axis shows at most: beyond, an interval is cut and an arrow says so. And at least.
const (
	farLeft, farRight   = -0.80, 9.0
	nearLeft, nearRight = -0.10, 0.10
)

// axisOf holds every interval and every line of the findings that were compared.
func axisOf(findings []gate.Finding) axis {
	a := axis{nearLeft, nearRight}
	for _, f := range findings {
		if f.Change == nil {
			continue
		}
		a.low = math.Min(a.low, f.Change.WorseLow)
		a.high = math.Max(a.high, f.Change.WorseHigh)
		for _, line := range []*float64{f.Tolerance, f.RuleOut} {
			if line != nil {
				a.high = math.Max(a.high, *line)
			}
		}
	}
	a.low, a.high = math.Max(a.low, farLeft), math.Min(a.high, farRight)
	margin := 0.04 * (math.Log1p(a.high) - math.Log1p(a.low))
	return axis{math.Log1p(a.low) - margin, math.Log1p(a.high) + margin}
}

// at is the place of a worsening; outside 0 to 1 it is not shown.
func (a axis) at(worse float64) float64 {
	if worse <= -1 {
		return math.Inf(-1)
	}
	return (math.Log1p(worse) - a.low) / (a.high - a.low)
}

// clip is the place, moved to the nearest edge when outside; cut says that it was.
func (a axis) clip(worse float64) (at float64, cut bool) {
	at = a.at(worse)
	return math.Min(1, math.Max(0, at)), at < 0 || at > 1
}

// ticks are round worsenings no closer to each other than the gap, no change always among them.
func (a axis) ticks(gap float64) []float64 {
	out := []float64{0}
	for _, round := range []float64{0.05, 0.10, 0.25, 0.50, 1, 2, 4, 8} {
		if at := a.at(round); at < 1-gap/3 && at-a.at(out[len(out)-1]) >= gap {
			out = append(out, round)
		}
	}
	last := a.at(0)
	for _, round := range []float64{-0.05, -0.10, -0.20, -0.30, -0.50, -0.70} {
		if at := a.at(round); at > gap/3 && last-at >= gap {
			out = append(out, round)
			last = at
		}
	}
	return out
}
