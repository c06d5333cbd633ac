package stat

import (
	"fmt"
	"math"
	"slices"
)

// model is the least-squares fit of y = level + delta·(head) [+ slope·order] + noise. The order is taken as its
// difference z from its side's mean (Frisch & Waugh 1933), so that three sums replace the normal equations: a resample
// costs one pass over the runs, whatever the model.
type model struct {
	residuals []float64 // base runs, then head runs
	nb        int       // how many of them are base runs
	z         []float64 // order less its side's mean; nil without a trend
	zz        float64   // Σz²
	lag       float64   // mean order of head less that of base
	delta     float64
	way       float64 // from the first place to the last; 0 without a trend
	course    float64 // slope times the way; 0 without a trend
	sd        float64 // residual standard deviation
	df        float64
	root      float64 // standard error of delta per unit of residual sd
}

// fit fits both sides' runs; order is nil or each run's place, base runs first.
func fit(base, head, order []float64) (model, error) {
	nb, nh := len(base), len(head)
	m := model{nb: nb, df: float64(nb + nh - 2), residuals: make([]float64, 0, nb+nh)}
	mb, mh := mean(base), mean(head)
	for _, y := range base {
		m.residuals = append(m.residuals, y-mb)
	}
	for _, y := range head {
		m.residuals = append(m.residuals, y-mh)
	}
	m.delta = mh - mb
	v := 1/float64(nb) + 1/float64(nh)
	if order != nil {
		if err := m.trend(order); err != nil {
			return model{}, err
		}
		v += float64(m.lag*m.lag) / m.zz
	}
	m.sd = math.Sqrt(sumSquares(m.residuals, 0) / m.df)
	m.root = math.Sqrt(v)
	return m, nil
}

// trend takes the order's share out of the residuals and of delta.
func (m *model) trend(order []float64) error {
	mb, mh := mean(order[:m.nb]), mean(order[m.nb:])
	m.lag = mh - mb
	m.z = make([]float64, len(order))
	for i, o := range order {
		m.z[i] = o - mb
		if i >= m.nb {
			m.z[i] = o - mh
		}
	}
	m.zz = sumSquares(m.z, 0)
	if r := m.confounding(); !(math.Abs(r) <= maxConfounding) {
		return fmt.Errorf("correlation of order and side is %.2g, at most ±%v is allowed: %w", r, maxConfounding, ErrOrder)
	}
	slope := dot(m.z, m.residuals) / m.zz
	for i, z := range m.z {
		m.residuals[i] -= float64(slope * z)
	}
	m.delta -= float64(slope * m.lag)
	m.way = slices.Max(order) - slices.Min(order)
	m.course = slope * m.way
	m.df--
	return nil
}

// maxConfounding is the largest correlation of order and side at which a trend is told from a change.
const maxConfounding = 0.5

// confounding is the correlation of order and side; NaN when the order does not vary.
func (m *model) confounding() float64 {
	nb, nh := float64(m.nb), float64(len(m.z)-m.nb)
	between := float64(m.lag*m.lag) * nb * nh / (nb + nh)
	if between+m.zz == 0 || m.zz == 0 {
		return math.NaN()
	}
	return math.Copysign(math.Sqrt(between/(between+m.zz)), m.lag)
}

// scale is the believed sd between runs: the residual one, but at least floor. Below it the fit is degenerate.
func (m *model) scale(floor float64) (sd float64, degenerate bool) {
	if m.sd < floor {
		return floor, true
	}
	return m.sd, false
}

// leverage is the share of run i's own value in its fit.
func (m *model) leverage(i int) float64 {
	h := 1 / float64(m.nb)
	if i >= m.nb {
		h = 1 / float64(len(m.residuals)-m.nb)
	}
	if m.z != nil {
		h += float64(m.z[i]*m.z[i]) / m.zz
	}
	return h
}

func dot(xs, ys []float64) float64 {
	sum := 0.0
	for i, x := range xs {
		sum += float64(x * ys[i])
	}
	return sum
}
