package report

import "github.com/benchgate/benchgate/internal/gate"

// step is one thing to do, and the findings that ask for it.
type step struct {
	Next     string
	Findings []gate.Finding
}

// steps groups the findings that are no plain pass by what to do next, in their order. The plan is what somebody has to look
// at; calm are good news and things that nobody judges, unless they are the verdict itself.
func steps(verdict gate.Outcome, findings []gate.Finding) (plan, calm []step) {
	for _, f := range findings {
		switch f.Outcome {
		case gate.Pass:
		case gate.Improved, gate.Observed, gate.Waived:
			if f.Outcome == verdict {
				plan = add(plan, f)
			} else {
				calm = add(calm, f)
			}
		default:
			plan = add(plan, f)
		}
	}
	return plan, calm
}

func add(to []step, f gate.Finding) []step {
	next := prose(f.Next)
	for i := range to {
		if to[i].Next == next {
			to[i].Findings = append(to[i].Findings, f)
			return to
		}
	}
	return append(to, step{next, []gate.Finding{f}})
}

// total is how many findings the steps hold.
func total(steps []step) int {
	n := 0
	for _, s := range steps {
		n += len(s.Findings)
	}
	return n
}
