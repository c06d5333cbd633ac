package stat

import (
	"math"
	"slices"
)

// rounding is the share of the largest value below which a difference may be the rounding of equal values.
const rounding = 1e-12

// fewestForModes is the least number of values in which two groups can be seen.
const fewestForModes = 8

// modeLimits is, for n values of one mode, the share of their sum of squares that lies within the best two groups once in
// fifty samples: the smallest of normal, uniform and exponential values, by simulation. Between the sizes the smaller one
// holds. From testdata/patterns.json.
var modeLimits = []struct {
	n     int
	share float64
}{
	{8, 0.0543},
	{9, 0.0631},
	{10, 0.0707},
	{11, 0.0784},
	{12, 0.0870},
	{13, 0.0919},
	{14, 0.0979},
	{15, 0.1029},
	{16, 0.1077},
	{17, 0.1115},
	{18, 0.1155},
	{19, 0.1188},
	{20, 0.1219},
	{21, 0.1251},
	{22, 0.1280},
	{23, 0.1304},
	{24, 0.1330},
	{25, 0.1354},
	{26, 0.1378},
	{27, 0.1398},
	{28, 0.1415},
	{29, 0.1434},
	{30, 0.1450},
	{40, 0.1593},
	{60, 0.1756},
}

// TwoModes reports whether values fall into two groups, as the runs of a machine with two clocks do. It splits the sorted
// values where the sum of squares within both parts is least, each part more than a quarter of the values, so that a few
// runs far out are no group; and says yes when that sum is a smaller share of the whole than one mode leaves in 2 % of
// samples (Engelman & Hartigan 1969). Always false below 8 values. Oracle: testdata/patterns.json.
//
// False alarms are at most 2 % for uniform and exponential values, below 1 % for normal ones; where one run in eight is
// slow by half, 4 to 8 % of small samples look like two groups, and nearly are. Two equal groups, six of their standard
// deviations apart, are seen in 34 % of samples of 8, 45 % of 10, 93 % of 25.
func TwoModes(runs []float64) bool {
	if len(runs) < fewestForModes || finite(runs) != nil {
		return false
	}
	within, all := bestSplit(runs)
	if math.Sqrt(all) <= rounding*largest(runs) {
		return false
	}
	limit := 0.0
	for _, l := range modeLimits {
		if l.n <= len(runs) {
			limit = l.share
		}
	}
	return within < limit*all
}

// bestSplit is the least sum of squares within two groups of more than a quarter of the values each, and the sum without groups.
func bestSplit(runs []float64) (within, all float64) {
	sorted := slices.Sorted(slices.Values(runs))
	n := len(sorted)
	least := n/4 + 1
	all = sumSquares(sorted, mean(sorted))
	within = all
	for k := least; k <= n-least; k++ {
		low, high := sorted[:k], sorted[k:]
		within = math.Min(within, sumSquares(low, mean(low))+sumSquares(high, mean(high)))
	}
	return within, all
}

// FirstSlow compares the first run of each session, or visit, with the rest of it; values are on the scale of the analysis
// and larger is worse. Excess is the estimate of a least-squares fit with one level a session and one effect of being
// first, 0 when no session has two runs. Slow says that the effect is above 0 at a one-sided 1 % (Student's t), which
// needs at least one run more than the fit has numbers. In a single session a rare slow run that happens to come first
// looks the same; several sessions tell them apart. Oracle: testdata/patterns.json.
func FirstSlow(sessions [][]float64) (excess float64, slow bool) {
	var first []contrast
	weight, rss, df, size := 0.0, 0.0, -1.0, 0.0
	for _, runs := range sessions {
		if len(runs) < 2 || finite(runs) != nil {
			continue
		}
		rest := runs[1:]
		m := mean(rest)
		c := contrast{runs[0] - m, float64(len(rest)) / float64(len(runs))}
		first = append(first, c)
		excess += float64(c.weight * c.by)
		weight += c.weight
		rss += sumSquares(rest, m)
		df += float64(len(rest))
		size = math.Max(size, largest(runs))
	}
	if len(first) == 0 {
		return 0, false
	}
	excess /= weight
	for _, c := range first {
		rss += float64(c.weight * (c.by - excess) * (c.by - excess))
	}
	if df <= 0 || excess <= rounding*size {
		return excess, false
	}
	return excess, float64(tUpper(0.01, df)*math.Sqrt(rss/df/weight)) < excess
}

// contrast is how much the first run of a session exceeds the mean of the rest; its variance is that of a run over weight.
type contrast struct{ by, weight float64 }

// Outlying returns the indices, rising, of values far from the others: the generalised extreme Studentised deviate test
// (Rosner 1983) for at most a quarter of the values, one at least. Of normal samples of 5 to 25 values it names a run in 2
// to 3 %; a run 1.6 times slower where others scatter by 5, 7 or 9 % it finds in 64, 36 and 21 % of samples of 5, in 100,
// 91 and 67 % of 10. Median and MAD with limits of the same false-alarm rate found 28, 15 and 10 % of 5. It only names:
// nothing is to be dropped for it. Nil below 4 values. Oracle: testdata/patterns.json.
func Outlying(runs []float64) []int {
	if len(runs) < 4 || finite(runs) != nil {
		return nil
	}
	rest := make([]int, len(runs))
	for i := range rest {
		rest[i] = i
	}
	least := rounding * largest(runs)
	var out []int
	named := 0
	for range max(1, len(runs)/4) {
		at, deviate := extreme(runs, rest, least)
		out = append(out, rest[at])
		n := len(rest)
		rest = slices.Delete(rest, at, at+1)
		if deviate > deviateLimit(n) {
			named = len(out)
		}
	}
	return slices.Sorted(slices.Values(out[:named]))
}

// extreme finds the value farthest from the mean of those at the given indices, in standard deviations. Of two equally
// far the larger counts. Values that differ by rounding alone have no deviate.
func extreme(runs []float64, indices []int, least float64) (at int, deviate float64) {
	xs := make([]float64, len(indices))
	for i, k := range indices {
		xs[i] = runs[k]
	}
	m := mean(xs)
	sd := math.Sqrt(sumSquares(xs, m) / float64(len(xs)-1))
	far := math.Inf(-1)
	for i, x := range xs {
		d := math.Abs(x - m)
		tie := math.Abs(d-far) <= 1e-9*d
		if d > far && !tie || tie && x > xs[at] {
			far, at = d, i
		}
	}
	if sd <= least {
		return at, 0
	}
	return at, far / sd
}

// outlyingLevel is the chance of naming a run of a normal sample, each step of Rosner's test by itself.
const outlyingLevel = 0.02

// deviateLimit is Rosner's critical value for the most extreme of n values: his equation 2.5, two-sided.
func deviateLimit(n int) float64 {
	df := float64(n - 2)
	t := tUpper(outlyingLevel/float64(2*n), df)
	return float64(n-1) * t / math.Sqrt((df+float64(t*t))*float64(n))
}

// largest is the largest magnitude.
func largest(xs []float64) float64 {
	m := 0.0
	for _, x := range xs {
		m = math.Max(m, math.Abs(x))
	}
	return m
}
