package world

import (
	"math"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// Logs turns one side into what the statistics compare: the logarithm of a metric, run by run, with the runs' places.
func Logs(d bench.Digest, metric string) stat.Sample {
	var out stat.Sample
	for _, s := range d.Sessions {
		var ys, order []float64
		for _, r := range s.Runs() {
			ys = append(ys, math.Log(r.Metrics[metric]))
			order = append(order, float64(r.Order))
		}
		out.Sessions, out.Order = append(out.Sessions, ys), append(out.Order, order)
	}
	return out
}
