package gate

import (
	"fmt"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// doubt is a reason for which a good answer is not believed. It never softens a bad one.
type doubt struct {
	why, next string
	passOnly  bool // an improvement is believed all the same
}

// doubtful turns a pass or an improvement that cannot be believed into inconclusive.
func (q *question) doubtful() {
	o := q.finding.Outcome
	if o != Pass && o != Improved {
		return
	}
	for _, d := range q.doubts() {
		if d.passOnly && o == Improved {
			q.warn("%s", d.why)
			continue
		}
		q.settle(Inconclusive, fmt.Sprintf("This is no %s: %s.", noun(o), d.why), d.next)
		return
	}
}

func noun(o Outcome) string {
	if o == Improved {
		return "improvement"
	}
	return "pass"
}

// doubts are the reasons that hold for this question.
func (q *question) doubts() []doubt {
	asks := []func() (doubt, bool){q.unmeasured}
	if q.metric.Scale == bench.Log {
		asks = append(asks, q.survivors, q.delayed)
	}
	if q.rule.comparative() {
		asks = append(asks, q.itself, q.recut, q.aged)
	}
	var out []doubt
	for _, ask := range asks {
		if d, ok := ask(); ok {
			out = append(out, d)
		}
	}
	return out
}

// unmeasured: a run of the candidate lacks the metric.
func (q *question) unmeasured() (doubt, bool) {
	short := len(q.head.fit) - len(q.measured(q.head))
	return doubt{
		why:  fmt.Sprintf("%s of the candidate lack %s", count(short, "run"), q.metric.Name),
		next: "Look at those runs in the report, then measure again.",
	}, short > 0
}

// survivors: failed requests are in no latency, so an error rate that matters and differs may flatter one side.
func (q *question) survivors() (doubt, bool) {
	if q.base == nil {
		return doubt{}, false
	}
	base, b, ok := q.base.errorShare(q.policy.Confidence)
	head, h, also := q.head.errorShare(q.policy.Confidence)
	if !ok || !also || max(base.Point, head.Point) <= errorsMatter {
		return doubt{}, false
	}
	differ := base.Point < head.Low || base.Point > head.High || head.Point < base.Low || head.Point > base.High
	return doubt{
		why:  fmt.Sprintf("%s of requests failed here and %s at base, and a failed request has no latency", h, b),
		next: "Make the failures go away, or hold error.ratio to a max, before latencies are compared.",
	}, differ
}

// errorShare is the error rate of a side, also in words.
func (s *side) errorShare(confidence float64) (share stat.Share, words string, ok bool) {
	m, err := bench.ParseMetric("error.ratio")
	if err != nil {
		panic(err) // a name of ours
	}
	met, of := tallies(s.having(m), m)
	share, err = stat.Proportion(met, of, confidence)
	if err != nil {
		return stat.Share{}, "", false
	}
	return share, estimated(share.Point, share.Point/2), true
}

// delayed: the client's own limit kept requests back, and a TTFT counted from sending does not see that.
func (q *question) delayed() (doubt, bool) {
	name := what(q.metric)
	if name != "ttft" && name != "ttfot" {
		return doubt{}, false
	}
	worst := q.head.queued()
	if q.base != nil {
		worst = max(worst, q.base.queued())
	}
	return doubt{
		why:  fmt.Sprintf("max_concurrency delayed %s of requests, and %s does not count that wait", estimated(worst, worst/2), name),
		next: "Gate ttft_sched, which counts from the scheduled time, or raise load.max_concurrency.",
	}, worst > queuedTooOften
}

// itself: the same session on both sides shows nothing.
func (q *question) itself() (doubt, bool) {
	id := q.shared()
	return doubt{
		why:  fmt.Sprintf("session %q is on both sides, so the candidate is compared with itself", id),
		next: "Compare with a baseline from another session.",
	}, id != ""
}

// aged: the baseline is too old, or nobody knows how old.
func (q *question) aged() (doubt, bool) {
	if q.same || q.policy.MaxAge <= 0 {
		return doubt{}, false
	}
	age, known := q.age()
	if !known {
		return doubt{
			why:  "the start of a session is not recorded, so the age of the baseline is unknown",
			next: "Measure again, or import files that carry their date.", passOnly: true,
		}, true
	}
	return doubt{
		why:      fmt.Sprintf("the baseline is %s old, and gate.baseline.max_age is %s", count(int(days(age)), "day"), count(int(days(q.policy.MaxAge)), "day")),
		next:     "Add a fresh session: benchgate baseline accept --add-session.",
		passOnly: true,
	}, age > q.policy.MaxAge
}

// age is the time from the baseline's newest session to the candidate's; never negative.
func (x *pair) age() (age time.Duration, known bool) {
	base, head := x.base.digest.Last(), x.head.digest.Last()
	if base.IsZero() || head.IsZero() {
		return 0, false
	}
	return max(0, head.Sub(base)), true
}

// ahead is how much later the baseline's newest session began than the candidate's; 0 when it did not, or nobody knows.
func (x *pair) ahead() time.Duration {
	base, head := x.base.digest.Last(), x.head.digest.Last()
	if base.IsZero() || head.IsZero() {
		return 0
	}
	return max(0, base.Sub(head))
}

func days(d time.Duration) float64 { return d.Hours() / 24 }

// misbehaving is the last word on a candidate whose server misbehaved in a run: it can be shown worse, but nothing good of
// it is believed.
func (q *question) misbehaving() {
	switch q.finding.Outcome {
	case Regressed, Breached, Invalid, Incomparable, Missing:
		return
	}
	head := q.head
	if head == nil {
		return // an orphan of the baseline
	}
	if q.whole != nil {
		head = q.whole.head // whatever was measured after the answer
	}
	runs := head.which(misbehaved)
	if q.before != nil {
		runs = append(q.before.which(misbehaved), runs...)
	}
	if len(runs) == 0 {
		return
	}
	q.settle(Invalid, "The server misbehaved in "+list(runs, 3)+": such a candidate can be shown worse, but not good.",
		"Look at the server's log, then measure again.")
}
