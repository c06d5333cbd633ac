package gate

import "slices"

// Withheld is the verdict where something beside the files says that not all was measured: it is never green, and what the
// files show to be worse stays what it is. Why and next become a finding of no scenario.
func (v Verdict) Withheld(why, next string) Verdict {
	f := Finding{Outcome: Missing, Why: why, Next: next}
	v.Findings = slices.Insert(slices.Clone(v.Findings), 0, f)
	v.Validity = append(slices.Clone(v.Validity), Check{Name: "measured", Detail: why})
	switch {
	case v.ExitCode == codeRed:
	case v.ExitCode == codeInvalid && v.Outcome != Missing && v.Outcome != New:
		v.Summary += " " + why
	default:
		v.Outcome, v.ExitCode, v.Summary = Missing, codeInvalid, why
	}
	return v
}
