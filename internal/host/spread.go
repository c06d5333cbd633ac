package host

import "math"

// spread counts durations in buckets that grow by a fixed factor, so that hours of samples take a few kilobytes. A
// quantile of it is the upper edge of its bucket: at most 2.3 % too large, never too small.
type spread struct {
	counts [bucketsPerDouble * 32]uint64
	n      uint64
}

const (
	bucketsPerDouble = 32   // 2^(1/32) = 1.022
	smallest         = 1e-6 // seconds; all that is shorter counts as this
)

func (s *spread) add(seconds float64) {
	i := 0
	if seconds > smallest {
		i = int(math.Ceil(math.Log2(seconds/smallest) * bucketsPerDouble))
	}
	s.counts[min(i, len(s.counts)-1)]++
	s.n++
}

// p99 is the smallest edge that at least 99 of 100 samples do not exceed, in seconds; 0 without samples.
func (s *spread) p99() float64 {
	need, seen := (99*s.n+99)/100, uint64(0)
	for i, c := range s.counts {
		seen += c
		if s.n > 0 && seen >= need {
			return smallest * math.Exp2(float64(i)/bucketsPerDouble)
		}
	}
	return 0
}
