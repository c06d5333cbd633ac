package gate

import (
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// quantiles are the percentiles from which a distribution is drawn.
var quantiles = [...]struct {
	name string
	p    float64
}{{"ttft.p50", 0.50}, {"ttft.p75", 0.75}, {"ttft.p90", 0.90}, {"ttft.p95", 0.95}, {"ttft.p99", 0.99}}

// series are the curves for pictures: each side's TTFT distribution, and how late its schedule ran.
func series(pairs []*pair) []Series {
	var out []Series
	for _, x := range pairs {
		for _, s := range []*side{x.base, x.head} {
			if s == nil {
				continue
			}
			for _, curve := range []Series{s.distribution(), s.lag()} {
				if len(curve.X) > 0 {
					curve.Scenario, curve.Side, curve.Unit = x.scenario, s.name, string(bench.Seconds)
					out = append(out, curve)
				}
			}
		}
	}
	return out
}

// distribution has the geometric mean over runs of each percentile that some run has.
func (s *side) distribution() Series {
	out := Series{Name: "ttft"}
	for _, q := range quantiles {
		var values []float64
		for _, r := range s.fit {
			if v := finite(r.Metrics[q.name]); v > 0 {
				values = append(values, v)
			}
		}
		if g, err := stat.GeoMean(values); err == nil {
			out.X = append(out.X, q.p)
			out.Y = append(out.Y, stat.Round(held(g)))
		}
	}
	return out
}

// lag has the p99 of each run; it is empty when no run was ever late, as in a closed loop.
func (s *side) lag() Series {
	out := Series{Name: "lag"}
	late := false
	for _, r := range s.runs {
		v := finite(r.Client.LagP99)
		late = late || v > 0
		out.X = append(out.X, float64(r.place))
		out.Y = append(out.Y, stat.Round(v))
	}
	if !late {
		return Series{}
	}
	return out
}
