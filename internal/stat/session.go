package stat

import "math"

// acrossSessions is the interval when the sides come from different sessions: a session's mean is off by an effect of its
// day, and the spread of the base's sessions tells how far. A prior of o.DayDF sessions with sd o.DaySD stands in where
// few are known. With a head of one session of n runs, and K base sessions of m runs,
//
//	S² = ((K−1)·S_B² + ν₀(σ_D² + W/m)) / (K−1+ν₀)
//	V  = (1 + 1/K)·S² + max(0, 1/n − 1/m)·W
//
// W the variance within sessions, S_B² that of the base sessions' means, m a harmonic mean. Degrees of freedom by
// Satterthwaite (1946). V is at least what runs alone explain. Several head sessions enter as base sessions do.
// Oracle: testdata/vectors.json.
func acrossSessions(base, head [][]float64, o Options) (delta, daySD float64, i interval) {
	b, h := summarise(base), summarise(head)
	within, wdf := b.within+h.within, b.wdf+h.wdf
	w := o.Floor * o.Floor
	if wdf > 0 {
		w = math.Max(within/wdf, w)
	}
	bdf := b.k + h.k - 2 + o.DayDF
	day := (b.between + h.between + float64(o.DayDF*(float64(o.DaySD*o.DaySD)+w/b.size))) / bdf
	a := float64((1/b.k + 1/h.k) * day)
	c := math.Max(0, (1/h.size-1/b.size)*w/h.k)
	spread := float64(a*a) / bdf
	if c > 0 { // then some session has two runs, and wdf is positive
		spread += float64(c*c) / wdf
	}
	v := a + c
	df := v * v / spread
	if least := w * (1/(h.size*h.k) + 1/(b.size*b.k)); v < least && wdf > 0 {
		v, df = least, wdf
	}
	delta = h.mean - b.mean
	return delta, math.Sqrt(math.Max(0, day-w/b.size)), tInterval(delta, math.Sqrt(v), df, o.Confidence)
}

// sessions sums up one side.
type sessions struct {
	k       float64 // number of sessions
	mean    float64 // of the sessions' means
	size    float64 // harmonic mean of the sessions' sizes
	between float64 // sum of squares of the sessions' means around their mean
	within  float64 // sum of squares of the runs around their session's mean
	wdf     float64 // degrees of freedom of within
}

func summarise(side [][]float64) sessions {
	s := sessions{k: float64(len(side))}
	means := make([]float64, len(side))
	reciprocals := 0.0
	for i, runs := range side {
		means[i] = mean(runs)
		reciprocals += 1 / float64(len(runs))
		s.within += sumSquares(runs, means[i])
		s.wdf += float64(len(runs) - 1)
	}
	s.size = s.k / reciprocals
	s.mean = mean(means)
	s.between = sumSquares(means, s.mean)
	return s
}
