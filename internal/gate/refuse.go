package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// The limits of what can still be repaired.
const (
	leastRuns      = 3              // valid runs a side; fewer have no interval worth its name
	mostSpoilt     = 0.20           // share of a side's runs
	lengthDiffers  = 0.02           // of the mean output length
	queuedTooOften = 0.01           // of requests, delayed by the client's own limit
	mostAhead      = 24 * time.Hour // that a baseline may be newer than the candidate without a word
	errorsMatter   = 0.01           // error rate from which survivors may flatter a latency
)

// alive settles a candidate of which a run got no answer at all.
func (q *question) alive() {
	h := q.head
	if r, dead := h.dead(); dead {
		why := fmt.Sprintf("All %s of %s failed", count(r.Sent, "request"), h.label(r))
		if r.FirstError != "" {
			why += ", the first with " + quote(r.FirstError)
		}
		q.settle(Invalid, why+".", "Look at the server's log, then measure again.")
	}
}

// candidate settles a candidate that nobody can judge, and one that has no baseline to be compared with. A limit needs none.
func (q *question) candidate() {
	h := q.head
	if q.tooSpoilt(h, "were spoilt by the client or the host"); q.settled() {
		return
	}
	if q.tooFew(h); q.settled() {
		return
	}
	if q.unfinished(h); q.settled() {
		return
	}
	if q.streamed(); q.settled() {
		return
	}
	switch {
	case q.rule.absolute():
	case q.base == nil && q.rewritten != "":
		q.settle(New, q.rewritten+" There is no baseline for that.", acceptRewritten)
	case h.turned() && (q.base == nil || !q.base.turned()):
		q.settle(Invalid, "The candidate was measured in turn with a reference, and the reference's side is missing.",
			"Give the whole folder that benchgate run wrote, with what lies under reference/.")
	case q.base == nil:
		q.settle(New, fmt.Sprintf("There is no baseline for scenario %q.", q.scenario), "Accept one: benchgate baseline accept.")
	}
}

// tooSpoilt refuses a side of which too much is unfit.
func (q *question) tooSpoilt(s *side, how string) {
	if s.spoilt() <= mostSpoilt {
		return
	}
	reason := func(r placed) string {
		if why := void(r); why != "" || s.name == "head" {
			return why
		}
		return misbehaved(r)
	}
	q.settle(Invalid, fmt.Sprintf("%d of the %s's %s %s, more than %s: %s.", len(s.runs)-len(s.fit), s.title(), count(len(s.runs), "run"), how,
		percent(mostSpoilt), list(s.which(reason), 3)), "Free the machine of other work and measure again; the validity checks in the report name what spoilt each run.")
}

func (q *question) tooFew(s *side) {
	if len(s.fit) < leastRuns {
		q.settle(Invalid, fmt.Sprintf("The %s has %s and at least %d are needed.", s.title(), count(len(s.fit), "valid run"), leastRuns),
			"Measure at least 5 runs a side: campaign.runs, or benchgate run --runs 5.")
	}
}

// unfinished refuses a session that was to have more runs: who stops when the numbers look right has decided many times.
func (q *question) unfinished(s *side) {
	for _, session := range s.digest.Sessions {
		if session.Interleaved {
			continue // it ends when everything is decided: see turns
		}
		valid := 0
		for _, r := range session.Runs() {
			if r.Valid() {
				valid++
			}
		}
		if valid < session.Planned {
			q.settle(Invalid, fmt.Sprintf("The %s has %d of the %s that were planned.", s.title(), valid, count(session.Planned, "run")),
				"Run the same benchgate run again: it measures what is missing.")
			return
		}
	}
}

func (s *side) title() string {
	switch {
	case s.name == "base" && s.inTurn:
		return "reference"
	case s.name == "base":
		return "baseline"
	}
	return "candidate"
}

// asks settles a question without a threshold: it is there to be seen.
func (q *question) asks() {
	if !q.rule.comparative() && !q.rule.absolute() {
		q.settle(Observed, "No rule sets a limit or a tolerance here.", "Add a rule if it should be able to block.")
		if len(q.measured(q.head)) == 0 && q.rule.Fallback != "" {
			if m, err := bench.ParseMetric(q.rule.Fallback); err == nil {
				q.use(m)
			}
		}
	}
}

// reach settles a metric that a side lacks, or has too few successes for. A rule with a fallback asks that instead.
func (q *question) reach() {
	outcome, why, next := q.reachable()
	if outcome != "" && q.rule.Fallback != "" && q.metric.Name != q.rule.Fallback {
		m, err := bench.ParseMetric(q.rule.Fallback)
		if err != nil {
			q.settle(Invalid, err.Error(), "Correct the rule.")
			return
		}
		q.warn("%s cannot be judged (%s) and %s is judged instead", q.metric.Name, why, m.Name)
		q.use(m)
		q.unfit, q.baseUnfit = false, false
		outcome, why, next = q.reachable()
	}
	if outcome != "" {
		q.settle(outcome, why+".", next)
		return
	}
	q.thin()
}

// thin warns of a percentile with enough successes in each run for a bound on one side but not on both, for which the
// smallest n with qⁿ ≤ 2.5 % is needed: the chance that all of n values lie below the q-quantile (David & Nagaraja 2003,
// §7.1).
func (q *question) thin() {
	_, statistic, _ := strings.Cut(q.metric.Name, ".p")
	percentile, err := strconv.ParseFloat(statistic, 64)
	if err != nil || !(percentile > 0 && percentile < 100) {
		return
	}
	enough := int(math.Ceil(math.Log(0.025) / math.Log(percentile/100)))
	least := q.head.fewest(q.metric)
	if q.rule.comparative() {
		least = min(least, q.base.fewest(q.metric))
	}
	if least < enough {
		q.warn("fewer than %d successes a run leave %s without an upper bound in each run, and a run has %d: send more (load.requests)", enough, q.metric.Name, least)
	}
}

// reachable says why the metric cannot be judged; the outcome is empty when it can.
func (q *question) reachable() (o Outcome, why, next string) {
	m := q.metric
	head := len(q.measured(q.head))
	switch {
	case head == 0 && what(m) == "goodput":
		return Missing, "the candidate has no " + m.Name, "Give the scenario an slo, or drop the rule."
	case head == 0 && len(q.head.having(m)) > 0:
		q.unfit = true
		return Invalid, m.Name + " is 0 in every run of the candidate, and nothing can be compared with that", "Hold it to a max instead."
	case head == 0:
		return Missing, "the candidate has no " + m.Name, "Measure again with a tool that records it, or drop the rule."
	case q.rule.comparative() && len(q.measured(q.base)) == 0 && len(q.base.having(m)) > 0:
		q.baseUnfit = !q.same
		return Invalid, m.Name + " is 0 in every run of the baseline, and nothing can be compared with that", "Hold it to a max instead."
	case q.rule.comparative() && len(q.measured(q.base)) == 0 && !q.base.tooFewToTell(): // else its refusal says more
		return New, "the baseline has no " + m.Name, "Accept a baseline that has it: benchgate baseline accept."
	}
	if short := float64(len(q.head.fit)-head) / float64(len(q.head.fit)); short > mostSpoilt {
		q.unfit = true
		return Invalid, fmt.Sprintf("%d of the candidate's %s lack %s", len(q.head.fit)-head, count(len(q.head.fit), "run"), m.Name),
			"Look at those runs in the report, then measure again."
	}
	sides := []*side{q.head}
	if q.rule.comparative() {
		sides = append(sides, q.base)
	}
	for _, s := range sides {
		if n := s.fewest(m); n < m.Least {
			q.unfit, q.baseUnfit = s == q.head, s == q.base && !q.same
			return Invalid, fmt.Sprintf("%s needs %d successes a run and a run of the %s has %d", m.Name, m.Least, s.title(), n),
				fmt.Sprintf("Send more requests a run (load.requests), or ask %s.p50.", what(m))
		}
	}
	return "", "", ""
}

// tooFewToTell reports a side without runs to speak of.
func (s *side) tooFewToTell() bool { return len(s.fit) < leastRuns }

// fewest is the smallest number of values behind the metric in a run that stands in comparisons: successes, or all
// requests where failures count too.
func (s *side) fewest(m bench.Metric) int {
	least := math.MaxInt
	for _, r := range s.fit {
		if m.Unit == bench.Ratio {
			least = min(least, r.Sent)
		} else {
			least = min(least, r.OK)
		}
	}
	return least
}

// lengths settles metrics that grow with the length of an answer where the server could not be made to write an exact one.
func (q *question) lengths() {
	if q.base == nil || q.head.digest.MustMatch[bench.KeyOutput] != "ceiling" {
		return
	}
	switch what(q.metric) {
	case "e2el", "e2el_sched", "output", "request", "goodput":
	default:
		return
	}
	b, h := q.base.outputLength(), q.head.outputLength()
	if b > 0 && h > 0 && math.Abs(h/b-1) < lengthDiffers {
		return
	}
	why := "The mean length of an answer is not known on both sides"
	if b > 0 && h > 0 {
		why = fmt.Sprintf("An answer has %.1f tokens here and %.1f at base", h, b)
	}
	q.settle(Incomparable, fmt.Sprintf("%s: this server treats output_tokens as a ceiling, and %s is only judged when mean lengths differ by less than %s.",
		why, q.metric.Name, percent(lengthDiffers)), "Judge ttft and tpot, or serve with an engine that obeys ignore_eos.")
}

// baseline settles a baseline that nobody can compare with. A limit needs none.
func (q *question) baseline() {
	if !q.rule.comparative() {
		return
	}
	defer q.faulty()
	if q.tooSpoilt(q.base, "cannot be used"); q.settled() {
		return
	}
	if q.tooFew(q.base); q.settled() {
		return
	}
	if q.baseStreamed(); q.settled() {
		return
	}
	if ahead := q.ahead(); ahead >= mostAhead {
		q.warn("the baseline's newest session began %s after the candidate's: is a clock wrong?", count(int(days(ahead)), "day"))
	}
	dropped := q.base.which(misbehaved)
	if len(dropped) > 0 {
		q.warn("dropped from the %s, since the server misbehaved: %s", q.base.title(), list(dropped, 3))
	}
	if short := len(q.base.fit) - len(q.measured(q.base)); float64(short) > mostSpoilt*float64(len(q.base.fit)) {
		q.settle(Invalid, fmt.Sprintf("%d of the %s's %s lack %s.", short, q.base.title(), count(len(q.base.fit), "run"), q.metric.Name),
			"Accept a baseline in which every run has it.")
	} else if short > 0 {
		q.warn("dropped from the %s, since they have no %s: %s", q.base.title(), q.metric.Name, count(short, "run"))
	}
}
