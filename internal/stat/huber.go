package stat

import (
	"math"
	"slices"
)

const (
	robustRuns = 6      // runs a side from which Huber's estimate is taken within one campaign
	manyRuns   = 15     // runs of one side beside which the other may have one less
	tuning     = 1.5    // bound of a residual's influence in standard deviations (Huber 1964)
	perMAD     = 1.4826 // standard deviations of normal noise per median absolute deviation (Hampel 1974)
	passes     = 50     // with a new scale each, and as many again with the last one
)

// huber is the fit of a model by Huber's M-estimate: a residual counts as it is up to a bound and as the bound beyond.
// Every run counts, but one that was slow by accident cannot pull the estimate further than a merely unlucky one.
type huber struct {
	model                // the same fit by least squares: sides, order, degrees of freedom
	rest      []float64  // residuals of this fit, base runs first
	bound     float64    // least absolute residual that counts as no more
	outside   int        // residuals beyond it
	tilt      []float64  // the side as far as level and order do not tell it: how delta moves each residual
	estimate  float64    // of delta
	levels    [2]float64 // of base and head at the mean order of each
	direction float64    // slope over the order; 0 without one
}

// huber fits runs, base runs first, whose least-squares fit is m. False where more than half of the residuals lie within
// floor: there is no scale then that tells a slow run from a usual one.
//
// The scale is the median absolute residual, brought to that of errors by √(n/df), and is found together with the
// coefficients by least squares on cut residuals (Huber 1981, §7.8, "modified residuals"), from a start that no few runs
// can move: medians of the sides and the median slope (Sen 1968). The path is the same however far out a cut run lies.
func (m model) huber(runs []float64, floor float64) (huber, bool) {
	n := len(runs)
	f := huber{model: m, rest: make([]float64, n)}
	f.lean()
	f.start(runs)
	sd := 0.0
	for pass := range 2 * passes {
		if pass < passes {
			sd = perMAD * medianSize(f.rest) * math.Sqrt(float64(n)/m.df)
			f.bound = tuning * math.Max(sd, floor)
		}
		f.refit(runs)
	}
	for _, r := range f.rest {
		if math.Abs(r) > f.bound {
			f.outside++
		}
	}
	f.sd = f.bound / tuning
	f.course = f.direction * m.way
	return f, sd >= floor
}

// start fits medians.
func (f *huber) start(runs []float64) {
	if f.z != nil {
		f.direction = medianSlope(runs[:f.nb], f.z[:f.nb], runs[f.nb:], f.z[f.nb:])
	}
	level := make([]float64, 0, len(runs))
	for i, y := range runs {
		level = append(level, y-f.along(i))
	}
	f.levels = [2]float64{median(level[:f.nb]), median(level[f.nb:])}
	f.settle(runs)
}

// along is the order's share of run i, from its side's mean.
func (f *huber) along(i int) float64 {
	if f.z == nil {
		return 0
	}
	return float64(f.direction * f.z[i])
}

// settle finds what levels and slope leave of the runs.
func (f *huber) settle(runs []float64) {
	f.estimate = f.levels[1] - f.levels[0] - float64(f.direction*f.lag)
	for i, y := range runs {
		level := f.levels[0]
		if i >= f.nb {
			level = f.levels[1]
		}
		f.rest[i] = y - level - f.along(i)
	}
}

// refit is a pass: what least squares make of the cut residuals is added to the fit.
func (f *huber) refit(runs []float64) {
	cut := f.moved(0)
	if f.z != nil {
		f.direction += dot(f.z, cut) / f.zz
	}
	f.levels[0] += mean(cut[:f.nb])
	f.levels[1] += mean(cut[f.nb:])
	f.settle(runs)
}

// lean finds the tilt.
func (f *huber) lean() {
	n, nb := float64(len(f.rest)), float64(f.nb)
	f.tilt = make([]float64, len(f.rest))
	place := make([]float64, len(f.rest)) // order less its mean
	for i := range f.tilt {
		side, mean := -(n-nb)/n, float64(-f.lag*(n-nb)/n)
		if i >= f.nb {
			side, mean = nb/n, float64(f.lag*nb/n)
		}
		f.tilt[i] = side
		if f.z != nil {
			place[i] = f.z[i] + mean
		}
	}
	if f.z == nil {
		return
	}
	told := dot(place, f.tilt) / dot(place, place)
	for i, p := range place {
		f.tilt[i] -= float64(told * p)
	}
}

func median(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	low, high := s[(len(s)-1)/2], s[len(s)/2]
	return low + float64((high-low)/2)
}

func medianSize(xs []float64) float64 {
	sizes := make([]float64, len(xs))
	for i, x := range xs {
		sizes[i] = math.Abs(x)
	}
	return median(sizes)
}

// medianSlope is the median of the slopes between any two runs of one side: Sen's (1968), for two lines of one slope.
func medianSlope(base, zb, head, zh []float64) float64 {
	var slopes []float64
	add := func(ys, zs []float64) {
		for i, y := range ys {
			for j := range i {
				if zs[i] != zs[j] {
					slopes = append(slopes, (y-ys[j])/(zs[i]-zs[j]))
				}
			}
		}
	}
	add(base, zb)
	add(head, zh)
	if len(slopes) == 0 {
		return 0
	}
	return median(slopes)
}
