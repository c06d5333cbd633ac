package stat

import "math"

// maxArrangements is the most arrangements that are listed.
const maxArrangements = 20_000

// permutation is the exact one-sided p value of the difference of means: the share of all ways to call len(head) of the
// runs "head" whose difference is at least the one seen (Fisher 1935, §21). False when there are too many ways.
func permutation(base, head []float64) (p float64, ok bool) {
	ways := choose(len(base)+len(head), len(head))
	if ways == 0 {
		return 0, false
	}
	all := make([]float64, 0, len(base)+len(head))
	size, seen := 0.0, 0.0
	for _, y := range head {
		all = append(all, y-head[0])
		seen += y - head[0]
		size += math.Abs(y)
	}
	for _, y := range base {
		all = append(all, y-head[0])
		size += math.Abs(y)
	}
	tie := float64(1e-12 * size) // equal runs give equal sums but for rounding
	return float64(atLeast(all, len(head), seen-tie)) / float64(ways), true
}

// atLeast counts the subsets of k of xs whose sum is at least least.
func atLeast(xs []float64, k int, least float64) int {
	if k == 0 {
		if least <= 0 {
			return 1
		}
		return 0
	}
	n := 0
	for i := range len(xs) - k + 1 {
		n += atLeast(xs[i+1:], k-1, least-xs[i])
	}
	return n
}

// choose is n over k, or 0 beyond maxArrangements.
func choose(n, k int) int {
	c := 1
	for i := 1; i <= min(k, n-k); i++ {
		c = c * (n - min(k, n-k) + i) / i
		if c > maxArrangements {
			return 0
		}
	}
	return c
}
