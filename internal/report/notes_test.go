package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/gate"
)

func TestLineSaysTheVerdictInOneLine(t *testing.T) {
	got := map[string]string{}
	for name, v := range verdicts(t) {
		got[name] = Line(v, 140)
	}
	want := map[string]string{
		"pass":         "PASS: chat ttft.p95 1 % slower (−8 to 11 %)",
		"improved":     "IMPROVED: chat ttft.p95 30 % faster (23 to 36 %), and 2 more",
		"waived":       "WAIVED: chat ttft.p95 30 % slower (19 to 43 %), and 1 more",
		"observed":     "OBSERVED: chat tpot.mean 2 % slower (−7 to 12 %)",
		"new":          `NEW: chat: There is no baseline for scenario "chat".`,
		"inconclusive": "INCONCLUSIVE: chat ttft.p95 2 % slower (−20 to 31 %), and 1 more",
		"regressed":    "REGRESSED: chat ttft.p95 30 % slower (19 to 43 %), and 2 more",
		"interleaved":  "REGRESSED: chat ttft.p95 29 % slower (25 to 33 %), and 2 more",
		"confirm":      "REGRESSED: batch ttft.p95 29 % slower (23 to 36 %), and 2 more",
		"network":      "REGRESSED: chat ttft.p95 12 % slower (3 to 23 %)",
		"simulated":    "REGRESSED (simulated): chat ttft.p95 29 % slower (5 to 58 %)",
		"many":         "REGRESSED: scenario-12 ttft.p95 244 % slower (198 to 297 %), and 1 more",
		"breached":     "BREACHED: chat error.ratio 6.9 % (max 0.5 %)",
		"drifted":      "DRIFTED: chat ttft.p95 30 % slower (19 to 43 %), and 2 more",
		"invalid":      `INVALID: chat: 3 of the candidate's 5 runs were spoilt by the client or the host, more than 20 %: run 3: "lateness p99 79 ms, limit 38 ms";…`,
		"buffered":     "INVALID: chat: The stream is buffered: 98 % of the candidate's answers came all at once. ttft.p95 then tells when the stream was let go, no…",
		"incomparable": `INCOMPARABLE: chat: The two sides did not measure the same thing: accelerator is "1 × NVIDIA H100 80GB HBM3" at base and "1 × NVIDIA A100-S…`,
		"missing":      `MISSING: batch: The candidate has no digest of scenario "batch".`,
		"hostile":      "REGRESSED: x | y <!-- --> @everyone ![a](https://evil.example/p.png) `` <script>alert(1)</… ttft.p95 30 % slower (19 to 43 %), and 2 more",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLineKeepsItsLength(t *testing.T) {
	for name, v := range verdicts(t) {
		for _, most := range []int{20, 80, 140} {
			if n := len([]rune(Line(v, most))); n > most {
				t.Errorf("%s: %d characters, not %d", name, n, most)
			}
		}
	}
}

func TestNotesNameTheRuleAndTheLevel(t *testing.T) {
	type short struct {
		Level, Title, File string
		Line               int
	}
	for name, want := range map[string][]short{
		"pass": nil,
		"breached": {
			{"error", "BREACHED: chat error.ratio", "benchgate.yaml", 35},
			{"warning", "INCONCLUSIVE: chat ttft.p95", "benchgate.yaml", 23},
			{"warning", "INCONCLUSIVE: chat goodput.ratio", "benchgate.yaml", 34},
			{"warning", "INCONCLUSIVE: chat output.rate", "benchgate.yaml", 33},
		},
		"waived":   {{"warning", "WAIVED: chat ttft.p95", "benchgate.yaml", 23}, {"warning", "WAIVED: chat tpot.mean", "benchgate.yaml", 32}},
		"observed": {{"notice", "OBSERVED: chat tpot.mean", "benchgate.yaml", 32}, {"notice", "OBSERVED: chat e2el.p95", "", 0}},
	} {
		var got []short
		for _, n := range Notes(verdict(t, "testdata/"+name+".json")) {
			got = append(got, short{n.Level, n.Title, n.File, n.Line})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnOutcomeThatTurnsTheJobRedIsAnError(t *testing.T) {
	for _, test := range []struct {
		outcome gate.Outcome
		exit    int
		want    string
	}{
		{gate.Regressed, 1, "error"},
		{gate.Breached, 1, "error"},
		{gate.Drifted, 1, "error"},
		{gate.Invalid, 3, "error"},
		{gate.Incomparable, 3, "error"},
		{gate.Missing, 3, "error"},
		{gate.Inconclusive, 0, "warning"},
		{gate.Inconclusive, 4, "error"},
		{gate.New, 0, "warning"},
		{gate.New, 3, "error"},
		{gate.Waived, 0, "warning"},
		{gate.Improved, 0, "notice"},
		{"unheard of", 3, "error"},
	} {
		v := gate.Verdict{Outcome: test.outcome, ExitCode: test.exit, Summary: "why"}
		notes := Notes(v)
		if len(notes) != 1 || notes[0].Level != test.want || notes[0].Message != "why" {
			t.Errorf("%s with exit code %d gives %+v, want one %s", test.outcome, test.exit, notes, test.want)
		}
	}
}

func TestNotesAreOneParagraph(t *testing.T) {
	for name, v := range verdicts(t) {
		for _, n := range Notes(v) {
			for _, s := range []string{n.Title, n.Message, n.File} {
				if s != clean(s, len(s)) {
					t.Errorf("%s: %q", name, s)
				}
			}
		}
	}
}
