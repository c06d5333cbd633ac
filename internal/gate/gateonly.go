package gate

import (
	"fmt"
	"slices"
)

// gateAlone begins what is said of a change that touches nothing but the gate.
const gateAlone = "The change touches the gate alone, so the build is that of base"

// excuse answers anew for a change that touches nothing but the gate: what was measured is base's own build, and none of it is
// this change's doing. Else a gate that is in the way could not be mended by any change. Measurements that nobody can believe
// stay so, and so does what was not measured.
func (q *question) excuse() {
	if !q.policy.GateOnly {
		return
	}
	f := &q.finding
	switch {
	case f.Outcome == Regressed, f.Outcome == Breached, f.Outcome == Drifted:
		if q.policy.Proposed {
			q.excused(New, f.Why+" "+gateAlone+", and nothing that was accepted there says what it may be.", "Once the rules are merged, accept a baseline: benchgate baseline accept --new-epoch --reason TEXT.")
			break
		}
		q.excused(Observed, f.Why+" "+gateAlone+": already so at base.", "Nothing is this change's fault. Find out what made base slower, or begin anew: benchgate baseline accept --new-epoch --reason TEXT.")
	case q.orphaned():
		q.excused(New, fmt.Sprintf("The baseline has scenario %q and the config at base does not, so nothing measures it.", q.scenario),
			fmt.Sprintf("Remove it, in this change or the next: benchgate baseline rm %s %s.", q.base.digest.Runner, q.scenario))
	case f.Outcome == Incomparable, f.Outcome == Invalid && q.baseUnfit:
		q.excused(New, f.Why+" "+gateAlone+": already so at base.", f.Next)
	}
	// What a policy turns red for being unknown is not this change's doing either.
	if (f.Outcome == New || f.Outcome == Inconclusive) && f.Outcome.ExitCode(q.policy) != codeGreen {
		why := f.Why
		if !q.isExcused {
			why += " " + gateAlone + ": already so at base."
		}
		q.excused(Observed, fmt.Sprintf("%s The policy fails what is %s, of any other change.", why, f.Outcome), f.Next)
	}
}

func (q *question) excused(o Outcome, why, next string) {
	q.settle(o, why, next)
	q.isExcused = true
}

// orphaned reports whether the scenario is missing only because the baseline has one that the rules do not know.
func (q *question) orphaned() bool {
	return q.finding.Outcome == Missing && q.head == nil && q.base != nil && len(q.policy.Scenarios) > 0 && !slices.Contains(q.policy.Scenarios, q.scenario)
}

// faulty notes that what was just settled is the fault of a committed baseline, and not of what was measured.
func (q *question) faulty() { q.baseUnfit = q.finding.Outcome == Invalid && !q.same }

// noticed makes a headline of what was excused, where nothing before it in rank is one: it is not to pass unseen.
func noticed(headline Outcome, qs []*question) Outcome {
	excused := slices.ContainsFunc(qs, func(q *question) bool { return q.isExcused && q.finding.Outcome == Observed })
	if excused && slices.Contains([]Outcome{Pass, Improved, Waived}, headline) {
		return Observed
	}
	return headline
}
