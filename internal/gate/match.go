package gate

import (
	"maps"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

// pair is one scenario with the digests of both sides; either may be absent.
type pair struct {
	scenario   string
	base, head *side
	// twice names the side that has two digests of the scenario, so that nobody knows which is meant.
	twice string
	// same is true when both sides were measured in turn in one campaign.
	same       bool
	comparable bench.Comparability // zero unless both sides are there
	course
	// rewritten says what the head itself changes, so that the baseline is not of what was measured; empty where it is. The
	// base is then absent where it cannot be compared with, and was is what it would have been.
	rewritten string
	was       *side
	// whole is the pair with all that was measured, of which this one is the view at a look; nil when it is all.
	whole *pair
}

// match finds what belongs together: every scenario that the policy expects, that a rule names, or that a side has, in the
// order of their names.
func match(p Policy, base, head []bench.Digest) []*pair {
	pairs := map[string]*pair{}
	at := func(name string) *pair {
		if pairs[name] == nil {
			pairs[name] = &pair{scenario: name}
		}
		return pairs[name]
	}
	for _, name := range p.Scenarios {
		at(name)
	}
	for _, r := range p.Rules {
		for _, name := range r.Scenarios {
			at(name)
		}
	}
	for _, d := range base {
		x := at(d.Scenario)
		x.put(&x.base, newSide("base", d))
	}
	for _, d := range head {
		x := at(d.Scenario)
		x.put(&x.head, newSide("head", d))
	}
	all := slices.SortedFunc(maps.Values(pairs), func(a, b *pair) int { return strings.Compare(a.scenario, b.scenario) })
	for _, x := range all {
		x.relate()
		x.rewrite(p.Rewritten[x.scenario])
		x.plan(p)
	}
	return all
}

func (x *pair) put(place **side, s *side) {
	if *place != nil {
		x.twice = s.name
	}
	*place = s
}

func (x *pair) relate() {
	if x.base == nil || x.head == nil {
		return
	}
	x.comparable = bench.Compare(x.base.digest, x.head.digest)
	b, h := x.base.digest.Sessions, x.head.digest.Sessions
	x.same = len(b) == 1 && len(h) == 1 && b[0].Interleaved && h[0].Interleaved && b[0].ID == h[0].ID
	x.base.inTurn, x.head.inTurn = x.same, x.same
}

// shared is the name of a session that stands on both sides although it was not measured in turn: data compared with
// itself. Empty when there is none.
func (x *pair) shared() string {
	if x.same {
		return ""
	}
	for _, b := range x.base.digest.Sessions {
		for _, h := range x.head.digest.Sessions {
			if b.ID == h.ID && !(b.Interleaved && h.Interleaved) {
				return b.ID
			}
		}
	}
	return ""
}
