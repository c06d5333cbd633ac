package stat

import (
	"math"
)

// interval is one method's answer: bounds of delta and the chance of so large, or so small, a one between equal sides.
// Those from a t statistic carry its standard error and degrees of freedom; others leave them zero.
type interval struct {
	low, high float64
	p, pLess  float64
	se, df    float64
}

// tInterval is delta ± t·se.
func tInterval(delta, se, df, confidence float64) interval {
	h := float64(tUpper((1-confidence)/2, df) * se)
	return interval{
		low: delta - h, high: delta + h,
		p: tTail(delta/se, df), pLess: tTail(-delta/se, df),
		se: se, df: df,
	}
}

// student is the interval of a model under normal noise of one size.
func (m *model) student(o Options) interval {
	sd, _ := m.scale(o.Floor)
	return tInterval(m.delta, sd*m.root, m.df, o.Confidence)
}

// welch lets each side have a noise of its own size (Welch 1947): without it, the noisier side with the fewer runs would
// be believed too much.
func welch(base, head []float64, o Options) interval {
	se, df := sides{
		nb: float64(len(base)), nh: float64(len(head)), base: variance(base, o.Floor), head: variance(head, o.Floor),
	}.welch()
	return tInterval(mean(head)-mean(base), se, df, o.Confidence)
}

// variance is that of xs, with floor the least sd that is believed.
func variance(xs []float64, floor float64) float64 {
	return math.Max(sumSquares(xs, mean(xs))/float64(len(xs)-1), floor*floor)
}

// cover widens i so that it covers j, and takes the weaker of their p values.
func (i interval) cover(j interval) interval {
	i.low, i.high = math.Min(i.low, j.low), math.Max(i.high, j.high)
	i.p, i.pLess = math.Max(i.p, j.p), math.Max(i.pLess, j.pLess)
	return i
}

// move shifts the bounds.
func (i interval) move(by float64) interval {
	i.low += by
	i.high += by
	return i
}
