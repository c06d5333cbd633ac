package gate

import (
	"errors"
	"slices"

	"github.com/benchgate/benchgate/internal/stat"
)

// replay answers the questions look by look, as a campaign that looked while it measured would have: what is decided at a look
// stays so, whatever is measured later, and what is not goes on to the next. A pair that has no looks is decided once. The
// questions come back as they were last asked.
func (p Policy) replay(qs []*question) []*question {
	out := slices.Clone(qs)
	fs := newFamilies(p.alpha())
	last := 0
	for _, q := range qs {
		last = max(last, q.decisions())
	}
	for look := range last {
		var now []*question
		for i, q := range out {
			if q.due(look) {
				out[i] = q.again(look)
				now = append(now, out[i])
			}
		}
		for _, q := range now {
			q.prepare()
		}
		p.compare(now, fs)
		for _, q := range now {
			q.answer()
			q.await()
		}
	}
	return out
}

// due reports whether the question is asked at a look. A limit is held against all that counts, once: at the last look passed.
func (q *question) due(look int) bool {
	switch {
	case look >= q.decisions() || q.final():
		return false
	case !q.rule.comparative():
		return look == q.decisions()-1
	}
	return true
}

// final reports whether no later look changes the answer: the statistics have given one, or there is nothing to ask them.
func (q *question) final() bool {
	switch q.finding.Outcome {
	case "", Invalid, Inconclusive, Observed:
		return q.decided
	}
	return true
}

// again asks the question anew of what was measured by a look.
func (q *question) again(look int) *question {
	if q.passed == 0 {
		return q
	}
	x := q.pair
	if x.whole != nil {
		x = x.whole
	}
	next := newQuestion(q.policy, x.at(look), q.rule)
	next.rejected = q.rejected
	return next.as(q.stage, q.before)
}

// early reports whether another look, or the second stage of a confirm campaign, may still follow.
func (q *question) early() bool { return q.another() || q.stage == 1 }

// await says that a further look could still answer. A rule without rule_out waits for none.
func (q *question) await() {
	if q.decided || !q.another() || !q.rule.comparative() || q.rule.RuleOut == nil {
		return
	}
	if q.comparison != nil && !errors.Is(q.comparison.err, stat.ErrOrder) || q.finding.Outcome == Invalid && (q.head.short() || q.base.short()) {
		q.finding.Awaits = awaitsLook
	}
}

// short reports a side with too few runs fit to compare, or too many that are not: more visits can mend that.
func (s *side) short() bool { return s.tooFewToTell() || s.spoilt() > mostSpoilt }
