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
	qs := ask(p, pairs)
	for _, q := range qs {
		q.prepare()
	}
	p.compare(qs)
	for _, q := range qs {
		q.answer()
	}
	at := newest(head)
	uses, warnings := p.waive(qs, at)
	v := Verdict{
		Schema: VerdictSchema, Runner: runner(base, head), At: at, Simulated: simulated(base, head), DefaultRules: p.Planned,
		Findings: []Finding{}, Series: series(pairs), Validity: validity(pairs), Environment: environment(pairs),
		Baseline: baselineOf(pairs), Waivers: uses, Warnings: slices.Concat(renamed(base, head), unknowns(pairs), warnings),
	}
	for _, q := range qs {
		q.misbehaving()
		v.Findings = append(v.Findings, q.finding)
	}
	v.conclude(p, slices.ContainsFunc(qs, func(q *question) bool { return q.finding.Change != nil && !q.same }))
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

// conclude sets the headline, its code and its sentences; acrossDays says that some comparison was with another session.
func (v *Verdict) conclude(p Policy, acrossDays bool) {
	var outcomes []Outcome
	for _, f := range v.Findings {
		outcomes = append(outcomes, f.Outcome)
	}
	v.Outcome = Worst(p, outcomes...)
	v.ExitCode = v.Outcome.ExitCode(p)
	v.Summary = v.summary()
	v.Bound = p.bound(v.Findings, acrossDays)
}

// summary is the headline with the first finding that made it.
func (v *Verdict) summary() string {
	n := 0
	first := -1
	for i, f := range v.Findings {
		if f.Outcome == v.Outcome {
			n++
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return "There was nothing to decide: no scenario and no rule."
	}
	f := v.Findings[first]
	s := fmt.Sprintf("%s: %s", f.Scenario, f.Why)
	if len(v.Findings) > 1 {
		s += fmt.Sprintf(" (%s: %d of %s)", v.Outcome, n, count(len(v.Findings), "finding"))
	}
	return s
}

// bound says what the verdict claims about false alarms, and what its passes exclude.
func (p Policy) bound(fs []Finding, acrossDays bool) string {
	primaries, others := 0, 0
	var excluded []string
	for _, f := range fs {
		if f.Change == nil {
			continue
		}
		if f.Primary {
			primaries++
		} else {
			others++
		}
		if f.Outcome == Pass && f.Primary {
			m, err := bench.ParseMetric(f.Metric)
			if err == nil {
				excluded = append(excluded, f.Scenario+" "+f.Metric+" "+speak(m).most(f.Change))
			}
		}
	}
	s := p.promise(primaries, others)
	if acrossDays {
		s += fmt.Sprintf(", as long as days differ by no more than %s (gate.baseline.day_sd)", percent(p.DaySD))
	}
	s += "."
	if len(excluded) > 0 {
		s += fmt.Sprintf(" With %s confidence each: %s.", percent(1-p.alpha()), list(excluded, 8))
	}
	return s
}

// promise is the rate of false alarms, by the families in which rules were compared.
func (p Policy) promise(primaries, others int) string {
	level := percent(p.alpha())
	switch {
	case primaries > 0 && others > 0:
		return fmt.Sprintf("Two identical builds turn a primary metric red in at most %s of comparisons and any comparative rule in at most %s, over all scenarios together", level, percent(2*p.alpha()))
	case primaries > 0:
		return fmt.Sprintf("Two identical builds turn a primary metric red in at most %s of comparisons, over all scenarios together", level)
	case others > 0:
		return fmt.Sprintf("Two identical builds turn a comparative rule red in at most %s of comparisons, over all scenarios together", level)
	}
	return "Nothing was compared, so nothing is claimed about false alarms"
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
