package gate

import "testing"

// The sentence of a verdict is about the finding that a reader sees first in the table: a primary, and of those the worst.
func TestHeadlineTellsTheWorstFinding(t *testing.T) {
	worse := func(scenario string, primary bool, by float64) Finding {
		return Finding{Scenario: scenario, Primary: primary, Outcome: Regressed, Why: "slower.", Change: &Change{Worse: by}}
	}
	for name, c := range map[string]struct {
		findings []Finding
		want     string
	}{
		"the larger worsening":    {[]Finding{worse("a", true, 0.5), worse("b", true, 2.4), worse("c", true, 0.6)}, "b: slower. (regressed: 3 of 3 findings)"},
		"a primary before others": {[]Finding{worse("a", false, 2.4), worse("b", true, 0.5)}, "b: slower. (regressed: 2 of 2 findings)"},
		"of equals the first":     {[]Finding{worse("a", true, 0.5), worse("b", true, 0.5)}, "a: slower. (regressed: 2 of 2 findings)"},
		"only of its own outcome": {
			[]Finding{{Scenario: "a", Primary: true, Outcome: Inconclusive, Why: "open.", Change: &Change{Worse: 9}}, worse("b", true, 0.5)},
			"b: slower. (regressed: 1 of 2 findings)",
		},
		"one without a change comes after": {
			[]Finding{{Scenario: "a", Outcome: Regressed, Why: "none."}, worse("b", false, 0.5)}, "b: slower. (regressed: 2 of 2 findings)",
		},
	} {
		v := Verdict{Outcome: Regressed, Findings: c.findings}
		if got := v.summary(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
