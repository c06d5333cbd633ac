package stat

import (
	"math"
	"math/bits"
	"slices"
)

// bootstrap is the residual studentised bootstrap of delta (Davison & Hinkley 1997, §6.3): residuals, divided by their
// own leverage and centred, are dealt out again to the runs, and the t statistic of each deal stands in for Student's
// distribution. Oracle: testdata/vectors.json.
func (m *model) bootstrap(o Options) interval {
	t := make([]float64, o.Resamples)
	m.resample(t, m.errors(), o.Seed)
	se := m.sd * m.root
	at := m.delta / se
	above, below := 1, 1
	for _, x := range t {
		if x >= at {
			above++
		}
		if x <= at {
			below++
		}
	}
	n := len(t)
	k := max(1, int(math.Floor(float64(n+1)*(1-o.Confidence)/2+1e-9)))
	k = min(k, (n+1)/2)
	slices.Sort(t)
	return interval{
		low:  m.delta - float64(t[n-k]*se),
		high: m.delta - float64(t[k-1]*se),
		p:    float64(above) / float64(n+1), pLess: float64(below) / float64(n+1),
	}
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
	nb, nh := float64(m.nb), float64(len(e)-m.nb)
	for b := range t {
		var base, head, squares, slope float64
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
		delta := head/nh - base/nb
		rss := squares - float64(base*base)/nb - float64(head*head)/nh
		if m.z != nil {
			slope = dot(m.z, deal)
			delta -= float64(slope/m.zz) * m.lag
			rss -= float64(slope*slope) / m.zz
		}
		if rss < 1e-4*squares {
			rss = m.rss(deal, base/nb, head/nh, slope)
		}
		t[b] = m.studentise(delta, math.Sqrt(rss/m.df))
	}
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
			r -= float64(slope/m.zz) * m.z[i]
		}
		sum += float64(r * r)
	}
	return sum
}

// studentise divides a deal's delta by its standard error; a deal without spread is infinitely far out, unless its delta
// is zero too.
func (m *model) studentise(delta, sd float64) float64 {
	switch least := 1e-12 * m.sd; {
	case sd > least:
		return delta / (sd * m.root)
	case math.Abs(delta) <= least:
		return 0
	default:
		return math.Copysign(math.Inf(1), delta)
	}
}
