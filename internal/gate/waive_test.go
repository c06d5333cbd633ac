package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWaivers(t *testing.T) {
	base := one(history("chat", 5))
	head := one(digest("chat", headDay, times(quiet, 1.3)...))
	day := func(days int) time.Time { return headDay.Truncate(24*time.Hour).AddDate(0, 0, days) }
	waiver := Waiver{Metric: "ttft.p95", Scenario: "chat", Ceiling: 0.4, Until: day(0), Why: "new scheduler"}
	edit := func(f func(w *Waiver)) Waiver {
		w := waiver
		f(&w)
		return w
	}
	for _, test := range []struct {
		name   string
		waiver Waiver
		want   Outcome
		state  string
		says   string
	}{
		{"holds on its last day", waiver, Waived, "used", "Waived up to 40 % until 2026-05-06: new scheduler"},
		{"ends with that day", edit(func(w *Waiver) { w.Until = day(-1) }), Regressed, "expired", "has no effect"},
		{"no further than its ceiling", edit(func(w *Waiver) { w.Ceiling = 0.25 }), Regressed, "unused", "allows no more than 25 %"},
		{"of another metric", edit(func(w *Waiver) { w.Metric = "ttft.p99" }), Regressed, "unused", "slower"},
		{"of another scenario", edit(func(w *Waiver) { w.Scenario = "batch" }), Regressed, "unused", "slower"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := primary()
			p.Waivers = []Waiver{test.waiver}
			v := Decide(p, base, head)
			sane(t, v)
			want := []WaiverUse{{Waiver: test.waiver, State: test.state}}
			if diff := cmp.Diff(want, v.Waivers); diff != "" || v.Outcome != test.want {
				t.Errorf("%s (-want +got)\n%s", v.Outcome, diff)
			}
			if said := v.Findings[0].Why + strings.Join(v.Warnings, ""); !strings.Contains(said, test.says) {
				t.Errorf("says %q, want in it %q", said, test.says)
			}
		})
	}
}

func TestWaiverIsNoneWhereNothingRegressed(t *testing.T) {
	p := primary()
	p.Waivers = []Waiver{{Metric: "ttft.p95", Scenario: "chat", Ceiling: 0.4, Until: headDay}}
	v := Decide(p, one(history("chat", 5)), one(digest("chat", headDay, quiet...)))
	if v.Outcome != Pass || v.Waivers[0].State != "unused" || len(v.Warnings) > 0 {
		t.Errorf("%s, waiver %s, warnings %q", v.Outcome, v.Waivers[0].State, v.Warnings)
	}
}

func TestWaiverOfACandidateWithoutAStartHasExpired(t *testing.T) {
	p := primary()
	p.Waivers = []Waiver{{Metric: "ttft.p95", Scenario: "chat", Ceiling: 0.4, Until: headDay}}
	v := Decide(p, one(history("chat", 5)), one(digest("chat", time.Time{}, times(quiet, 1.3)...)))
	if v.Outcome != Regressed || v.Waivers[0].State != "expired" {
		t.Errorf("%s, waiver %s", v.Outcome, v.Waivers[0].State)
	}
}
