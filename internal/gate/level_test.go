package gate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

func TestLevelIsAskedOfWhatBothSidesHave(t *testing.T) {
	five := func(edit func(r *bench.Run)) bench.Digest { return edited(5, first(5, edit))[0] }
	session := func() bench.Digest { return digest("chat", headDay, quiet...) }
	plain := history("chat", 2)
	everything := []string{"ttft.p50", "ttft.p95", "tpot.mean", "e2el.p95", "output.rate", "goodput.ratio"}
	other := session()
	other.MustMatch[bench.KeyMachine] = "another"
	slo := session()
	slo.SLO.TTFT = ptr(0.5)
	for _, test := range []struct {
		name       string
		base, head bench.Digest
		want       []string
	}{
		{"all of it", plain, session(), everything},
		{"few requests a run have no p95", plain, five(func(r *bench.Run) { r.Sent, r.OK = 40, 40; good := 40; r.Good = &good }), []string{"ttft.p50", "tpot.mean", "output.rate", "goodput.ratio"}},
		{"few requests a run at base", five(func(r *bench.Run) { r.Sent, r.OK = 40, 40; good := 40; r.Good = &good }), session(), []string{"ttft.p50", "tpot.mean", "output.rate", "goodput.ratio"}},
		{"no SLO on one side", plain, five(func(r *bench.Run) { r.Good = nil; delete(r.Metrics, "goodput.ratio") }), everything[:5]},
		{"another SLO", plain, slo, everything[:5]},
		{"half of the runs lack a metric", plain, edited(6, first(3, func(r *bench.Run) { delete(r.Metrics, "tpot.mean") }))[0], []string{"ttft.p50", "ttft.p95", "e2el.p95", "output.rate", "goodput.ratio"}},
		{"two runs", plain, digest("chat", headDay, quiet[:2]...), nil},
		{"another machine", plain, other, nil},
	} {
		p := LevelPolicy(test.base, test.head)
		var got []string
		for _, r := range p.Rules {
			got = append(got, r.Metric)
			if r.Primary || r.RuleOut != nil || r.Tolerance == nil || *r.Tolerance != 0.05 {
				t.Errorf("%s: rule %+v", test.name, r)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestLevelThatChangedInOneMetricIsSeen(t *testing.T) {
	base := history("chat", 5)
	for _, test := range []struct {
		name, metric string
		by           float64
		want         Outcome
	}{
		{"nothing", "ttft.p95", 1, Observed},
		{"a slower start", "ttft.p95", 1.4, Regressed},
		{"slower tokens", "tpot.mean", 1.4, Regressed},
		{"faster tokens", "tpot.mean", 0.7, Improved},
		{"a longer whole", "e2el.p95", 1.4, Regressed},
		{"less throughput", "output.rate", 0.7, Regressed},
	} {
		head := runs(digest("chat", headDay, quiet...), func(_ int, r *bench.Run) { r.Metrics[test.metric] *= test.by })
		v := Decide(LevelPolicy(base, head), one(base), one(head))
		sane(t, v)
		for _, f := range v.Findings {
			want := Observed
			if f.Metric == test.metric {
				want = test.want
			}
			if f.Outcome != want {
				t.Errorf("%s: %s is %s, want %s: %s", test.name, f.Metric, f.Outcome, want, f.Why)
			}
		}
	}
	lost := met(digest("chat", headDay, quiet...), 60, 58, 63, 61, 59)
	if v := Decide(LevelPolicy(base, lost), one(base), one(lost)); v.Outcome != Regressed {
		t.Errorf("40 points of goodput lost: %s", v.Summary)
	}
}
