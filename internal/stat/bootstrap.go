package stat

import (
	"math"
	"math/bits"
)

// bootstrap is the residual studentised bootstrap of delta (Davison & Hinkley 1997, §6.3): residuals, divided by their
// own leverage and centred, are dealt out again to the runs, and the t statistic of each deal stands in for Student's
// distribution. Oracle: testdata/vectors.json.
func (m *model) bootstrap(o Options) interval {
	t := make([]float64, o.Resamples)
	m.resample(t, m.errors(), o.Seed)
	se := m.sd * m.root
	n := len(t)
	above, below := beyond(t, m.delta/se)
	k := rank(n, o.Confidence)
	upper := smallest(t, n-k)
	lower := smallest(t[:n-k+1], k-1)
	return interval{
		low: m.delta - float64(upper*se), high: m.delta - float64(lower*se),
		p: float64(above+1) / float64(n+1), pLess: float64(below+1) / float64(n+1),
	}
}

// rank is the number of the t statistic, from 1 of n sorted ones, that bounds the interval at one end.
func rank(n int, confidence float64) int {
	k := math.Floor(float64(float64(n+1)*(1-confidence)/2) + 1e-9)
	return min(max(1, int(k)), (n+1)/2)
}

// beyond counts the values of t on either side of at. A tie counts on both; values that differ in the last digits are
// tied, so that processors agree.
func beyond(t []float64, at float64) (above, below int) {
	tie := float64(1e-10 * (1 + math.Abs(at)))
	for _, x := range t {
		if x >= at-tie {
			above++
		}
		if x <= at+tie {
			below++
		}
	}
	return above, below
}

// smallest returns the k-th smallest of xs, from 0, and leaves no larger value before it and no smaller one behind
// (Hoare 1961, "Find"). Sorting all took as long as drawing all.
func smallest(xs []float64, k int) float64 {
	for low, high := 0, len(xs)-1; low < high; {
		a, b, c := xs[low], xs[low+(high-low)/2], xs[high]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := low, high
		for i <= j {
			for xs[i] < pivot {
				i++
			}
			for xs[j] > pivot {
				j--
			}
			if i <= j {
				xs[i], xs[j] = xs[j], xs[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return xs[k]
		}
	}
	return xs[k]
}

// errors returns the residuals as they would be without the fit's pull, centred.
func (m *model) errors() []float64 {
	e := make([]float64, len(m.residuals))
	for i, r := range m.residuals {
		e[i] = r / math.Sqrt(math.Max(1-m.leverage(i), 1e-12))
	}
	c := mean(e)
	for i := range e {
		e[i] -= c
	}
	return e
}

// resample fills t with the t statistics of deals of e: draw k of deal b is number b·n + k of the sequence.
//
// It is the hot loop, so it takes sums and sums of squares in one pass. Where nearly all of the sum of squares is taken
// away again (a deal of almost equal values), the digits left would be noise, and that deal is fitted anew in two passes.
// Products are wrapped in float64 so that no processor fuses them with an addition.
func (m *model) resample(t, e []float64, seed uint64) {
	n := uint64(len(e))
	deal := make([]float64, len(e))
	for b := range t {
		var base, head, squares float64
		for i := range deal[:m.nb] {
			seed += golden
			k, _ := bits.Mul64(mix(seed), n)
			x := e[k]
			deal[i] = x
			base += x
			squares += float64(x * x)
		}
		for i := range deal[m.nb:] {
			seed += golden
			k, _ := bits.Mul64(mix(seed), n)
			x := e[k]
			deal[m.nb+i] = x
			head += x
			squares += float64(x * x)
		}
		t[b] = m.dealt(deal, base, head, squares)
	}
}

// dealt is the t statistic of a deal, from the sums of its sides and the sum of all squares.
func (m *model) dealt(deal []float64, base, head, squares float64) float64 {
	nb, nh, slope := float64(m.nb), float64(len(deal)-m.nb), 0.0
	delta := head/nh - base/nb
	rss := squares - float64(base*base)/nb - float64(head*head)/nh
	if m.z != nil {
		slope = dot(m.z, deal)
		delta -= float64(slope / m.zz * m.lag)
		rss -= float64(slope*slope) / m.zz
	}
	if rss < 1e-4*squares {
		rss = m.rss(deal, base/nb, head/nh, slope)
	}
	return m.studentise(delta, math.Sqrt(rss/m.df))
}

// rss is the residual sum of squares of a deal with the given means and Σz·e.
func (m *model) rss(deal []float64, base, head, slope float64) float64 {
	sum := 0.0
	for i, x := range deal {
		r := x - base
		if i >= m.nb {
			r = x - head
		}
		if m.z != nil {
			r -= float64(slope / m.zz * m.z[i])
		}
		sum += float64(r * r)
	}
	return sum
}

// studentise divides a deal's delta by its standard error; a deal without spread is infinitely far out, unless its delta
// is zero too.
func (m *model) studentise(delta, sd float64) float64 {
	switch least := 1e-9 * m.sd; {
	case sd > least:
		return delta / (sd * m.root)
	case math.Abs(delta) <= least:
		return 0
	default:
		return math.Copysign(math.Inf(1), delta)
	}
}
