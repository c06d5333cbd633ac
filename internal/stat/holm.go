package stat

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts one-sided p values of a family for having been asked together: comparing the adjusted values with a level
// keeps the chance of any false alarm in the family below it, however they depend on each other (Holm 1979). The result
// has the order of p; a value that is not a chance counts as 1.
func Holm(p []float64) []float64 {
	byValue := make([]int, len(p))
	chance := make([]float64, len(p))
	for i, x := range p {
		byValue[i] = i
		chance[i] = 1
		if x >= 0 && x < 1 {
			chance[i] = x
		}
	}
	slices.SortStableFunc(byValue, func(i, j int) int { return cmp.Compare(chance[i], chance[j]) })
	adjusted := make([]float64, len(p))
	least := 0.0
	for rank, i := range byValue {
		least = math.Max(least, math.Min(1, chance[i]*float64(len(p)-rank)))
		adjusted[i] = least
	}
	return adjusted
}

// SmallestDetectable is the true change that a two-sided comparison at this confidence finds with the given power,
// 0.5 ≤ power < 1, on the scale of the analysis: se·(t(1−(1−confidence)/2) + t(power)). SE and DF are a [Comparison]'s.
func SmallestDetectable(se, df, confidence, power float64) float64 {
	if !(se >= 0 && df > 0 && confidence > 0 && confidence < 1 && power > 0 && power < 1) {
		return math.Inf(1)
	}
	return Round(se * (tUpper((1-confidence)/2, df) + tQuantile(power, df)))
}
