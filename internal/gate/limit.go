package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// limited answers a rule that holds the candidate to a limit.
func (q *question) limited() {
	switch {
	case q.metric.Scale == bench.Point:
		q.pointLimit()
	case q.metric.Unit == bench.Ratio:
		q.shareLimit()
	default:
		q.levelLimit()
	}
	if q.finding.Outcome == Breached && q.alreadySo() {
		q.settle(Observed, q.finding.Why+" Already so at base.", "Nothing is this change's fault; loosen the limit, or repair the base.")
	}
}

// pointLimit is the rule for error.ratio: every failure counts, and no interval excuses one.
func (q *question) pointLimit() {
	failed, sent := q.head.failures()
	share := float64(failed) / float64(sent)
	why := fmt.Sprintf("%d of %s failed (%s); the limit is %s.", failed, count(sent, "request"), estimated(share, share/5), percent(*q.rule.Max))
	q.finding.Method = "pooled share"
	if overLimit(q.head, *q.rule.Max) {
		next := "Look at the failures in the report and in the server's log."
		if first := q.head.firstError(); first != "" {
			next = "The first failure was " + quote(first) + q.head.otherErrors() + ". " + next
		}
		q.settle(Breached, why, next)
		return
	}
	q.settle(Pass, why, "")
}

// overLimit reports whether more requests failed than the limit allows.
func overLimit(s *side, limit float64) bool {
	failed, sent := s.failures()
	return sent > 0 && stat.Round(float64(failed)/float64(sent)) > stat.Round(limit)
}

func (s *side) firstError() string {
	for _, r := range s.fit {
		if r.FirstError != "" {
			return r.FirstError
		}
	}
	return ""
}

// otherErrors are the first messages of up to two more classes of failure, in the first run that has some.
func (s *side) otherErrors() string {
	text := ""
	for _, r := range s.fit {
		for i, class := range slices.Sorted(maps.Keys(r.FirstErrors)) {
			if i < 2 {
				text += fmt.Sprintf("; the first %s was %s", quote(string(class)), quote(r.FirstErrors[class]))
			}
		}
		if text != "" {
			break
		}
	}
	return text
}

// shareLimit holds a share to a minimum. The interval never rewards a failure: a pass also asks that no record with as many
// failures would be a breach, however evenly they fell. Else a broken request could, by making runs less alike, widen the
// interval of a breached share until the limit lies within it.
func (q *question) shareLimit() {
	head, err := q.share(q.head)
	if err != nil {
		q.settle(Invalid, "The share cannot be estimated: "+err.Error()+".", "Measure again.")
		return
	}
	limit, slack := *q.rule.Min, q.policy.Slack
	q.finding.Head.Low, q.finding.Head.High = &head.Low, &head.High
	q.finding.Slack, q.finding.Method = &slack, "design-effect Wilson-t"
	half := (head.High - head.Low) / 2
	here := fmt.Sprintf("%s is %s (%s to %s, %s interval)", q.metric.Name, estimated(head.Point, half), estimated(head.Low, half), estimated(head.High, half), percent(q.policy.Confidence))
	switch {
	case head.High < stat.Round(limit):
		q.settle(Breached, fmt.Sprintf("%s, below the limit of %s.", here, percent(limit)),
			"See what differs between the builds, and which part of the SLO was missed.")
	case head.Low >= stat.Round(limit-slack) && q.neverBreach(limit):
		q.settle(Pass, fmt.Sprintf("%s; the limit is %s, with a slack of %s.", here, percent(limit), speak(q.metric).asked(slack)), "")
	default:
		q.settle(Inconclusive, fmt.Sprintf("%s: the limit of %s is neither shown kept nor shown broken.", here, percent(limit)),
			"More runs, or more requests a run, narrow the interval; a larger gate.slack certifies sooner.")
	}
}

func (q *question) share(s *side) (stat.Share, error) {
	met, of := tallies(q.measured(s), q.metric)
	return stat.Proportion(met, of, q.policy.Confidence)
}

// neverBreach reports whether the same number of successes, spread as evenly as can be over the runs, would not be a breach.
// Even runs have the narrowest interval, and its upper end falls with every success that is lost.
func (q *question) neverBreach(limit float64) bool {
	met, of := tallies(q.measured(q.head), q.metric)
	share, err := stat.Proportion(evenly(sum(met), of), of, q.policy.Confidence)
	return err == nil && share.High >= stat.Round(limit)
}

// evenly spreads successes over runs in proportion to their requests.
func evenly(met int, of []int) []int {
	out := make([]int, len(of))
	sent, given, total := 0, 0, sum(of)
	for i, n := range of {
		sent += n
		out[i] = int(math.Round(float64(met)*float64(sent)/float64(total))) - given
		out[i] = max(0, min(n, out[i]))
		given += out[i]
	}
	return out
}

// levelLimit holds a time or a rate to a limit: the geometric mean over runs, with its t interval.
func (q *question) levelLimit() {
	head, ok := q.level(q.head)
	if !ok {
		q.settle(Invalid, "Too few runs have "+q.metric.Name+".", "Measure at least 5 runs a side.")
		return
	}
	q.finding.Method = "t on logarithms"
	q.finding.Head.Low, q.finding.Head.High = &head.Low, &head.High
	unit, half := q.metric.Unit, (head.High-head.Low)/2
	here := fmt.Sprintf("%s is %s (%s to %s, %s interval)", q.metric.Name, amount(head.Point, half, unit), amount(head.Low, half, unit),
		amount(head.High, half, unit), percent(q.policy.Confidence))
	limit, side := q.limit()
	switch {
	case q.beyond(head):
		q.settle(Breached, fmt.Sprintf("%s, %s the limit of %s.", here, side, given(limit, unit)), "See what differs between the builds.")
	case q.within(head):
		q.settle(Pass, fmt.Sprintf("%s; the limit is %s.", here, given(limit, unit)), "")
	default:
		q.settle(Inconclusive, fmt.Sprintf("%s: the limit of %s lies within.", here, given(limit, unit)), "More runs narrow the interval: campaign.runs.")
	}
}

func (q *question) limit() (limit float64, side string) {
	if q.rule.Max != nil {
		return *q.rule.Max, "above"
	}
	return *q.rule.Min, "below"
}

// beyond reports whether the whole interval breaks the limit; within, whether all of it keeps it.
func (q *question) beyond(s stat.Share) bool {
	if q.rule.Max != nil {
		return s.Low > stat.Round(*q.rule.Max)
	}
	return s.High < stat.Round(*q.rule.Min)
}

func (q *question) within(s stat.Share) bool {
	if q.rule.Max != nil {
		return s.High <= stat.Round(*q.rule.Max)
	}
	return s.Low >= stat.Round(*q.rule.Min)
}

// level is the geometric mean over the runs of a side with its t interval; false when there are too few. Where a time is 0
// in some run, such as a queue that did not form, it is the arithmetic mean.
func (q *question) level(s *side) (stat.Share, bool) {
	runs := q.measured(s)
	back, onScale := func(y float64) float64 { return held(math.Exp(y)) }, value
	floor := leastSD
	if len(s.comparable(q.metric)) < len(runs) {
		back, onScale = func(y float64) float64 { return held(math.Max(0, y)) }, raw
		floor = 0
	}
	var ys []float64
	for _, group := range units(runs) {
		y := 0.0
		for _, r := range group {
			v, _ := onScale(q.metric, r)
			y += v / float64(len(group))
		}
		ys = append(ys, y)
	}
	if len(ys) < leastRuns {
		return stat.Share{}, false
	}
	m, err := stat.Mean(ys)
	sd, err2 := stat.SD(ys)
	if err != nil || err2 != nil {
		return stat.Share{}, false
	}
	n := float64(len(ys))
	h := halfWidth(math.Max(sd, floor)/math.Sqrt(n), n-1, q.policy.Confidence)
	return stat.Share{Point: stat.Round(back(m)), Low: stat.Round(back(m - h)), High: stat.Round(back(m + h))}, true
}

// alreadySo reports whether the baseline breaches the limit by the same measure. A baseline that cannot be judged excuses
// nothing.
func (q *question) alreadySo() bool {
	if q.base == nil || len(q.base.fit) < leastRuns || q.base.spoilt() > mostSpoilt || q.ofStream() && q.base.isBuffered() {
		return false
	}
	switch {
	case q.metric.Scale == bench.Point:
		return overLimit(q.base, *q.rule.Max)
	case q.metric.Unit == bench.Ratio:
		s, err := q.share(q.base)
		return err == nil && q.beyond(s)
	}
	s, ok := q.level(q.base)
	return ok && q.beyond(s)
}
