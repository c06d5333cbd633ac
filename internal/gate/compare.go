package gate

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

const (
	fewestResamples = 9999
	mostResamples   = 999_999 // beyond, a level is too small to be reached, and the question stays open
	countsThatTell  = 20      // bootstrap counts below which a p value is too coarse for its level
)

// comparison is a change that is being judged, turned so that positive is worse, on the scale of the analysis.
type comparison struct {
	stat.Comparison
	base, head stat.Sample
	err        error
	// anchor is where a share starts from on the logit scale; changes in points are counted from there.
	anchor float64
	// holm are the p values of both directions, adjusted over the family.
	holm [directions]float64
	// days is the session model of the comparison; zero where both sides are of one session, or it was refused.
	days stat.Days
	// confidence of the interval, two-sided: what the look leaves.
	confidence float64
}

// compare answers the comparative questions of one look: every comparison by itself, then the families together.
func (p Policy) compare(qs []*question, fs families) {
	var open []*question
	for _, q := range qs {
		if q.settled() || !q.rule.comparative() {
			continue
		}
		c := &comparison{
			base: sampleOf(q.measured(q.base), q.metric),
			head: sampleOf(q.measured(q.head), q.metric),
		}
		c.anchor = centre(c.base)
		c.confidence = p.Confidence
		if len(q.looks) > 1 {
			c.confidence = fs.levels.confidence(q.course)
		}
		q.comparison = c
		open = append(open, q)
	}
	least := p.Resamples
	if least <= 0 {
		least = fewestResamples
	}
	each(open, func(q *question) { q.resample(least) })
	for _, f := range fs.all() {
		f.enter(qs)
		mine := f.made(open)
		f.refine(mine, least)
		f.adjust(mine)
	}
}

// each runs f for every question, several at a time. Every question has its own seed and its own place for the answer, so
// the order in which they finish decides nothing.
func each(qs []*question, f func(*question)) {
	next := make(chan *question)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(qs)) {
		workers.Go(func() {
			for q := range next {
				f(q)
			}
		})
	}
	for _, q := range qs {
		next <- q
	}
	close(next)
	workers.Wait()
}

// resample compares the two sides with so many resamples and turns the answer so that positive is worse.
func (q *question) resample(b int) {
	c := q.comparison
	c.Comparison, c.err = stat.Compare(c.base, c.head, stat.Options{
		Confidence: c.confidence, Resamples: b, Seed: q.seed(), DaySD: q.policy.DaySD, SameSession: q.same, Floor: q.floor(),
	})
	if q.metric.HigherBetter() {
		c.Delta, c.Low, c.High = -c.Delta, -c.High, -c.Low
		c.P, c.PLess = c.PLess, c.P
		if c.Order != nil {
			c.Order = ptr(-*c.Order)
		}
	}
	c.Delta, c.Low, c.High = stat.Round(c.Delta), stat.Round(c.Low), stat.Round(c.High)
}

// floor is the least sd between runs of the question that is believed; see [floorOf].
func (q *question) floor() float64 {
	return floorOf(slices.Concat(q.measured(q.base), q.measured(q.head)), q.metric)
}

func (q *question) seed() uint64 { return stat.Seed(q.metric.Name, q.scenario, 0) }

// refine compares again, with B = ⌈20 / smallest level of the family⌉, where a p value rests on 1 to 19 of the first
// resamples, too few to say on which side of its level it lies. Elsewhere more resamples would move nothing that Holm's
// procedure looks at: (1 + count)/(B + 1) is a valid p value for any B, and where the count is 0 it is the smallest there
// is, so only a family so large that even that would not do has to go on.
func (f *family) refine(open []*question, least int) {
	smallest := 1 / float64(least+1)
	var again []*question
	for _, q := range open {
		c, level := q.comparison, f.least(q.course)
		few := math.Min(c.P, c.PLess) < countsThatTell*smallest
		if few && countsThatTell/level > float64(least) && (math.Min(c.P, c.PLess) > 1.5*smallest || smallest > level) {
			again = append(again, q)
		}
	}
	each(again, func(q *question) {
		q.resample(int(math.Min(mostResamples, math.Ceil(countsThatTell/f.least(q.course)-1e-6))))
	})
}

// alpha is the one-sided level of each family.
func (p Policy) alpha() float64 { return float64((1 - p.Confidence) / 2) }

// thresholds are what a rule asks, on the scale of the analysis: positive is worse.
type thresholds struct{ tolerance, ruleOut, better float64 }

// thresholds turns the rule's fractions or points into the scale of the analysis. Without a rule-out nothing can be ruled
// out or left open: it is infinite.
func (q *question) thresholds() thresholds {
	t := thresholds{tolerance: q.distance(*q.rule.Tolerance), ruleOut: math.Inf(1)}
	if q.rule.RuleOut != nil {
		t.ruleOut = q.distance(*q.rule.RuleOut)
	}
	t.better = -t.tolerance // an improvement by 5 % is base/head ≥ 1.05
	if q.metric.Scale == bench.Logit {
		t.better = q.distance(-*q.rule.Tolerance)
	}
	return t
}

// distance turns a worsening that a rule names into the scale of the analysis: the logarithm of its ratio, or for a share
// the way on the logit from the baseline's share down by so many points. It is infinite where the baseline has not so many
// points to lose, or to gain.
func (q *question) distance(worse float64) float64 {
	if q.metric.Scale != bench.Logit {
		return stat.Round(math.Log1p(worse))
	}
	left := stat.Expit(q.comparison.anchor) - worse
	switch {
	case left <= 0:
		return math.Inf(1)
	case left >= 1:
		return math.Inf(-1)
	}
	return stat.Round(q.comparison.anchor - math.Log(left/(1-left)))
}

// worsening turns a number on the scale of the analysis into what a reader is told: a fraction of the base, or points.
func (q *question) worsening(y float64) float64 {
	if q.metric.Scale != bench.Logit {
		return stat.Round(math.Expm1(bounded(y)))
	}
	return stat.Round(stat.Expit(q.comparison.anchor) - stat.Expit(q.comparison.anchor-y))
}

// bounded keeps an end of an interval within a factor of a million, so that a file can hold it: very few runs at a very
// high confidence have no bound at all.
func bounded(y float64) float64 {
	end := math.Log(1e6)
	return math.Max(-end, math.Min(end, y))
}

// change is what a reader is told of the comparison.
func (q *question) change() *Change {
	c := q.comparison
	out := &Change{
		Worse: q.worsening(c.Delta), WorseLow: q.worsening(c.Low), WorseHigh: q.worsening(c.High),
		Points: q.metric.Scale == bench.Logit, Level: stat.Round(c.confidence), P: c.P, PHolm: c.holm[worse], PPerm: c.PPerm, SD: c.SD, DaySD: c.DaySD,
	}
	if c.Order != nil {
		out.Order = ptr(q.worsening(*c.Order))
	}
	if out.Points {
		return out
	}
	low, high := c.Low, c.High
	delta := c.Delta
	if q.metric.HigherBetter() {
		delta, low, high = -delta, -high, -low
	}
	out.Ratio, out.Low, out.High = stat.Round(math.Exp(bounded(delta))), stat.Round(math.Exp(bounded(low))), stat.Round(math.Exp(bounded(high)))
	return out
}
