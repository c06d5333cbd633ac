package stat

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// The reasons for which a comparison is refused.
var (
	ErrTooFew    = errors.New("too few values")
	ErrNotFinite = errors.New("not a finite number")
	ErrOrder     = errors.New("the order of the runs cannot separate a trend from a change")
)

const (
	minRuns    = 3    // below, a comparison is refused
	fewRuns    = 5    // below, it warns
	unequal    = 1.5  // ratio of run counts from which Welch's interval joins
	noisySD    = 0.35 // residual sd above which it warns
	defaultDay = 0.05
)

// Sample is one side of a comparison: one value a run, on the scale of the analysis (logarithm or logit).
type Sample struct {
	// Sessions holds the runs of each session, in the order they were measured. The order decides which run a resampled
	// residual goes to, and so the last digits of an interval, but nothing else.
	Sessions [][]float64
	// Order, parallel to Sessions, is each run's place in a campaign that both sides share. It is used only when
	// Options.SameSession is set; nil means unknown, and then no trend is taken out.
	Order [][]float64
}

// Options of a comparison. The zero value is a 95 % interval from 9,999 resamples, sides from different sessions.
type Options struct {
	Confidence float64 // two-sided; 0 means 0.95
	Resamples  int     // 0 means 9,999
	Seed       uint64  // see [Seed]
	DaySD      float64 // prior sd between sessions, analysis scale; 0 means 0.05
	DayDF      float64 // weight of that prior in sessions; 0 means 4
	Floor      float64 // least believable sd between runs; 0 means 0.005
	// SameSession says that both sides were measured in one campaign, so that no day lies between them.
	SameSession bool
}

// Comparison is the change from base to head on the scale of the analysis: positive when head is larger.
// All numbers have 10 significant digits; see [Round].
type Comparison struct {
	Delta float64 // head − base: of means, or Huber's estimate of it where Method begins with "huber"
	// Low and High bound Delta at the confidence asked for. Either may be infinite: so few runs bound nothing at so high
	// a confidence.
	Low, High float64
	// SE and DF are the standard error and degrees of freedom of the widest t interval that went into Low and High; see
	// [SmallestDetectable].
	SE, DF float64
	P      float64 // one-sided: chance of so large a Delta between equal sides
	PLess  float64 // one-sided: chance of so small a Delta
	// PPerm is P by exact permutation of the runs: a second opinion. Nil when there are too many arrangements to list, or
	// when the order of the runs is part of the model.
	PPerm *float64
	SD    float64 // residual standard deviation between runs, slow ones as they are, before Options.Floor
	// Order is the change from the first run to the last that the trend of the model explains; nil without a trend.
	Order *float64
	// DaySD is how far sessions seem to differ beyond what their runs explain: the prior and the sessions together. Nil when
	// both sides are of one session.
	DaySD *float64
	// Method names what went into the interval.
	Method string
	// Degenerate says that the runs differ less than Options.Floor, which was used in place of their own sd.
	Degenerate bool
	Warnings   []string
}

// Compare estimates the change from base to head.
//
// Within one campaign, from six runs a side on, or five beside fifteen, it is Huber's estimate with the interval of his
// score test under permutation, which one run in eight that is slow by accident widens but little: see [huber]. Elsewhere it
// is the difference of means with the interval of a residual studentised bootstrap, widened to cover Student's; Welch's too
// when one side has more than 1.5 times the runs of the other, and that of the session model when the sides come from
// different sessions: estimates that mind slow runs less do not keep small levels across sessions (measured:
// TestSmallLevelsAcrossSessions). No run is left out.
//
// It refuses fewer than three runs a side with [ErrTooFew], infinities and NaN with [ErrNotFinite], and an order that goes
// along with the side with [ErrOrder].
func Compare(base, head Sample, o Options) (Comparison, error) {
	p, err := prepare(base, head, o)
	if err != nil {
		return Comparison{}, err
	}
	if p.o.SameSession && p.enough() {
		if c, ok := p.robust(); ok {
			return c, nil
		}
	}
	return p.specified(), nil
}

// pair is what a comparison starts from.
type pair struct {
	model
	base, head side
	o          Options
}

// prepare checks and fits.
func prepare(base, head Sample, o Options) (pair, error) {
	o = o.orDefault()
	if err := o.check(); err != nil {
		return pair{}, err
	}
	b, err := base.side("base", o.SameSession)
	if err != nil {
		return pair{}, err
	}
	h, err := head.side("head", o.SameSession)
	if err != nil {
		return pair{}, err
	}
	order, err := jointOrder(b, h)
	if err != nil {
		return pair{}, err
	}
	m, err := fit(b.runs, h.runs, order)
	return pair{m, b, h, o}, err
}

// enough says whether one campaign has the runs for Huber's estimate.
func (p pair) enough() bool {
	few, many := min(len(p.base.runs), len(p.head.runs)), max(len(p.base.runs), len(p.head.runs))
	return few >= robustRuns || few == robustRuns-1 && many >= manyRuns
}

// robust compares by Huber's estimate; false where that is not for this pair.
func (p pair) robust() (Comparison, bool) {
	if _, degenerate := p.scale(p.o.Floor); degenerate {
		return Comparison{}, false
	}
	f, ok := p.huber(slices.Concat(p.base.runs, p.head.runs), p.o.Floor)
	if !ok {
		return Comparison{}, false
	}
	c := Comparison{Delta: f.estimate, Method: "huber permutation+t"}
	if f.uneven() {
		c.Method += "+welch"
	}
	i := f.between(p.o)
	p.finish(&c, i, i, f.course)
	return c, true
}

// specified compares by means.
func (p pair) specified() Comparison {
	m, b, h, o := p.model, p.base, p.head, p.o
	c := Comparison{Delta: m.delta, Method: "bootstrap+t"}
	widest := m.student(o)
	all := widest
	_, c.Degenerate = m.scale(o.Floor)
	if c.Degenerate {
		c.Method = "t"
	} else {
		all = all.cover(m.bootstrap(o))
	}
	add := func(name string, i interval) {
		all = all.cover(i)
		c.Method += name
		if i.high-i.low > widest.high-widest.low {
			widest = i
		}
	}
	if nb, nh := float64(len(b.runs)), float64(len(h.runs)); m.z == nil && math.Max(nb, nh) > unequal*math.Min(nb, nh) {
		add("+welch", welch(b.runs, h.runs, o))
	}
	if !o.SameSession {
		delta, day, i := acrossSessions(b.sessions, h.sessions, o)
		c.DaySD = rounded(day)
		all = all.move(delta - m.delta)
		c.Delta = delta
		add(fmt.Sprintf("+sessions(%d)", len(b.sessions)), i)
	}
	p.finish(&c, all, widest, m.course)
	return c
}

// finish writes down what both ways of comparing have in common: the interval, the t interval that its error comes from,
// and the trend's course.
func (p pair) finish(c *Comparison, all, widest interval, course float64) {
	c.SD = Round(p.sd)
	if p.z != nil {
		c.Method += ", trend"
		c.Order = rounded(course)
	} else if perm, ok := permutation(p.base.runs, p.head.runs); ok {
		c.PPerm = rounded(perm)
	}
	c.Delta, c.Low, c.High = Round(c.Delta), Round(all.low), Round(all.high)
	c.P, c.PLess = Round(all.p), Round(all.pLess)
	c.SE, c.DF = Round(widest.se), Round(widest.df)
	c.Warnings = warnings(*c, p.base, p.head, p.o)
}

func rounded(x float64) *float64 {
	x = Round(x)
	return &x
}

func warnings(c Comparison, b, h side, o Options) []string {
	var all []string
	if n := min(len(b.runs), len(h.runs)); n < fewRuns {
		all = append(all, fmt.Sprintf("only %d runs on one side: small changes cannot be seen; measure at least %d", n, fewRuns))
	}
	if !o.SameSession && len(b.sessions) == 1 {
		all = append(all, "the base is a single session: how far days differ is assumed, not measured, and the interval is coarse")
	}
	if c.Degenerate {
		all = append(all, "degenerate: the runs are nearly identical; is the metric measured anew in each run?")
	}
	if c.SD > noisySD {
		all = append(all, fmt.Sprintf("very noisy: the runs of one side scatter with a standard deviation of %.2f on the scale of the analysis", c.SD))
	}
	return all
}

func (o Options) orDefault() Options {
	set := func(x *float64, to float64) {
		if *x == 0 {
			*x = to
		}
	}
	set(&o.Confidence, 0.95)
	set(&o.DaySD, defaultDay)
	set(&o.DayDF, 4)
	set(&o.Floor, 0.005)
	if o.Resamples == 0 {
		o.Resamples = 9999
	}
	return o
}

func (o Options) check() error {
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 0) }
	switch {
	case !(o.Confidence > 0 && o.Confidence < 1):
		return fmt.Errorf("confidence %v is not between 0 and 1", o.Confidence)
	case o.Resamples < 1:
		return fmt.Errorf("%d resamples: want at least 1", o.Resamples)
	case !positive(o.DaySD) || !positive(o.DayDF) || !positive(o.Floor):
		return fmt.Errorf("day sd %v, its weight %v and the floor %v must be positive", o.DaySD, o.DayDF, o.Floor)
	}
	return nil
}
