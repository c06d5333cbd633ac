package gate

import (
	"math"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// since is how a baseline stands to where its epoch began, as worsenings: fractions, or points of a ratio.
type since struct {
	metric   bench.Metric
	began    time.Time // zero: not known
	sessions int
	// worse is that of the mean over the sessions that are kept, newest that of the newest of them.
	worse, newest float64
	// low and high bound worse; they are not known for a ratio, of which an epoch records a plain mean.
	low, high float64
	bounded   bool
}

// sinceOf compares the sessions of a baseline with its epoch's level. It is false where that level is not known, and where
// nothing but the epoch's first session is there.
func sinceOf(d bench.Digest, m bench.Metric, days stat.Days, sample stat.Sample) (since, bool) {
	level, known := d.EpochLevel()[m.Name]
	first := d.First()
	n := len(sample.Sessions)
	if !known || n == 0 || n == 1 && first != nil {
		return since{}, false
	}
	s := since{metric: m, began: d.Epoch.Started, sessions: n}
	if s.began.IsZero() && first != nil {
		s.began = first.Started
	}
	if m.Scale != bench.Log {
		return s.share(level, days)
	}
	means := days.Means()
	sign := 1.0
	if m.HigherBetter() {
		sign = -1
	}
	worse := func(y float64) float64 { return stat.Round(math.Expm1(bounded(sign * y))) }
	delta, low, high := days.Away(math.Log(level), first != nil)
	s.worse, s.low, s.high, s.bounded = worse(delta), worse(low), worse(high), true
	if sign < 0 {
		s.low, s.high = s.high, s.low
	}
	s.newest = worse(means[n-1] - math.Log(level))
	return s, true
}

// share counts a ratio in points: the means over sessions come from the logit, so they are near the plain means that an
// epoch records where sessions are alike.
func (s since) share(level float64, days stat.Days) (since, bool) {
	means := days.Means()
	sum := 0.0
	for _, y := range means {
		sum += stat.Expit(y) / float64(len(means))
	}
	sign := 1.0
	if !s.metric.HigherBetter() {
		sign = -1
	}
	s.worse, s.newest = stat.Round(sign*(level-sum)), stat.Round(sign*(level-stat.Expit(means[len(means)-1])))
	return s, true
}

// words are such as "9 % slower (from 2 % to 17 % slower, 8 sessions since 2026-09-01, the newest 12 % slower)".
func (s since) words() string {
	t, ch := speak(s.metric), s.change()
	var inner []string
	if s.bounded {
		inner = append(inner, t.span(ch))
	}
	inner = append(inner, count(s.sessions, "session")+s.when(), "the newest "+t.change(s.newest, ch.digits()))
	return t.change(s.worse, ch.digits()) + " (" + strings.Join(inner, ", ") + ")"
}

func (s since) when() string {
	if s.began.IsZero() {
		return ""
	}
	return " since " + s.began.UTC().Format(time.DateOnly)
}

// change is the same in the shape in which changes are spoken of.
func (s since) change() *Change {
	if !s.bounded {
		return &Change{Worse: s.worse, WorseLow: s.worse - 0.01, WorseHigh: s.worse + 0.01, Points: true}
	}
	return &Change{Worse: s.worse, WorseLow: s.low, WorseHigh: s.high}
}

// moved warns when a baseline has moved away from where its epoch began by more than the rule tolerates in one step: five
// times +4 % is +22 %, and each step passes.
func (q *question) moved(d stat.Days) {
	s, ok := sinceOf(q.base.digest, q.metric, d, q.comparison.base)
	if !ok || !(s.worse >= *q.rule.Tolerance) || s.worse == 0 {
		return
	}
	t := speak(q.metric)
	chance := ""
	if s.bounded && s.low <= 0 {
		chance = " Days alone may explain it."
	}
	q.warn("the baseline has moved: since its epoch began %s is %s, and the tolerance is %s.%s See whether that was meant; if it was, benchgate baseline accept --new-epoch --reason TEXT.",
		q.metric.Name, s.words(), t.asked(*q.rule.Tolerance), chance)
}

// sinceEpoch says for each primary metric how its baseline stands to where its epoch began.
func (v *Verdict) sinceEpoch(qs []*question) {
	if v.Baseline == nil {
		return
	}
	var parts []string
	for _, q := range qs {
		if q.comparison == nil || q.comparison.err != nil || q.same || !q.rule.Primary {
			continue
		}
		name := q.scenario + " " + q.metric.Name
		level := q.base.digest.EpochLevel()
		if _, known := level[q.metric.Name]; level != nil && !known {
			parts = append(parts, name+" not known, since the epoch began without it")
			continue
		}
		if s, ok := sinceOf(q.base.digest, q.metric, q.comparison.days, q.comparison.base); ok {
			parts = append(parts, name+" "+s.words())
		}
	}
	v.Baseline.SinceEpoch = list(parts, 8)
}
