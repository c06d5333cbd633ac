package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// Decide answers every rule of the policy in every scenario: a candidate against a baseline, each given as one digest a
// scenario. The order of the digests, and of sessions and runs in them, decides nothing. The digests are not changed.
func Decide(p Policy, base, head []bench.Digest) Verdict {
	p = p.complete()
	pairs := match(p, base, head)
	qs := p.replay(ask(p, pairs))
	v := p.verdict(qs, pairs, base, head)
	v.sinceEpoch(qs)
	v.conclude(p, qs)
	return v
}

// verdict gathers what the answers and the pairs behind them say; the headline is left to conclude.
func (p Policy) verdict(qs []*question, pairs []*pair, base, head []bench.Digest) Verdict {
	at := newest(head)
	uses, warnings := p.waive(qs, at)
	v := Verdict{
		Schema: VerdictSchema, Runner: runner(base, head), At: at, Simulated: simulated(base, head), DefaultRules: p.Planned,
		Findings: []Finding{}, Series: series(pairs), Validity: validity(pairs), Client: health(pairs), Server: accounts(pairs), Environment: environment(pairs),
		Baseline: baselineOf(pairs), Waivers: uses, Warnings: slices.Concat(renamed(base, head), unknowns(pairs), doubted(pairs), warnings),
	}
	if slices.ContainsFunc(pairs, func(x *pair) bool { return x.same }) {
		v.Design = designInterleaved
	}
	for _, q := range qs {
		q.rewrites()
		q.excuse()
		q.misbehaving()
		v.Findings = append(v.Findings, q.finding)
	}
	return v
}

// complete fills in what the zero value leaves open.
func (p Policy) complete() Policy {
	if !(p.Confidence > 0 && p.Confidence < 1) {
		p.Confidence = 0.95
	}
	if !(p.DaySD > 0 && !math.IsInf(p.DaySD, 0)) {
		p.DaySD = 0.05
	}
	return p
}

// answer settles what prepare left open.
func (q *question) answer() {
	if !q.settled() {
		if q.comparison != nil {
			q.judge()
		} else {
			q.limited()
		}
	}
	q.doubtful()
}

// conclude sets the headline, its code and its sentences.
func (v *Verdict) conclude(p Policy, qs []*question) {
	var outcomes []Outcome
	for _, f := range v.Findings {
		outcomes = append(outcomes, f.Outcome)
	}
	v.Outcome = noticed(Worst(p, outcomes...), qs)
	v.ExitCode = v.Outcome.ExitCode(p)
	v.Summary = v.summary()
	v.Bound = v.bound(p, slices.ContainsFunc(qs, (*question).acrossDays))
}

// summary is the headline with the worst finding that made it.
func (v *Verdict) summary() string {
	n, worst := 0, -1
	for i, f := range v.Findings {
		if f.Outcome != v.Outcome {
			continue
		}
		n++
		if worst < 0 || f.before(v.Findings[worst]) {
			worst = i
		}
	}
	if worst < 0 {
		return "There was nothing to decide: no scenario and no rule."
	}
	f := v.Findings[worst]
	s := fmt.Sprintf("%s: %s", f.Scenario, f.Why)
	if len(v.Findings) > 1 {
		s += fmt.Sprintf(" (%s: %d of %s)", v.Outcome, n, count(len(v.Findings), "finding"))
	}
	return s
}

// before says whether a finding is told before another of the same outcome: primaries first, then the larger worsening.
func (f Finding) before(other Finding) bool {
	if f.Primary != other.Primary {
		return f.Primary
	}
	return f.Change != nil && f.Change.Worse > 0 && (other.Change == nil || f.Change.Worse > other.Change.Worse)
}

// newest is the start of the candidate's newest session: the time that the verdict is about.
func newest(head []bench.Digest) time.Time {
	var at time.Time
	for _, d := range head {
		if last := d.Last(); last.After(at) {
			at = last
		}
	}
	return at
}

// runners lists the names of runners, each once.
func runners(ds []bench.Digest) []string {
	var names []string
	for _, d := range ds {
		names = append(names, d.Runner)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func runner(base, head []bench.Digest) string {
	return cmp.Or(strings.Join(runners(head), ", "), strings.Join(runners(base), ", "))
}

// renamed warns when the sides carry other runner names; whether they are the same machine is for the facts to say.
func renamed(base, head []bench.Digest) []string {
	b, h := runners(base), runners(head)
	if len(b) == 0 || len(h) == 0 || slices.Equal(b, h) {
		return nil
	}
	return []string{fmt.Sprintf("the baseline is of runner %q, the candidate of %q", strings.Join(b, ", "), strings.Join(h, ", "))}
}

func simulated(sides ...[]bench.Digest) bool {
	return slices.ContainsFunc(slices.Concat(sides...), func(d bench.Digest) bool { return d.Simulated })
}
