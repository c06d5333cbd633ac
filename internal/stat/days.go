package stat

import "math"

// Days is the session model fitted to a comparison of sides from different sessions: how far sessions differ, and what that
// makes of the comparison. With K base sessions of m runs and a head of one session of n runs,
//
//	S² = ((K−1)·S_B² + ν₀(σ_D² + W/m)) / (K−1+ν₀)
//	V  = (1 + 1/K)·S² + max(0, 1/n − 1/m)·W
//
// W the variance between runs of a session, S_B² that of the base sessions' means, m a harmonic mean, σ_D and ν₀ the prior
// of [Options] and its weight in sessions, which fades as sessions come. Degrees of freedom by Satterthwaite (1946). V is
// at least what runs alone explain. Several head sessions enter as base sessions do. Oracle: testdata/vectors.json.
type Days struct {
	base, head sessions
	sides      sides
	within     float64 // W
	withinDF   float64
	mean       float64 // S², the variance of a session's mean
	meanDF     float64
	o          Options
}

// Sessions fits the session model to two samples.
func Sessions(base, head Sample, o Options) (Days, error) {
	o.SameSession = false
	p, err := prepare(base, head, o)
	if err != nil {
		return Days{}, err
	}
	d := fitDays(summarise(p.base.sessions), summarise(p.head.sessions), p.o)
	sd, _ := p.scale(p.o.Floor)
	d.sides = sides{
		nb: float64(len(p.base.runs)), nh: float64(len(p.head.runs)), pooled: sd * sd,
		base: variance(p.base.runs, p.o.Floor), head: variance(p.head.runs, p.o.Floor),
	}
	return d, nil
}

// Planned fits the session model to a base alone, for a head of one session of so many runs that is yet to be measured, as
// noisy as the base's own.
func Planned(base Sample, runs int, o Options) (Days, error) {
	o = o.orDefault()
	if err := o.check(); err != nil {
		return Days{}, err
	}
	b, err := base.side("base", false)
	if err != nil {
		return Days{}, err
	}
	nb, nh := float64(len(b.runs)), float64(max(1, runs))
	d := fitDays(summarise(b.sessions), sessions{k: 1, size: nh}, o)
	d.sides = sides{nb: nb, nh: nh, base: variance(b.runs, o.Floor), head: d.within}
	d.sides.pooled = (float64(d.sides.base*(nb-1)) + float64(d.within*(nh-1))) / (nb + nh - 2)
	return d, nil
}

func fitDays(b, h sessions, o Options) Days {
	d := Days{base: b, head: h, within: o.Floor * o.Floor, withinDF: b.wdf + h.wdf, meanDF: b.k + h.k - 2 + o.DayDF, o: o}
	if d.withinDF > 0 {
		d.within = math.Max((b.within+h.within)/d.withinDF, d.within)
	}
	d.mean = (b.between + h.between + float64(o.DayDF*d.expected())) / d.meanDF
	return d
}

// expected is what the prior says of the variance of a session's mean.
func (d Days) expected() float64 { return float64(d.o.DaySD*d.o.DaySD) + d.within/d.base.size }

// After is the standard error of the comparison, with its degrees of freedom, once the base has so many sessions more.
// Nothing is supposed of them but that they are of the size of those that are there: what the model expects of S² is then
// what it says of it now, and only its degrees of freedom grow.
func (d Days) After(more int) (se, df float64) {
	k := d.base.k + float64(more)
	a := float64((1/k + 1/d.head.k) * d.mean)
	c := math.Max(0, (1/d.head.size-1/d.base.size)*d.within/d.head.k)
	spread := float64(a*a) / (d.meanDF + float64(more))
	if c > 0 { // then some session has two runs, and withinDF is positive
		spread += float64(c*c) / d.withinDF
	}
	v := a + c
	df = v * v / spread
	if least := d.within * (1/(d.head.size*d.head.k) + 1/(d.base.size*k)); v < least && d.withinDF > 0 {
		v, df = least, d.withinDF
	}
	return math.Sqrt(v), df
}

// Detects is the change that the comparison finds with the given power, 0.5 ≤ power < 1, once the base has so many sessions
// more: by the widest of the t intervals that go into it, as in [Comparison]. Those of runs alone suppose that each side's
// runs go on differing as they do; see [Days.After].
func (d Days) Detects(more int, power float64) float64 {
	se, df := d.widest(more)
	return SmallestDetectable(se, df, d.o.Confidence, power)
}

func (d Days) widest(more int) (se, df float64) {
	q, half := (1-d.o.Confidence)/2, 0.0
	take := func(s, free float64) {
		if h := float64(tUpper(q, free) * s); h > half {
			se, df, half = s, free, h
		}
	}
	s := d.sides
	s.nb = float64(s.nb * (1 + float64(more)/d.base.k))
	take(math.Sqrt(s.pooled)*math.Sqrt(1/s.nb+1/s.nh), s.nb+s.nh-2)
	if s.nh > 1 && math.Max(s.nb, s.nh) > unequal*math.Min(s.nb, s.nh) {
		take(s.welch())
	}
	take(d.After(more))
	return se, df
}

// SD is how far sessions differ beyond what their runs explain: the prior and the sessions together.
func (d Days) SD() float64 { return math.Sqrt(math.Max(0, d.mean-d.within/d.base.size)) }

// RunSD is the standard deviation between runs of one session.
func (d Days) RunSD() float64 { return math.Sqrt(d.within) }

// Seen is how far the base's sessions differ beyond what their runs explain, without any prior, and how likely so much or
// more is if days differ as the prior says: an F test of S_B² against σ_D² + W/m. False with a single session.
func (d Days) Seen() (sd, p float64, ok bool) {
	free := d.base.k - 1
	if free < 1 {
		return 0, 1, false
	}
	between := d.base.between / free
	sd = math.Sqrt(math.Max(0, between-d.within/d.base.size))
	return Round(sd), Round(fTail(between/d.expected(), free, d.withinDF)), true
}

// Means are the base's session means, in the order of the sample.
func (d Days) Means() []float64 { return d.base.means }

// Away is how far the base's sessions stand from a level that one session of their kind once had: the mean of all of them
// minus the level, with its interval. Kept says that the session of that level is itself among them; else the level is off
// by the effect of a day that is not among them.
func (d Days) Away(level float64, kept bool) (delta, low, high float64) {
	share := 1 + 1/d.base.k
	if kept {
		share = 1 - 1/d.base.k // (1/K)·Σ(xᵢ − x₁) over the K − 1 others
	}
	delta = d.base.mean - level
	half := float64(tUpper((1-d.o.Confidence)/2, d.meanDF) * math.Sqrt(share*d.mean))
	return Round(delta), Round(delta - half), Round(delta + half)
}

// sides are both sides without regard to sessions: how many runs, and variances between them, none below the floor's.
type sides struct {
	nb, nh             float64
	pooled, base, head float64
}

// welch is the standard error of Welch (1947), with its degrees of freedom.
func (s sides) welch() (se, df float64) {
	b, h := s.base/s.nb, s.head/s.nh
	return math.Sqrt(b + h), (b + h) * (b + h) / (float64(b*b)/(s.nb-1) + float64(h*h)/(s.nh-1))
}

// sessions sums up one side.
type sessions struct {
	k       float64 // number of sessions
	means   []float64
	mean    float64 // of the sessions' means
	size    float64 // harmonic mean of the sessions' sizes
	between float64 // sum of squares of the sessions' means around their mean
	within  float64 // sum of squares of the runs around their session's mean
	wdf     float64 // degrees of freedom of within
}

func summarise(side [][]float64) sessions {
	s := sessions{k: float64(len(side)), means: make([]float64, len(side))}
	reciprocals := 0.0
	for i, runs := range side {
		s.means[i] = mean(runs)
		reciprocals += 1 / float64(len(runs))
		s.within += sumSquares(runs, s.means[i])
		s.wdf += float64(len(runs) - 1)
	}
	s.size = s.k / reciprocals
	s.mean = mean(s.means)
	s.between = sumSquares(s.means, s.mean)
	return s
}
