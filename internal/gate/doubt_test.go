package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

func TestMisbehavingServerIsNeverInnocent(t *testing.T) {
	base := one(history("chat", 5))
	head := func(by float64) []bench.Digest {
		return one(runs(digest("chat", headDay, times(quiet, by)...), first(1, func(r *bench.Run) { r.Invalid = "server died" })))
	}
	limit := Policy{Rules: []Rule{{Metric: "ttft.p95", Max: ptr(0.45)}}}
	errors := Policy{Rules: []Rule{{Metric: "error.ratio", Max: ptr(0.005)}}}
	observe := Policy{Rules: []Rule{{Metric: "tpot.mean", Tolerance: ptr(0.05)}}}
	waived := primary()
	waived.Waivers = []Waiver{{Metric: "ttft.p95", Scenario: "chat", Ceiling: 0.5, Until: headDay}}
	for _, d := range []decision{
		{"no pass", primary(), base, head(1), 0, Invalid, 3, `The server misbehaved in run 1: "server died"`, "server's log"},
		{"no improvement", primary(), base, head(0.7), 0, Invalid, 3, "misbehaved", ""},
		{"no inconclusive", primary(), one(history("chat", 1)), head(1.12), 0, Invalid, 3, "misbehaved", ""},
		{"no observation", observe, base, head(1), 0, Invalid, 3, "misbehaved", ""},
		{"not new", primary(), nil, head(1), 0, Invalid, 3, "misbehaved", ""},
		{"not waived", waived, base, head(1.3), 0, Invalid, 3, "misbehaved", ""},
		{"no limit kept", limit, base, head(1), 0, Invalid, 3, "misbehaved", ""},
		{"no error limit kept", errors, base, head(1), 0, Invalid, 3, "misbehaved", ""},
		{"but worse", primary(), base, head(1.3), 0, Regressed, 1, "slower", ""},
		{"but over a limit", limit, base, head(1.3), 0, Breached, 1, "above the limit", ""},
	} {
		d.run(t)
	}
}

func TestVoidDoesNotExcuseAServerThatMisbehaved(t *testing.T) {
	both := func(r *bench.Run) { r.Void, r.Invalid = "lag p99 31 ms", "server died" }
	base := one(history("chat", 5))
	v := Decide(primary(), base, edited(6, first(1, both)))
	sane(t, v)
	if f := v.Findings[0]; f.Outcome != Invalid || v.ExitCode != 3 || !strings.Contains(f.Why, `The server misbehaved in run 1: "server died"`) {
		t.Errorf("%s, exit code %d: %s", f.Outcome, v.ExitCode, f.Why)
	}
	names := []string{}
	for _, c := range failed(v) {
		names = append(names, c.Side+" "+c.Name)
	}
	if diff := cmp.Diff([]string{"head server"}, names); diff != "" {
		t.Errorf("failed checks (-want +got):\n%s", diff)
	}
	decision{"at base it is dropped", primary(), one(runs(history("chat", 2), first(1, both))), edited(5, first(0, both)), 0, Pass, 0, "", ""}.run(t)
}

func TestDoubtsSpoilGoodAnswersOnly(t *testing.T) {
	base := one(history("chat", 5))
	head := func(by float64, edit func(i int, r *bench.Run)) []bench.Digest {
		return one(runs(digest("chat", headDay, times(append([]float64{0.40}, quiet...), by)...), edit))
	}
	lost := func(_ int, r *bench.Run) { fails(5)(r) }
	queued := func(_ int, r *bench.Run) { r.Client.Queued = 0.02 }
	lacks := first(1, func(r *bench.Run) { delete(r.Metrics, "ttft.p95") })
	limit := Policy{Rules: []Rule{{Metric: "ttft.p95", Max: ptr(0.45)}}}
	sched := Policy{Rules: []Rule{{Metric: "ttft_sched.p95", Tolerance: ptr(0.05), RuleOut: ptr(0.25)}}}
	for _, d := range []decision{
		{"errors: no pass", primary(), base, head(1, lost), 0, Inconclusive, 0, "5 % of requests failed here and 0.0 % at base", "error.ratio"},
		{"errors: no improvement", primary(), base, head(0.7, lost), 0, Inconclusive, 0, "This is no improvement", ""},
		{"errors: a regression stays", primary(), base, head(1.3, lost), 0, Regressed, 1, "", ""},
		{"errors: no limit kept", limit, base, head(1, lost), 0, Inconclusive, 0, "no latency", ""},
		{"the same errors on both sides", primary(), one(runs(history("chat", 5), lost)), head(1, lost), 0, Pass, 0, "", ""},
		{"one error", primary(), base, head(1, first(1, fails(1))), 0, Pass, 0, "", ""},
		{"client queue: no pass", primary(), base, head(1, queued), 0, Inconclusive, 0, "max_concurrency delayed 2 % of requests", "ttft_sched"},
		{"client queue at base: no pass", primary(), one(runs(history("chat", 5), queued)), head(1, func(int, *bench.Run) {}), 0, Inconclusive, 0, "max_concurrency", ""},
		{"client queue: a regression stays", primary(), base, head(1.3, queued), 0, Regressed, 1, "", ""},
		{"client queue: the scheduled time sees it", sched, base, head(1, queued), 0, Pass, 0, "", ""},
		{"a run without the metric: no pass", primary(), base, head(1, lacks), 0, Inconclusive, 0, "1 run of the candidate lack ttft.p95", ""},
		{"a run without the metric: a regression stays", primary(), base, head(1.3, lacks), 0, Regressed, 1, "", ""},
	} {
		d.run(t)
	}
}

func TestCandidateComparedWithItself(t *testing.T) {
	both := one(digest("chat", headDay, quiet...))
	p := primary()
	*p.Rules[0].RuleOut = 0.5
	decision{"its own baseline", p, both, both, 0, Inconclusive, 0, "compared with itself", "another session"}.run(t)
}

func TestAgeOfTheBaseline(t *testing.T) {
	base := one(history("chat", 5))
	head := func(days int, by float64) []bench.Digest {
		return one(digest("chat", baseDay.AddDate(0, 0, days), times(quiet, by)...))
	}
	unknown := one(digest("chat", time.Time{}, quiet...))
	anyAge := primary()
	anyAge.MaxAge = 0
	for _, d := range []decision{
		{"on its last day", primary(), base, head(30, 1), 0, Pass, 0, "", ""},
		{"too old to pass", primary(), base, head(31, 1), 0, Inconclusive, 0, "the baseline is 31 days old, and gate.baseline.max_age is 30 days", "--add-session"},
		{"not too old to block", primary(), base, head(300, 1.3), 0, Regressed, 1, "", ""},
		{"not too old for an improvement", primary(), base, head(31, 0.7), 0, Improved, 0, "", ""},
		{"a baseline younger than the candidate", primary(), base, head(-300, 1), 0, Pass, 0, "", ""},
		{"of unknown age", primary(), base, unknown, 0, Inconclusive, 0, "the age of the baseline is unknown", ""},
		{"without a limit", anyAge, base, head(300, 1), 0, Pass, 0, "", ""},
		{"a limit does not age", Policy{MaxAge: time.Hour, Rules: []Rule{{Metric: "ttft.p95", Max: ptr(1)}}}, base, head(300, 1), 0, Pass, 0, "", ""},
	} {
		d.run(t)
	}
}

func TestInterleavedSidesHaveNoAge(t *testing.T) {
	base, head := interleaved("chat", []int{0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0}, append(append(append([]float64{}, quiet...), quiet...), 0.41, 0.4))
	p := primary()
	p.MaxAge = time.Nanosecond
	v := Decide(p, one(base), one(head))
	if v.Outcome != Pass || v.Baseline.AgeDays != 0 {
		t.Errorf("%s, %v days: %s", v.Outcome, v.Baseline.AgeDays, v.Summary)
	}
}
