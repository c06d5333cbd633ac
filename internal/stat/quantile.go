// Package stat answers questions about samples of numbers: how large is a change, how sure is that, what could be seen.
//
// It knows no metric, no file, no clock. Every function is deterministic: what it resamples is seeded by its caller.
package stat

import (
	"errors"
	"fmt"
	"math"

	"github.com/montanaflynn/stats"
)

// ErrEmpty is returned for a statistic of nothing.
var ErrEmpty = errors.New("no values")

// Quantile returns the q-quantile, 0 ≤ q ≤ 1, by linear interpolation between order statistics at h = (n−1)q: NumPy's
// default, type 7 of Hyndman & Fan (1996). The values need no order and are left as they are.
func Quantile(xs []float64, q float64) (float64, error) {
	if len(xs) == 0 {
		return 0, ErrEmpty
	}
	if q < 0 || q > 1 || math.IsNaN(q) {
		return 0, fmt.Errorf("quantile %v is outside 0 to 1", q)
	}
	if q == 0 {
		return stats.Min(xs)
	}
	return stats.Percentile(xs, q*100)
}

// Mean returns the arithmetic mean.
func Mean(xs []float64) (float64, error) {
	if len(xs) == 0 {
		return 0, ErrEmpty
	}
	return stats.Mean(xs)
}

// GeoMean returns the geometric mean; every value must be positive.
func GeoMean(xs []float64) (float64, error) {
	if len(xs) == 0 {
		return 0, ErrEmpty
	}
	sum := 0.0
	for _, x := range xs {
		if x <= 0 {
			return 0, fmt.Errorf("geometric mean of %v: not positive", x)
		}
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(xs))), nil
}
