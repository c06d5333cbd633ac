package stat

import (
	"math"

	"github.com/aclements/go-moremath/mathx"
)

// maxDF caps degrees of freedom. Beyond it the incomplete beta function converges slowly and Student's distribution is
// the normal one to four digits; the capped interval is the wider of the two.
const maxDF = 1e4

// tTail returns P(T > t) for Student's t with df > 0 degrees of freedom: Abramowitz & Stegun (1964), 26.7.1, by the
// incomplete beta function. Relative error below 1e-10, also far out; oracle: testdata/oracles.json.
func tTail(t, df float64) float64 {
	df = math.Min(df, maxDF)
	if math.IsNaN(t) || math.IsNaN(df) {
		return math.NaN()
	}
	if t < 0 {
		return 1 - tTail(-t, df)
	}
	if t < 1 { // the middle by its complement, where 1 − x keeps its digits
		return 0.5 - float64(0.5*mathx.BetaInc(t*t/(df+float64(t*t)), 0.5, df/2))
	}
	// df/(df + t²), written so that t² may overflow.
	return 0.5 * mathx.BetaInc(1/(1+float64(t/df*t)), df/2, 0.5)
}

// fTail returns P(F > x) for Fisher's F: Abramowitz & Stegun (1964), 26.6.2. An infinite or no second count of degrees of
// freedom means that the variance below is known. Oracle: testdata/days.json.
func fTail(x, df1, df2 float64) float64 {
	if !(df2 > 0 && df2 < maxDF) {
		df2 = maxDF
	}
	return mathx.BetaInc(1/(1+x*df1/df2), df2/2, df1/2)
}

// tDensity is the derivative of −tTail.
func tDensity(t, df float64) float64 {
	df = math.Min(df, maxDF)
	a, _ := math.Lgamma((df + 1) / 2)
	b, _ := math.Lgamma(df / 2)
	return math.Exp(a - b - float64(0.5*math.Log(df*math.Pi)) - float64(0.5*(df+1)*math.Log1p(t*t/df)))
}

// tQuantile returns the t below which Student's distribution holds the share p, 0 < p < 1. moremath's own inversion stops
// at five digits; this one takes Newton's steps on the tail inside a bracket that always holds the answer.
func tQuantile(p, df float64) float64 {
	if p < 0.5 {
		return -tQuantile(1-p, df) // callers ask for the upper half; 1 − p is exact enough here
	}
	return tUpper(1-p, df)
}

// tUpper returns the t ≥ 0 with P(T > t) = q, 0 < q ≤ ½.
func tUpper(q, df float64) float64 {
	if q == 0.5 {
		return 0
	}
	low, high := 0.0, 1.0
	for tTail(high, df) > q {
		low, high = high, 2*high
	}
	t := low
	for range 200 {
		next := t + (tTail(t, df)-q)/tDensity(t, df)
		if !(next > low && next < high) {
			next = low + float64((high-low)/2)
		}
		if math.Abs(next-t) <= 1e-15*next || next == low || next == high {
			return next
		}
		t = next
		if tTail(t, df) > q {
			low = t
		} else {
			high = t
		}
	}
	return t
}
