package gate

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAWithheldVerdictIsNeverGreen(t *testing.T) {
	for _, test := range []struct {
		outcome     Outcome
		code        int
		wantOutcome Outcome
		wantCode    int
		wantSummary string
	}{
		{Pass, 0, Missing, 3, "why"},
		{Improved, 0, Missing, 3, "why"},
		{Waived, 0, Missing, 3, "why"},
		{Observed, 0, Missing, 3, "why"},
		{New, 0, Missing, 3, "why"},
		{New, 3, Missing, 3, "why"},
		{Inconclusive, 0, Missing, 3, "why"},
		{Inconclusive, 4, Missing, 3, "why"},
		{Missing, 3, Missing, 3, "why"},
		{Invalid, 3, Invalid, 3, "before why"},
		{Incomparable, 3, Incomparable, 3, "before why"},
		{Regressed, 1, Regressed, 1, "before"},
		{Breached, 1, Breached, 1, "before"},
		{Drifted, 1, Drifted, 1, "before"},
	} {
		before := Verdict{Outcome: test.outcome, ExitCode: test.code, Summary: "before", Findings: []Finding{{Outcome: test.outcome, Why: "that"}}}
		got := before.Withheld("why", "next")
		if got.Outcome != test.wantOutcome || got.ExitCode != test.wantCode || got.Summary != test.wantSummary {
			t.Errorf("%s with exit code %d becomes %s, %d, %q", test.outcome, test.code, got.Outcome, got.ExitCode, got.Summary)
		}
		want := 2
		if test.outcome == Missing {
			want = 1 // its cause is told, and not beside a second one
		}
		if f := got.Findings[0]; len(got.Findings) != want || f.Why != "why" || f.Next != "next" || f.Outcome != Missing {
			t.Errorf("%s: findings %+v", test.outcome, got.Findings)
		}
		if diff := cmp.Diff([]Finding{{Outcome: test.outcome, Why: "that"}}, before.Findings); diff != "" {
			t.Errorf("%s: the verdict before (-want +got):\n%s", test.outcome, diff)
		}
		if again := got.Withheld("other", "way"); len(again.Findings) != want || again.Findings[0].Why != "other" {
			t.Errorf("%s: findings of a second cause %+v", test.outcome, again.Findings)
		}
		if err := WriteVerdict(&bytes.Buffer{}, got); err != nil {
			t.Errorf("%s: %v", test.outcome, err)
		}
	}
}

func TestARefusedVerdictSaysNothingOfTheFiles(t *testing.T) {
	for _, outcome := range []Outcome{Pass, New, Missing, Regressed} {
		got := Verdict{Outcome: outcome, ExitCode: 1, Summary: "before", Findings: []Finding{{Outcome: outcome, Why: "that"}, {Outcome: Pass}}}.Refused("why", "next")
		want := Verdict{
			Outcome: Invalid, ExitCode: 3, Summary: "why",
			Findings: []Finding{{Outcome: Invalid, Why: "why", Next: "next"}}, Validity: []Check{{Name: "measured", Detail: "why"}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", outcome, diff)
		}
	}
}
