package gate

import (
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

func gateOnly(p Policy) Policy {
	p.GateOnly = true
	return p
}

func TestAChangeOfTheGateAloneIsNotHeldToWhatBaseItselfIs(t *testing.T) {
	base := one(history("chat", 5))
	head := func(by float64) []bench.Digest { return one(digest("chat", headDay, times(quiet, by)...)) }
	driver := one(changed(digest("chat", headDay, quiet...), bench.KeyDriver, "another"))
	failing := one(runs(digest("chat", headDay, quiet...), func(_ int, r *bench.Run) { r.OK, r.Metrics["error.ratio"] = 90, 0.1 }))
	dead := one(runs(digest("chat", headDay, quiet...), func(_ int, r *bench.Run) {
		r.OK, r.Metrics = 0, map[string]float64{"error.ratio": 1}
	}))
	ill := one(runs(digest("chat", headDay, times(quiet, 1.3)...), func(_ int, r *bench.Run) { r.Invalid = "died" }))
	limited := gateOnly(primary(Rule{Metric: "error.ratio", Max: ptr(0.005)}))
	proposed := gateOnly(primary())
	proposed.Proposed = true
	strict, fails := gateOnly(primary()), gateOnly(primary())
	strict.OnMissing, fails.OnInconclusive = "fail", "fail"
	two := gateOnly(primary())
	two.Scenarios = []string{"chat"}
	expected := two
	expected.Scenarios = []string{"batch", "chat"}
	orphan := append(one(history("batch", 5)), base...)
	few := one(history("chat", 1))
	few[0].Sessions[0].Visits[0].Runs = few[0].Sessions[0].Visits[0].Runs[:2]
	for _, d := range []decision{
		{"slower", gateOnly(primary()), base, head(1.3), 0, Observed, 0, "29 % slower (from 18 % to 41 % slower, 95 % interval); the tolerance is 5 %. The change touches the gate alone, so the build is that of base: already so at base.", "Nothing is this change's fault"},
		{"a limit that is broken", limited, base, failing, 1, Observed, 0, "already so at base", ""},
		{"slower, and base's rules cannot be read", proposed, base, head(1.3), 0, New, 0, "nothing that was accepted there", "accept a baseline"},
		{"another driver", gateOnly(primary()), base, driver, 0, New, 0, `driver is "one driver" at base and "another" here`, "--new-epoch"},
		{"another driver, and missing is to fail", strict, base, driver, 0, Observed, 0, "already so at base. The policy fails what is new", ""},
		{"no baseline, and missing is to fail", strict, nil, head(1), 0, Observed, 0, "already so at base. The policy fails what is new", ""},
		{"too little is known, and that is to fail", fails, one(history("chat", 1)), head(1.12), 0, Observed, 0, "already so at base. The policy fails what is inconclusive", ""},
		{"too little is known", gateOnly(primary()), one(history("chat", 1)), head(1.12), 0, Inconclusive, 0, "", ""},
		{"a baseline of too few runs", gateOnly(primary()), few, head(1), 0, New, 0, "The baseline has 2 valid runs", ""},
		{"a baseline without its scenario", two, orphan, head(1), 0, New, 0, "the config at base does not", "benchgate baseline rm lab batch"},
		{"a scenario that is not measured", expected, orphan, head(1), 0, Missing, 3, "no digest", ""},
		{"nothing is measured", two, orphan, nil, 1, Missing, 3, "no digest", ""},
		{"nothing answers", gateOnly(primary()), base, dead, 0, Invalid, 3, "failed", ""},
		{"the server misbehaves, and is slower", gateOnly(primary()), base, ill, 0, Invalid, 3, "", ""},
		{"as fast", gateOnly(primary()), base, head(1), 0, Pass, 0, "", ""},
	} {
		d.run(t)
	}
}

// Without the field each of them stays what it is.
func TestAnyOtherChangeIsHeldToTheSame(t *testing.T) {
	base := one(history("chat", 5))
	two := primary()
	two.Scenarios = []string{"chat"}
	head := one(digest("chat", headDay, times(quiet, 1.3)...))
	driver := one(changed(digest("chat", headDay, quiet...), bench.KeyDriver, "another"))
	for _, d := range []decision{
		{"slower", primary(), base, head, 0, Regressed, 1, "", ""},
		{"another driver", primary(), base, driver, 0, Incomparable, 3, "", ""},
		{"a baseline without its scenario", two, append(one(history("batch", 5)), base...), one(digest("chat", headDay, quiet...)), 0, Missing, 3, "", ""},
	} {
		d.run(t)
	}
}

func TestWhatIsExcusedIsTheHeadline(t *testing.T) {
	base := append(one(history("batch", 5)), history("chat", 5))
	head := append(one(digest("batch", headDay, times(quiet, 1.3)...)), digest("chat", headDay, quiet...))
	v := Decide(gateOnly(primary()), base, head)
	if v.Outcome != Observed || v.ExitCode != 0 || !strings.Contains(v.Summary, "batch: ttft.p95 is 29 % slower") || !strings.Contains(v.Summary, "already so at base") {
		t.Errorf("%s, exit code %d: %s", v.Outcome, v.ExitCode, v.Summary)
	}
	v = v.Withheld("The job that measures failed.", "See its log.")
	if v.Outcome != Missing || v.ExitCode != 3 {
		t.Errorf("withheld: %s, exit code %d", v.Outcome, v.ExitCode)
	}
}
