package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// checkNoise refuses noise that cannot have been measured.
func checkNoise(n *Noise) error {
	switch {
	case n == nil:
		return nil
	case n.Runs < 0 || n.Runs > maxCount:
		return fmt.Errorf("%d runs are out of range", n.Runs)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Metrics)) {
		m := n.Metrics[name]
		if !metricPattern.MatchString(name) {
			return fmt.Errorf("metric name %s: want what.statistic", shorten(name))
		}
		if err := notNegative(number{"sd", m.SD}, number{"workload_sd", m.Workload}, number{"order", math.Abs(m.Order)}, number{"first", math.Abs(m.First)}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
