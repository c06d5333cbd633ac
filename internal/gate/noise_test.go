package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// calibrated gives a digest the noise of a calibration: the run-to-run sd of ttft.p95 and of goodput.
func calibrated(d bench.Digest, day time.Time, sd float64) bench.Digest {
	d.Noise = &bench.Noise{Measured: day, Design: "committed", Runs: 12, Metrics: map[string]bench.MetricNoise{
		"ttft.p95": {SD: sd}, "goodput.ratio": {SD: sd},
	}}
	return d
}

func excluding(share float64) Policy {
	p := primary()
	p.Rules[0].RuleOut = ptr(share)
	p.Looks = []int{6, 8, 10}
	p.Resamples = 999
	return p
}

// TestRuleOutOutOfReachIsWarnedOf holds rules against the half-width that a known noise leaves. By hand, from Student's t:
// one session of five runs against one of five, sd 5 % and days 5 %: √(2·(.05² + .05²/5)) · t(.975, 4) = .0775 · 2.776 = .215, 24 %;
// ten such sessions: √(1.1 · .003) · t(.975, 13) = .0574 · 2.160 = .124, 13 %; interleaved, ten visits a side at the level
// .01747: .05·√.2 · t(17) = .0224 · 2.288 = .0512, 5.2 %.
func TestRuleOutOutOfReachIsWarnedOf(t *testing.T) {
	many := history("chat", 10)
	for _, c := range []struct {
		name         string
		base         bench.Digest
		sd, ruleOut  float64
		want, absent string
	}{
		{"within reach", digest("chat", baseDay, quiet...), 0.05, 0.25, "", "this runner reaches"},
		{"one session", digest("chat", baseDay, quiet...), 0.05, 0.20, "ends at 24 % slower (a committed baseline of 1 session, days differing by 5 %); a baseline of 2 sessions or an interleaved comparison with looks at [6 8 10] visits a side could", ""},
		{"ten sessions", many, 0.05, 0.12, "ends at 13 % slower (a committed baseline of 10 sessions, days differing by 5 %); an interleaved comparison with looks at [6 8 10] visits a side could", "a baseline of"},
		{"ten sessions reach", many, 0.05, 0.15, "", "this runner reaches"},
		{"more visits", many, 0.15, 0.10, "an interleaved comparison with its last look at 24 visits a side could", ""},
		{"nothing does", many, 0.60, 0.10, "not even 10 sessions in the baseline or 40 interleaved visits a side would do", ""},
		{"no calibration", digest("chat", baseDay, quiet...), 0, 0.05, "", "this runner reaches"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.sd > 0 {
				c.base = calibrated(c.base, baseDay, c.sd)
			}
			v := Decide(excluding(c.ruleOut), one(c.base), one(digest("chat", headDay, quiet...)))
			warned := strings.Join(v.Findings[0].Warnings, "\n")
			if !strings.Contains(warned, c.want) || c.absent != "" && strings.Contains(warned, c.absent) {
				t.Errorf("warnings %q, want one with %q and none with %q", warned, c.want, c.absent)
			}
		})
	}
}

// TestInterleavedReachIsThatOfTheLastLook: with 6 visits a side measured of 6-8-10, the half-width of 10 counts. By hand:
// .1·√.2 · t(1 − .01747, 17) = .0447 · 2.288 = .102, 11 %.
func TestInterleavedReachIsThatOfTheLastLook(t *testing.T) {
	sides := []int{0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0}
	values := []float64{.41, .40, .42, .41, .40, .41, .42, .40, .41, .41, .40, .42}
	for ruleOut, want := range map[float64]string{0.12: "", 0.10: "ends at 11 % slower (interleaved, 10 visits a side); an interleaved comparison with its last look at 12 visits a side could"} {
		base, head := interleaved("chat", sides, values)
		base.Sessions[0].Looks, head.Sessions[0].Looks = []int{6, 8, 10}, []int{6, 8, 10}
		v := Decide(excluding(ruleOut), one(calibrated(base, baseDay, 0.1)), one(head))
		warned := strings.Join(v.Findings[0].Warnings, "\n")
		if want == "" && strings.Contains(warned, "this runner reaches") || !strings.Contains(warned, want) {
			t.Errorf("rule_out %v: warnings %q, want %q", ruleOut, warned, want)
		}
	}
}

func TestNewerCalibrationCounts(t *testing.T) {
	base := calibrated(digest("chat", baseDay, quiet...), baseDay, 0.5)
	head := calibrated(digest("chat", headDay, quiet...), headDay, 0.01)
	v := Decide(excluding(0.25), one(base), one(head))
	if w := strings.Join(v.Findings[0].Warnings, "\n"); strings.Contains(w, "this runner reaches") {
		t.Errorf("an older calibration was believed: %q", w)
	}
	base.Noise, head.Noise = head.Noise, base.Noise
	head.Noise.Measured = headDay.AddDate(0, 0, 1)
	v = Decide(excluding(0.25), one(base), one(head))
	if w := strings.Join(v.Findings[0].Warnings, "\n"); !strings.Contains(w, "this runner reaches") {
		t.Errorf("the candidate's newer calibration was not believed: %q", w)
	}
}

func TestRuleWithoutRuleOutIsNotHeldAgainstTheNoise(t *testing.T) {
	p := excluding(0.25)
	p.Rules[0].RuleOut = nil
	v := Decide(p, one(calibrated(digest("chat", baseDay, quiet...), baseDay, 0.5)), one(digest("chat", headDay, quiet...)))
	if w := strings.Join(v.Findings[0].Warnings, "\n"); strings.Contains(w, "this runner reaches") {
		t.Errorf("warned of no rule_out: %q", w)
	}
}
