package gate

import "slices"

// The exit codes that a verdict can carry. Codes 2 and 130 belong to the program, not to a verdict.
const (
	codeGreen        = 0
	codeRed          = 1
	codeInvalid      = 3
	codeInconclusive = 4
)

// ranking is the order in which outcomes make a headline, worst first. Codes come in the order 1, 3, 4, 0; among the green
// ones those that show nothing stand before those that show something, and those before "observed", which asks nothing.
var ranking = [...]Outcome{
	Regressed, Breached, Drifted,
	Invalid, Incomparable, Missing,
	Inconclusive, New, Waived, Improved, Pass, Observed,
}

// ExitCode is the exit code of one outcome under a policy. An outcome that is none of ours is 3: unknown is not green.
func (o Outcome) ExitCode(p Policy) int {
	switch o {
	case Pass, Improved, Waived, Observed:
		return codeGreen
	case New:
		if p.OnMissing == "fail" {
			return codeInvalid
		}
		return codeGreen
	case Inconclusive:
		if p.OnInconclusive == "fail" {
			return codeInconclusive
		}
		return codeGreen
	case Regressed, Breached, Drifted:
		return codeRed
	}
	return codeInvalid
}

// Worst is the outcome that stands for all of them: by exit code in the order 1, 3, 4, 0, then by what a reader has to
// know first. Of nothing it is Invalid, since a gate that was asked nothing has shown nothing.
func Worst(p Policy, os ...Outcome) Outcome {
	if len(os) == 0 {
		return Invalid
	}
	return slices.MinFunc(os, func(a, b Outcome) int {
		if d := severity(a.ExitCode(p)) - severity(b.ExitCode(p)); d != 0 {
			return d
		}
		return rank(a) - rank(b)
	})
}

// severity is the place of a code in the order in which codes win.
func severity(code int) int {
	return slices.Index([]int{codeRed, codeInvalid, codeInconclusive, codeGreen}, code)
}

func rank(o Outcome) int {
	if i := slices.Index(ranking[:], o); i >= 0 {
		return i
	}
	return slices.Index(ranking[:], Invalid)
}

func (o Outcome) known() bool { return slices.Contains(ranking[:], o) }
