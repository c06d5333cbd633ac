package stat

import (
	"math"
	"math/bits"
	"slices"
)

// The interval holds each delta that a test does not refuse. For a supposed delta the residuals are those of the fit,
// moved by what it differs from the estimate; they are cut at the bound and compared by Student's t statistic. That is
// the score test of Huber's estimate (Sen 1982, "On M-tests in linear models"). Its distribution is had by dealing the cut
// residuals to the runs anew, each to one run (Freedman & Lane 1983): the deals of a permutation test.
//
// Two things keep the level with few runs (measured: TestRareSlowRuns). Where g residuals are cut, the statistic is
// compared as one with g fewer degrees of freedom (Tukey & McLaughlin 1963, for cut samples), and never with less than
// Student's quantile for these.

// between finds the interval of a robust fit. Where the sides differ in number, the test is also Welch's, on the same cut
// residuals: a noisier side with fewer runs would be believed too much.
func (f *huber) between(o Options) interval {
	t := make([]float64, o.Resamples)
	cut := f.moved(0)
	f.shuffle(t, slices.Clone(cut), o.Seed)
	out := f.standard(cut, o)
	df, level := f.left(), (1-o.Confidence)/2
	k := rank(len(t), 1-2*f.stricter(level))
	least := tUpper(level, df)
	high := math.Max(least, smallest(t, len(t)-k))
	low := math.Max(least, -smallest(t[:len(t)-k+1], k-1))
	out.low = f.estimate - f.refused(high, level, 1, o)
	out.high = f.estimate + f.refused(low, level, -1, o)

	at := f.t(f.moved(f.estimate))
	above, below := beyond(t, at)
	n := float64(len(t) + 1)
	out.p = math.Max(f.weaker(float64(above+1)/n), tTail(at, df))
	out.pLess = math.Max(f.weaker(float64(below+1)/n), tTail(-at, df))
	if f.uneven() {
		delta, se, df := f.welch(f.moved(f.estimate), o)
		out.p, out.pLess = math.Max(out.p, tTail(delta/se, df)), math.Max(out.pLess, tTail(-delta/se, df))
	}
	return out
}

// uneven says whether the test is Welch's too. With an order each side's noise cannot be told apart so simply; the order
// makes sides of nearly one size.
func (f *huber) uneven() bool { return f.z == nil && 2*f.nb != len(f.rest) }

// left are the degrees of freedom when each cut residual takes one.
func (f *huber) left() float64 { return math.Max(1, f.df-float64(f.outside)) }

// weaker turns a p value of deals into that of the same t statistic on the degrees of freedom that are left.
func (f *huber) weaker(p float64) float64 {
	if f.outside == 0 || p >= 0.5 {
		return p
	}
	return tTail(tUpper(p, f.df), f.left())
}

// stricter is the inverse of weaker.
func (f *huber) stricter(level float64) float64 {
	if f.outside == 0 {
		return level
	}
	return tTail(tUpper(level, f.left()), f.df)
}

// moved are the cut residuals for a delta that is smaller than the estimate by so much.
func (f *huber) moved(by float64) []float64 {
	cut := make([]float64, len(f.rest))
	for i, r := range f.rest {
		cut[i] = math.Max(-f.bound, math.Min(f.bound, r+float64(by*f.tilt[i])))
	}
	return cut
}

// t is Student's statistic of the side for values in the place of the runs.
func (f *huber) t(values []float64) float64 {
	delta, slope := f.contrast(values)
	rss := f.rss(values, mean(values[:f.nb]), mean(values[f.nb:]), slope)
	return f.studentise(delta, math.Sqrt(rss/f.df))
}

// contrast is the least-squares delta of values, and Σz·value.
func (f *huber) contrast(values []float64) (delta, slope float64) {
	delta = mean(values[f.nb:]) - mean(values[:f.nb])
	if f.z != nil {
		slope = dot(f.z, values)
		delta -= float64(slope / f.zz * f.lag)
	}
	return delta, slope
}

// welch is the contrast of values with Welch's error and degrees of freedom.
func (f *huber) welch(values []float64, o Options) (delta, se, df float64) {
	w := welch(values[:f.nb], values[f.nb:], o)
	delta, _ = f.contrast(values)
	return delta, w.se, w.df
}

// standard is the error of the estimate (Huber 1981, §7.6): that of the cut residuals' contrast, divided by how much of a
// small change they pass on. Where the sides differ in number, Welch's if that makes the wider interval.
func (f *huber) standard(cut []float64, o Options) interval {
	passed, all := 0.0, 0.0
	for i, x := range f.tilt {
		all += float64(x * x)
		if math.Abs(f.rest[i]) <= f.bound {
			passed += float64(x * x)
		}
	}
	_, slope := f.contrast(cut)
	rss := f.rss(cut, mean(cut[:f.nb]), mean(cut[f.nb:]), slope)
	out := interval{se: math.Sqrt(rss/f.df) * f.root, df: f.left()}
	if f.uneven() {
		_, se, df := f.welch(cut, o)
		if q := (1 - o.Confidence) / 2; float64(se*tUpper(q, df)) > float64(out.se*tUpper(q, out.df)) {
			out.se, out.df = se, df
		}
	}
	out.se *= all / math.Max(passed, all/float64(len(f.rest)))
	return out
}

// refused is how far from the estimate, on one side, the deltas begin that the test refuses; infinite where there are
// none. The search starts from the same place and halves the same distances at any confidence, so that the interval of a
// higher one is never the narrower.
func (f *huber) refused(critical, level, sign float64, o Options) float64 {
	refuses := func(by float64) bool {
		cut := f.moved(float64(sign * by))
		if !(float64(sign*f.t(cut)) > critical) {
			return false
		}
		if !f.uneven() {
			return true
		}
		delta, se, df := f.welch(cut, o)
		return tTail(float64(sign*delta/se), df) < level
	}
	high := f.sd * f.root / 8
	for far := f.far(); !refuses(high); high *= 2 {
		if high > far {
			return math.Inf(1)
		}
	}
	low := 0.0
	for range 60 {
		middle := low + float64((high-low)/2)
		if refuses(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// far is a distance at which nearly every residual is cut.
func (f *huber) far() float64 {
	most, least := 0.0, math.Inf(1)
	for i, r := range f.rest {
		most = math.Max(most, math.Abs(r))
		least = math.Min(least, math.Abs(f.tilt[i]))
	}
	return (most + f.bound) / math.Max(least, 1e-3)
}

// shuffle fills t with the t statistics of deals of e, each value to one run, and leaves e dealt. It is a hot loop like
// resample: the sums over all runs never change, so a deal costs the draws of one side, and of all runs where their order
// counts (Durstenfeld 1964).
func (f *huber) shuffle(t, e []float64, seed uint64) {
	n := len(e)
	total, squares := 0.0, 0.0
	for _, x := range e {
		total += x
		squares += float64(x * x)
	}
	for b := range t {
		base := 0.0
		for i := range f.nb {
			seed += golden
			k, _ := bits.Mul64(mix(seed), uint64(n-i))
			e[i], e[i+int(k)] = e[i+int(k)], e[i]
			base += e[i]
		}
		if f.z != nil {
			for i := f.nb; i < n-1; i++ {
				seed += golden
				k, _ := bits.Mul64(mix(seed), uint64(n-i))
				e[i], e[i+int(k)] = e[i+int(k)], e[i]
			}
		}
		t[b] = f.dealt(e, base, total-base, squares)
	}
}
