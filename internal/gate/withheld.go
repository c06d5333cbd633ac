package gate

import "slices"

// Withheld is the verdict where something beside the files says that not all was measured: it is never green, and what the
// files show to be worse stays what it is. Why and next become those of every finding that is missing, whose cause this is;
// where none is, they are a finding of no scenario.
func (v Verdict) Withheld(why, next string) Verdict {
	v.Findings = slices.Clone(v.Findings)
	told := false
	for i := range v.Findings {
		if f := &v.Findings[i]; f.Outcome == Missing {
			f.Why, f.Next, told = why, next, true
		}
	}
	if !told {
		v.Findings = slices.Insert(v.Findings, 0, Finding{Outcome: Missing, Why: why, Next: next})
	}
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

// Refused is the verdict where the files are not what the policy asks for: nothing of them is judged, and it is invalid.
func (v Verdict) Refused(why, next string) Verdict {
	v.Findings = []Finding{{Outcome: Invalid, Why: why, Next: next}}
	v.Validity = append(slices.Clone(v.Validity), Check{Name: "measured", Detail: why})
	v.Outcome, v.ExitCode, v.Summary = Invalid, codeInvalid, why
	return v
}
