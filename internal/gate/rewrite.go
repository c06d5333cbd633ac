package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

// rewrite takes the base away from a pair that is incomparable for facts that the head itself changes, and for no other.
// Both sides have to know such a fact: what one of them does not know nobody can hold against the change. Where the two were
// measured in turn the head's workload was sent to both, so that they agree about another one than base's.
func (x *pair) rewrite(facts []string) {
	var names, parts []string
	for _, f := range x.comparable.Incomparable {
		if !slices.Contains(facts, f.Name) || f.Base == "" || f.Head == "" {
			return
		}
		names = append(names, f.Name)
		parts = append(parts, fmt.Sprintf("%s is %s at base and %s here", f.Name, f.Base, f.Head))
	}
	switch {
	case len(names) > 0:
		x.rewritten = fmt.Sprintf("The head itself changes the %s: %s.", strings.Join(names, " and the "), list(parts, 4))
		x.was, x.base, x.same, x.comparable = x.base, nil, false, bench.Comparability{}
	case x.same && slices.Contains(facts, bench.KeyWorkload):
		x.rewritten = "The head itself changes the workload, and both sides were measured with it."
	}
}

// compared is the base, even one that nothing can be compared with.
func (x *pair) compared() *side {
	if x.was != nil {
		return x.was
	}
	return x.base
}

// rewrites makes new what would be good of a scenario that the head rewrites: it is shown of another workload, or another
// model, than the one that was accepted; or by rules that nobody has accepted. What is shown bad stays so.
func (q *question) rewrites() {
	why, next := q.rewritten, acceptRewritten
	if why == "" && q.policy.Proposed {
		why, next = "The rules are those of the head itself, and base has none.", "Once they are merged, the next change is judged by them."
	}
	switch o := q.finding.Outcome; {
	case why == "":
	case o == Pass, o == Improved, o == Observed, o == Waived && q.policy.Proposed:
		q.settle(New, why+" "+q.finding.Why, next)
	}
}

const acceptRewritten = "Once it is merged, accept a baseline: benchgate baseline accept --new-epoch --reason TEXT."
