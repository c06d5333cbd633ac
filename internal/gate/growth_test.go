package gate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

// nights is a baseline of one session a level, each a multiple of the quiet runs.
func nights(levels ...float64) bench.Digest {
	d := digest("chat", baseDay)
	d.Sessions = nil
	for i, by := range levels {
		d.Sessions = append(d.Sessions, session(baseDay.AddDate(0, 0, i-len(levels)), times(quiet, by)...))
	}
	return d
}

func verdictOn(t *testing.T, p Policy, base bench.Digest) (Verdict, Finding) {
	t.Helper()
	v := Decide(p, one(base), one(digest("chat", headDay, quiet...)))
	sane(t, v)
	return v, v.Findings[0]
}

// The figures are those of the session model by hand: S² = (K−1)·0 + 4·(0.05² + W/5) over K+3, V = (1 + 1/K)·S².
func TestFurtherSaysWhatOneMoreSessionBuys(t *testing.T) {
	for _, test := range []struct {
		sessions int
		want     string
	}{
		{1, "One more session would lower the smallest change that is found four times in five from 31 % to 24 %."},
		{2, "One more session would lower the smallest change that is found four times in five from 21 % to 19 %."},
		{5, "One more session would change little: the smallest change that is found four times in five stays at about 13 %."},
		{9, "One more session would change little: the smallest change that is found four times in five stays at about 10 %."},
		{10, ""},
		{11, ""},
	} {
		var levels []float64
		for range test.sessions {
			levels = append(levels, 1)
		}
		_, f := verdictOn(t, primary(), nights(levels...))
		if f.Further != test.want {
			t.Errorf("%d sessions (mde80 %v): %q, want %q", test.sessions, *f.MDE80, f.Further, test.want)
		}
	}
}

func TestThirtyRunsOfOneDayAreOneDay(t *testing.T) {
	var many []float64
	for range 6 {
		many = append(many, quiet...)
	}
	_, f := verdictOn(t, primary(), digest("chat", baseDay, many...))
	if !strings.Contains(f.Further, "The baseline's 30 runs are of one day, and more of that day would not do it.") {
		t.Errorf("further: %q", f.Further)
	}
	_, five := verdictOn(t, primary(), nights(1, 1, 1, 1, 1, 1))
	if *five.MDE80 >= *f.MDE80*0.6 {
		t.Errorf("30 runs of one day find %v, of six days %v", *f.MDE80, *five.MDE80)
	}
}

func TestInterleavedAndRefusedComparisonsHaveNoFurtherSession(t *testing.T) {
	base, head := interleaved("chat", []int{0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0}, times([]float64{1, 1.1, 1.02, 0.98, 1.03, 1.1, 1.05, 1, 0.97, 1.1, 1.08, 1.01}, 0.4))
	v := Decide(primary(), one(base), one(head))
	sane(t, v)
	if f := v.Findings[0]; f.Further != "" || f.Change == nil || f.Change.DaySD != nil || v.Baseline != nil && v.Baseline.SinceEpoch != "" {
		t.Errorf("%q, %+v", f.Further, f.Change)
	}
	if f := Decide(primary(), one(nights(1)), one(digest("chat", headDay, quiet[:2]...))).Findings[0]; f.Further != "" {
		t.Errorf("two runs: %q", f.Further)
	}
}

// The forecast for one more session is what a session more of the same kind then gives, as far as the model can know:
// S² stays and its degrees of freedom grow.
func TestForecastComesTrueLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 9).Draw(t, "sessions")
		var levels []float64
		for range k {
			levels = append(levels, math.Exp(rapid.Float64Range(-0.15, 0.15).Draw(t, "level")))
		}
		p := primary()
		p.Resamples = 99
		base, head := nights(levels...), digest("chat", headDay, append(append([]float64{}, quiet...), quiet[:rapid.IntRange(0, 3).Draw(t, "more runs")]...)...)
		at := Decide(p, one(base), one(head)).Findings[0]
		if now := forecast(t, p, base, head, 0); math.Abs(now / *at.MDE80 - 1) > 1e-8 {
			t.Fatalf("the forecast begins at %v, and mde80 is %v", now, *at.MDE80)
		}
		var now, then float64
		if n, _ := fmt.Sscanf(strings.TrimPrefix(at.Further, "One more session would lower the smallest change that is found four times in five from "), "%f %% to %f", &now, &then); n == 0 {
			if !strings.Contains(at.Further, "would change little") {
				t.Fatalf("%d sessions: %q", k, at.Further)
			}
			return
		}
		if !(then < now && math.Abs(now-*at.MDE80*100) <= 0.51) {
			t.Fatalf("%q, and mde80 is %v", at.Further, *at.MDE80)
		}
	})
}

// forecast is the smallest change that is found four times in five with so many sessions more.
func forecast(t *rapid.T, p Policy, base, head bench.Digest, more int) float64 {
	m, err := bench.ParseMetric("ttft.p95")
	if err != nil {
		t.Fatal(err)
	}
	q := &question{pair: match(p, one(base), one(head))[0], policy: p.complete(), metric: m}
	q.comparison = &comparison{base: sampleOf(q.measured(q.base), q.metric), head: sampleOf(q.measured(q.head), q.metric)}
	q.fitDays()
	return q.worsening(q.comparison.days.Detects(more, foundOften))
}

func TestDaySDIsToldOfCommittedComparisons(t *testing.T) {
	_, alike := verdictOn(t, primary(), nights(1, 1, 1, 1, 1))
	_, apart := verdictOn(t, primary(), nights(1, 1.2, 0.9, 1.3, 0.8))
	if alike.Change.DaySD == nil || !(*alike.Change.DaySD < 0.05) {
		t.Errorf("alike: %v", alike.Change.DaySD)
	}
	if apart.Change.DaySD == nil || !(*apart.Change.DaySD > 0.1) {
		t.Errorf("apart: %v", apart.Change.DaySD)
	}
}

func TestSessionsFartherApartThanWasPromisedAreSaid(t *testing.T) {
	wide := primary()
	wide.DaySD = 0.3
	for _, test := range []struct {
		name string
		p    Policy
		base bench.Digest
		want bool
	}{
		{"alike", primary(), nights(1, 1.01, 0.99, 1.02), false},
		{"as far as was said", primary(), nights(1, 1.08, 0.95, 1.05, 0.94), false},
		{"far", primary(), nights(1, 1.3, 0.8, 1.25, 0.75), true},
		{"far, and said so", wide, nights(1, 1.3, 0.8, 1.25, 0.75), false},
		{"far, but two only", primary(), nights(0.7, 1.4), false},
	} {
		_, f := verdictOn(t, test.p, test.base)
		got := strings.Contains(strings.Join(f.Warnings, "\n"), "sessions differ by")
		if got != test.want {
			t.Errorf("%s: warnings %q", test.name, f.Warnings)
		}
	}
	_, f := verdictOn(t, primary(), nights(1, 1.3, 0.8, 1.25, 0.75))
	if want := "the baseline's 5 sessions differ by 25 % (standard deviation beyond their runs), and gate.baseline.day_sd is 5 %"; !strings.Contains(strings.Join(f.Warnings, "\n"), want) {
		t.Errorf("warnings %q, want %q", f.Warnings, want)
	}
}

func TestNightsThatDifferAreSeenEitherWay(t *testing.T) {
	base := nights(1, 1.01, 0.99)
	failing := func(by float64, failed int) bench.Digest {
		return runs(digest("chat", headDay, times(quiet, by)...), func(_ int, r *bench.Run) {
			r.OK, r.Failed = 100-failed, map[bench.Class]int{bench.HTTP5xx: failed}
			r.Metrics["error.ratio"] = float64(failed) / 100
			good := 100 - failed
			r.Good = &good
		})
	}
	delayed := runs(digest("chat", headDay, times(quiet, 0.6)...), func(_ int, r *bench.Run) {
		r.Client.Queued = 0.2
		for name, v := range map[string]float64{"e2el.p95": 1.2, "tpot.mean": 0.01, "output.rate": 1000} {
			r.Metrics[name] = v
		}
	})
	for _, test := range []struct {
		name string
		head bench.Digest
		want string // empty: it does not differ
	}{
		{"the same", digest("chat", headDay, quiet...), ""},
		{"slower", digest("chat", headDay, times(quiet, 1.5)...), "regressed: "},
		{"faster", digest("chat", headDay, times(quiet, 0.6)...), "improved: "},
		{"many errors and faster", failing(0.6, 12), "12 % of requests failed here and 0.0 % at base, and a failed request has no latency"},
		{"many errors and as fast", failing(1, 4), "error.ratio: "},
		{"few errors", failing(1, 0), ""},
		{"faster, with requests held back by the client", delayed, "max_concurrency delayed 20 % of requests"},
	} {
		how, differs := Differs(base, test.head)
		if differs != (test.want != "") || !strings.Contains(how, test.want) {
			t.Errorf("%s: %v, %q, want %q", test.name, differs, how, test.want)
		}
	}
	other := digest("chat", headDay, quiet...)
	other.Scenario = "batch"
	if how, differs := Differs(base, other); differs {
		t.Errorf("another scenario: %s", how)
	}
}

func TestOutlookIsWhatAVerdictThenSays(t *testing.T) {
	base := nights(1, 1.04, 0.97, 1.02)
	out := Outlook(primary(), base, 5)
	var names []string
	for _, x := range out {
		names = append(names, x.Metric.Name)
	}
	if diff := cmp.Diff([]string{"ttft.p50", "ttft.p95", "tpot.mean", "e2el.p95", "output.rate", "goodput.ratio"}, names); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	_, f := verdictOn(t, primary(), base)
	x := out[1]
	if math.Abs(x.MDE80 / *f.MDE80 - 1) > 0.03 || math.Abs(x.DaySD / *f.Change.DaySD - 1) > 0.03 {
		t.Errorf("%+v, and the verdict finds %v, day sd %v", x, *f.MDE80, *f.Change.DaySD)
	}
	if math.Abs(x.Level-0.41227) > 0.0001 || x.RunSD < 0.01 || x.RunSD > 0.03 || x.Seen == nil || x.Further == nil || !(*x.Further < x.MDE80) {
		t.Errorf("%+v", x)
	}
	if len(Outlook(primary(), nights(1), 5)) != 6 || Outlook(primary(), nights(1), 5)[0].Seen != nil {
		t.Error("one session: its days are seen")
	}
	full := Outlook(primary(), nights(1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 5)
	if len(full) != 6 || full[0].Further != nil {
		t.Error("ten sessions: one more is expected")
	}
	few := runs(nights(1, 1), func(_ int, r *bench.Run) { r.Sent, r.OK, r.Good = 20, 20, nil; delete(r.Metrics, "goodput.ratio") })
	names = nil
	for _, x := range Outlook(primary(), few, 5) {
		names = append(names, x.Metric.Name)
	}
	if diff := cmp.Diff([]string{"ttft.p50", "tpot.mean", "output.rate"}, names); diff != "" {
		t.Errorf("twenty requests a run (-want +got):\n%s", diff)
	}
	if out := Outlook(Policy{}, bench.Digest{}, 5); len(out) > 0 {
		t.Errorf("of nothing: %+v", out)
	}
}
