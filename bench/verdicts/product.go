package main

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// resamples of the product's bootstrap: as few as its levels allow. More would move the rates by less than their Monte Carlo
// errors.
const resamples = 999

// policy asks for the product's default primary rule.
func policy() gate.Policy {
	p := gate.Defaults()
	p.Rules = p.Rules[:1]
	p.Rules[0].Fallback = ""
	p.Planned, p.Resamples = false, resamples
	return p
}

func digests(d bench.Digest) []bench.Digest { return []bench.Digest{d} }

// products are the gate's own designs.
func products() []rule {
	p := policy()
	own := rule{name: "benchgate", code: "own"}
	one, turns, two := own, own, own
	one.design, one.starts = committed, 1
	one.decide = func(x *dataset, e float64) answer {
		s := x.sides(e)
		return said(gate.Decide(p, digests(s.Base), digests(s.Head)))
	}
	turns.design = interleaved
	turns.decide = func(x *dataset, e float64) answer {
		s := x.sides(e)
		a := said(gate.Decide(p, digests(s.Reference), digests(s.Head)))
		a.runs = 2 * a.visits
		a.starts = a.runs
		return a
	}
	two.design = confirm
	two.decide = func(x *dataset, e float64) answer {
		s := x.sides(e)
		a := said(gate.Confirm(p, digests(s.Base), digests(s.Reference), digests(s.Head)))
		a.runs, a.starts = confirm.head+2*a.visits, 1+2*a.visits
		return a
	}
	return []rule{one, turns, two}
}

// visited finds the visits a side at which an interleaved question was decided.
var visited = regexp.MustCompile(`\((\d+) visits a side\)`)

// said turns a verdict on one rule into an answer. A refusal is none: it would be a defect of this command.
func said(v gate.Verdict) answer {
	f := v.Findings[0]
	a := answer{word: wordOf(f)}
	if c := f.Change; c != nil {
		a.low, a.high = c.Low, c.High
	}
	if m := visited.FindStringSubmatch(f.Look); m != nil {
		a.visits, _ = strconv.Atoi(m[1]) // digits
	}
	return a
}

func wordOf(f gate.Finding) word {
	switch f.Outcome {
	case gate.Pass:
		return pass
	case gate.Regressed:
		return block
	case gate.Improved:
		return improved
	case gate.Inconclusive:
		return inconclusive
	}
	panic(fmt.Sprintf("the gate answers %s: %s", f.Outcome, f.Why))
}
