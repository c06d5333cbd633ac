package gate

import (
	"slices"

	"github.com/benchgate/benchgate/internal/bench"
)

// What could still answer a finding: see [Finding.Awaits].
const (
	awaitsLook  = "look"
	awaitsStage = "stage 2"
)

// Confirm decides a confirm campaign. Its first stage compares the candidate with a committed baseline; what is a pass, an
// improvement or an observation there is final, what rests on a candidate that nobody can judge as well. Everything else that
// is comparative is answered by the second stage alone, in which candidate and reference were started in turn: in families of
// just those questions, at its looks, and only there may anything regress. Limits are held once, against all that was
// measured of the candidate.
//
// Base is the baseline; head the candidate's digests, each with a plain session of the first stage, an interleaved one of the
// second, or both; reference the reference's side of the second stage, empty before that is measured. A scenario without a
// plain session, or without a baseline that it can be compared with, goes straight to the second stage.
func Confirm(p Policy, base, reference, head []bench.Digest) Verdict {
	p = p.complete()
	c := p.confirmation(base, reference, head)
	qs := c.answer()
	v := p.verdict(qs, c.pictures(), slices.Concat(base, reference), head)
	v.Design, v.Validity = designConfirm, c.validity()
	if first := baselineOf(c.of(c.first)); first != nil {
		v.Baseline = first
		v.sinceEpoch(c.asked)
	}
	v.conclude(p, qs)
	return v
}

// confirmation is a confirm campaign on its way to a verdict.
type confirmation struct {
	Policy
	whole         []*pair // a candidate with all its sessions; the baseline, or the reference where there is none
	first, second map[string]*pair
	asked         []*question // of the first stage, final or not
}

func (p Policy) confirmation(base, reference, head []bench.Digest) *confirmation {
	c := &confirmation{Policy: p, whole: match(p, slices.Concat(base, lacking(reference, base)), head), first: map[string]*pair{}, second: map[string]*pair{}}
	for _, x := range c.whole {
		x.course = course{} // a limit is held against all that was measured
		c.first[x.scenario], c.second[x.scenario] = &pair{scenario: x.scenario}, &pair{scenario: x.scenario}
	}
	for _, x := range match(p, base, only(head, false)) {
		c.first[x.scenario] = x
	}
	for _, x := range match(p, reference, only(head, true)) {
		c.second[x.scenario] = x
	}
	return c
}

// answer decides the first stage, and by the second what that leaves open.
func (c *confirmation) answer() []*question {
	out := ask(c.Policy, c.whole)
	var first []*question
	var open []int
	for i, q := range out {
		if q.rule.comparative() && q.head != nil && q.twice == "" {
			open = append(open, i)
			x := c.first[q.scenario]
			if x.head == nil {
				continue
			}
			out[i] = newQuestion(c.Policy, x, q.rule).as(1, nil)
			c.asked = append(c.asked, out[i])
		}
		first = append(first, out[i])
	}
	c.replay(first) // no pair of it has looks: each is answered where it stands
	return c.confirm(out, slices.DeleteFunc(open, func(i int) bool { return out[i].answered() }))
}

// as makes it a question of a stage; before is the candidate in the stage before.
func (q *question) as(stage int, before *side) *question {
	q.stage, q.before = stage, before
	switch stage {
	case 1:
		q.finding.Look = "stage 1"
	case 2:
		q.finding.Look = "stage 2, look " + q.place()
	}
	return q
}

// answered reports whether the first stage has the last word on the question. A candidate whose server misbehaved there can
// only be shown worse, and goes on only if it seems so. One of another model cannot be compared with the reference either;
// one of another workload can, since the reference is sent it too.
func (q *question) answered() bool {
	switch q.finding.Outcome {
	case Pass, Improved, Observed, Missing:
		return true
	case New:
		return slices.Contains(q.policy.Rewritten[q.scenario], bench.KeyModel) && q.was != nil
	case Invalid:
		return q.unfit
	case Inconclusive:
		return len(q.head.which(misbehaved)) > 0
	}
	return false
}

// confirm answers the open questions by the second stage.
func (c *confirmation) confirm(qs []*question, open []int) []*question {
	var second []*question
	var places []int
	for _, i := range open {
		x := c.second[qs[i].scenario]
		switch {
		case x.head == nil && x.base == nil:
			qs[i].unconfirmed()
		case x.head == nil: // the reference begins
			qs[i].settle(Invalid, "The campaign is unfinished: of its second stage only visits of the reference are measured.", goOn)
			qs[i].finding.Awaits = awaitsLook
		case x.was != nil: // measured in turn, and yet incomparable with the reference: it is another model
			second = append(second, newQuestion(c.Policy, x, qs[i].rule).as(2, c.first[x.scenario].head))
			places = append(places, i)
		case x.base == nil:
			qs[i].settle(Invalid, "The reference's side of the second stage is missing.",
				"Give the whole folder that benchgate run wrote, with what lies under reference/.")
		case !x.same:
			qs[i].settle(Invalid, "The second stage cannot be read: candidate and reference were not measured in turn in one campaign.",
				"Measure again with benchgate run, which writes both sides.")
		default:
			second = append(second, newQuestion(c.Policy, x, qs[i].rule).as(2, c.first[x.scenario].head))
			places = append(places, i)
		}
	}
	for k, q := range c.replay(second) {
		qs[places[k]] = q
	}
	return qs
}

// unconfirmed settles a question that the second stage would have to answer and that is not measured: the campaign is not
// finished, and who stops there has shown nothing.
func (q *question) unconfirmed() {
	f := &q.finding
	why, next := f.Why, goOn
	switch {
	case q.stage == 0:
		why = "There is no first stage to go by."
	case f.Outcome == Regressed:
		why += " Only the second stage may block."
	case f.Outcome == New:
		next = "Give the baseline that benchgate run had (--baseline). " + goOn
	}
	q.settle(Invalid, "The campaign is unfinished: its second stage is not measured. "+why, next)
	if q.stage == 0 {
		q.show()
	}
	f.Awaits = awaitsStage
}

// pictures are the pairs that answered: those of the second stage where there is one.
func (c *confirmation) pictures() []*pair {
	var out []*pair
	for _, x := range c.whole {
		switch first, second := c.first[x.scenario], c.second[x.scenario]; {
		case second.same:
			out = append(out, second)
		case first.head != nil:
			out = append(out, first)
		default:
			out = append(out, x)
		}
	}
	return out
}

// validity looks at both stages; what is said of the first is named so.
func (c *confirmation) validity() []Check {
	first := validity(c.of(c.first))
	for i := range first {
		first[i].Name = "stage 1: " + first[i].Name
	}
	return append(first, validity(c.of(c.second))...)
}

// of are the pairs of a stage of which both sides, or the candidate's, were measured, in the order of their names.
func (c *confirmation) of(stage map[string]*pair) []*pair {
	var out []*pair
	for _, x := range c.whole {
		if y := stage[x.scenario]; y.head != nil {
			out = append(out, y)
		}
	}
	return out
}

// lacking are the digests of scenarios that others do not have.
func lacking(ds, others []bench.Digest) []bench.Digest {
	return slices.DeleteFunc(slices.Clone(ds), func(d bench.Digest) bool {
		return slices.ContainsFunc(others, func(o bench.Digest) bool { return o.Scenario == d.Scenario })
	})
}

// only keeps the interleaved sessions of every digest, or the plain ones; a digest without any is left out.
func only(ds []bench.Digest, interleaved bool) []bench.Digest {
	var out []bench.Digest
	for _, d := range ds {
		d.Sessions = slices.DeleteFunc(slices.Clone(d.Sessions), func(s bench.Session) bool { return s.Interleaved != interleaved })
		if len(d.Sessions) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// Open names the scenarios that a further look could still decide, in order.
func (v Verdict) Open() []string { return v.awaiting(awaitsLook) }

// Unconfirmed names the scenarios that need the second stage of a confirm campaign, in order.
func (v Verdict) Unconfirmed() []string { return v.awaiting(awaitsStage) }

func (v Verdict) awaiting(what string) []string {
	var out []string
	for _, f := range v.Findings {
		if f.Awaits == what {
			out = append(out, f.Scenario)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
