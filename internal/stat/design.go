package stat

import "math"

// Design says how a comparison is to be made, so that what it will see is known before it is measured: with the standard
// error that it will have if runs of one session differ by a given standard deviation.
type Design struct {
	// Runs is how many runs the head has, or visits of an interleaved campaign; the base has as many, in each session,
	// unless Base says otherwise.
	Runs, Base int
	// Interleaved takes the order of the runs out, which costs one degree of freedom. Sides in turn (ABBA) share the order
	// evenly, so that the standard error stays.
	Interleaved bool
	// Sessions is how many sessions the base has, none of them the head's; 0 is one session for both sides.
	Sessions int
	// DaySD and DayDF are those of [Options]: days are taken to differ by just so much.
	DaySD, DayDF float64
}

// Error is the standard error of the comparison, with its degrees of freedom, for runs of this standard deviation. In one
// session it is that of Student's two-sample test; across sessions that of the session model (see [Days]) with its
// variances at what is expected of them. The degrees of freedom are not positive where so few runs allow no comparison.
func (d Design) Error(sd float64) (se, df float64) {
	o := Options{DaySD: d.DaySD, DayDF: d.DayDF}.orDefault()
	n, m := float64(d.Runs), float64(d.Runs)
	if d.Base > 0 {
		m = float64(d.Base)
	}
	w := math.Max(sd, o.Floor)
	w *= w
	if d.Sessions > 0 {
		k := float64(d.Sessions)
		day := Days{
			base: sessions{k: k, size: m}, head: sessions{k: 1, size: n}, within: w,
			withinDF: float64(k*(m-1)) + n - 1, meanDF: k - 1 + o.DayDF, o: o,
		}
		day.mean = day.expected()
		return day.After(0)
	}
	df = n + m - 2
	if d.Interleaved {
		df--
	}
	return math.Sqrt(w/n + w/m), df
}

// Detects is the true change that the design finds with the given power, 0.5 ≤ power < 1, at a two-sided confidence; see
// [SmallestDetectable]. An equal build's interval ends below it just as often, so it is also the smallest change that is
// then excluded with that power (Phillips 1990, of two one-sided tests).
func (d Design) Detects(sd, confidence, power float64) float64 {
	se, df := d.Error(sd)
	return SmallestDetectable(se, df, confidence, power)
}
