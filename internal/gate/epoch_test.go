package gate

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

// creep is a baseline whose sessions are 4 % slower each than the one before, of which the last are kept.
func creep(nightly float64, all, kept int) bench.Digest {
	var levels []float64
	for i := range all {
		levels = append(levels, math.Pow(nightly, float64(i)))
	}
	d := nights(levels...)
	d.Epoch = bench.Epoch{Number: 2, Started: baseDay.AddDate(0, -1, 0), Level: d.Sessions[0].Level()}
	d.Sessions = d.Sessions[all-kept:]
	return d
}

// Five times +4 % is +22 %, and each step passes.
func TestCreepShowsAgainstTheEpoch(t *testing.T) {
	for _, test := range []struct {
		name         string
		base         bench.Digest
		since        string
		warned, sure bool
	}{
		{"nothing moves", creep(1, 6, 6), "chat ttft.p95 0 % slower (from 7 % faster to 7 % slower, 6 sessions since 2026-04-04, the newest 0 % slower)", false, false},
		{"four per cent a night", creep(1.04, 6, 6), "chat ttft.p95 10 % slower (from 3 % faster to 26 % slower, 6 sessions since 2026-04-04, the newest 22 % slower)", true, false},
		{"faster every night", creep(1/1.04, 6, 6), "chat ttft.p95 9 % faster (from 21 % faster to 4 % slower, 6 sessions since 2026-04-04, the newest 18 % faster)", false, false},
		{"the first night is gone", creep(1.03, 20, 10), "chat ttft.p95 54 % slower (from 28 % to 84 % slower, 10 sessions since 2026-04-04, the newest 75 % slower)", true, true},
	} {
		v, f := verdictOn(t, primary(), test.base)
		if v.Baseline.SinceEpoch != test.since {
			t.Errorf("%s: %q\nwant %q", test.name, v.Baseline.SinceEpoch, test.since)
		}
		warnings := strings.Join(f.Warnings, "\n")
		if got := strings.Contains(warnings, "the baseline has moved: since its epoch began ttft.p95 is"); got != test.warned {
			t.Errorf("%s: warnings %q", test.name, f.Warnings)
		}
		if got := strings.Contains(warnings, "Days alone may explain it."); got != (test.warned && !test.sure) {
			t.Errorf("%s: warnings %q", test.name, f.Warnings)
		}
	}
}

func TestChangeSinceTheEpochIsToldWhereItIsKnown(t *testing.T) {
	old := nights(1, 1.1, 1.2)
	full := nights(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	lacking := creep(1.1, 3, 3)
	lacking.Epoch.Level = map[string]float64{"tpot.mean": 0.01}
	for _, test := range []struct {
		name string
		base bench.Digest
		want string
	}{
		{"no level is recorded and the first session is kept", old, "chat ttft.p95 10 % slower"},
		{"no level is recorded and the first may be gone", full, ""},
		{"one session: it is where the epoch began", nights(1), ""},
		{"the epoch began without the metric", lacking, "chat ttft.p95 not known, since the epoch began without it"},
	} {
		v, _ := verdictOn(t, primary(), test.base)
		if got := v.Baseline.SinceEpoch; got == "" != (test.want == "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestRatesAndSharesMoveTheirOwnWay(t *testing.T) {
	rate := Rule{Metric: "output.rate", Primary: true, Tolerance: ptr(0.05)}
	share := Rule{Metric: "goodput.ratio", Primary: true, Tolerance: ptr(0.05)}
	p := primary()
	p.Rules = []Rule{rate, share}
	base := creep(1.1, 4, 4)
	for i := range base.Sessions {
		for r := range base.Sessions[i].Visits[0].Runs {
			good := 100 - 10*i
			base.Sessions[i].Visits[0].Runs[r].Good = &good
		}
	}
	v, _ := verdictOn(t, p, base)
	for _, want := range []string{"chat output.rate 15 % worse (", "the newest 33 % worse)", "chat goodput.ratio 15", " points lower (4 sessions since 2026-04-04, the newest 30", " points lower)"} {
		if !strings.Contains(v.Baseline.SinceEpoch, want) {
			t.Errorf("%q lacks %q", v.Baseline.SinceEpoch, want)
		}
	}
}

// Times in other units, or a server that is slower by a factor from the start, change nothing about how it moved.
func TestMovingIsRelativeLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 10).Draw(t, "sessions")
		by := rapid.Float64Range(0.01, 50).Draw(t, "by")
		var levels, scaled []float64
		for range k {
			x := rapid.Float64Range(0.5, 2).Draw(t, "level")
			levels, scaled = append(levels, x), append(scaled, x*by)
		}
		p := primary()
		p.Resamples = 99
		since := func(levels []float64, by float64) string {
			base := nights(levels...)
			base.Epoch = bench.Epoch{Started: baseDay, Level: base.Sessions[0].Level()}
			return Decide(p, one(base), one(digest("chat", headDay, times(quiet, by)...))).Baseline.SinceEpoch
		}
		if a, b := since(levels, 1), since(scaled, by); a != b || a == "" {
			t.Fatalf("%q, and %v times longer %q", a, by, b)
		}
	})
}
