package gate

import (
	"math"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

func TestPatternsInTheRunsAreSaid(t *testing.T) {
	wide := primary()
	*wide.Rules[0].RuleOut = 2
	turns := func(base, head []float64) func() (b, h bench.Digest) {
		return func() (b, h bench.Digest) { return abba("chat", []int{10}, base, head) }
	}
	sessions := func(edit func(session int, values []float64)) func() (b, h bench.Digest) {
		return func() (b, h bench.Digest) {
			b = history("chat", 4)
			b.Sessions = nil
			for k := range 4 {
				values := times(quiet, 1)
				edit(k, values)
				b.Sessions = append(b.Sessions, session(baseDay.AddDate(0, 0, k-3), values...))
			}
			values := times(quiet, 1)
			edit(4, values)
			return b, digest("chat", headDay, values...)
		}
	}
	drift := func(by float64) []float64 {
		var out []float64
		for i, x := range steady {
			out = append(out, x*(1+by*float64(i)/9))
		}
		return out
	}
	two := []float64{0.40, 0.80, 0.41, 0.79, 0.40, 0.81, 0.41, 0.80, 0.39, 0.80}
	slow := append([]float64{}, steady...)
	slow[6] *= 1.8
	for _, test := range []struct {
		name  string
		sides func() (b, h bench.Digest)
		want  string // in a warning; empty: no pattern is named
	}{
		{"nothing to say", turns(steady, steady), ""},
		{"nothing to say across days", sessions(func(int, []float64) {}), ""},
		{"a machine that slows down", turns(drift(0.3), drift(0.3)), "from the first visit to the last both sides became 31 % slower"},
		{"a machine that warms up", turns(drift(-0.2), drift(-0.2)), "both sides became 21 % faster"},
		{"a little slower: less than the tolerance", turns(drift(0.04), drift(0.04)), ""},
		{"two states", turns(two, two), "the runs fall into two groups"},
		{"one run far out", turns(steady, slow), "far from the other runs of the candidate, and kept: visit 14 (76 % slower than the median of its session)"},
		{"the first run of every session", sessions(func(_ int, v []float64) { v[0] *= 1.3 }), "the first run after a start is 31 % slower than those that follow: the warm-up was not enough"},
		{"one run of the candidate far out", sessions(func(k int, v []float64) {
			if k == 4 {
				v[2] *= 2
			}
		}), "far from the other runs of the candidate, and kept: the 3rd of 5 runs ("},
		{"one run of the baseline far out", sessions(func(k int, v []float64) {
			if k == 1 {
				v[3] *= 2
			}
		}), "far from the other runs of the baseline, and kept: the 4th of 5 runs of session s-2026-05-02T02 (94 % slower than the median of its session)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, h := test.sides()
			v := Decide(wide, one(b), one(h))
			sane(t, v)
			all := strings.Join(v.Findings[0].Warnings, "\n")
			if test.want == "" {
				for _, word := range []string{"far from", "two groups", "warm-up", "both sides became"} {
					if strings.Contains(all, word) {
						t.Errorf("warnings: %s", all)
					}
				}
			} else if !strings.Contains(all, test.want) {
				t.Errorf("warnings: %s\nwant in them: %s", all, test.want)
			}
			if n := v.Findings[0].Head.NRuns; n != len(h.Sessions[0].Runs()) {
				t.Errorf("%d runs of the candidate are judged", n)
			}
		})
	}
}

func TestNoisyRunsAreSaid(t *testing.T) {
	wild := []float64{0.4, 1.2, 0.3, 0.9, 0.2, 0.8, 0.5, 1.1, 0.25, 0.7}
	b, h := abba("chat", []int{10}, wild, wild)
	if f := Decide(primary(), one(b), one(h)).Findings[0]; f.Change.SD <= 0.35 || !hasWarning(f, "very noisy") {
		t.Errorf("sd %v, warnings %q", f.Change.SD, f.Warnings)
	}
}

// The course of a campaign is told as a worsening, whichever way is better for the metric.
func TestOrderEffectIsAWorsening(t *testing.T) {
	b, h := abba("chat", []int{10}, steady, steady)
	for _, d := range []bench.Digest{b, h} {
		runs(d, func(_ int, r *bench.Run) {
			by := math.Exp(0.2 * float64(r.Order-1) / 19)
			r.Metrics["ttft.p95"], r.Metrics["output.rate"] = 0.4*by, 1000/by
		})
	}
	p := primary(Rule{Metric: "output.rate", Tolerance: ptr(0.05), RuleOut: ptr(0.25)})
	for _, f := range Decide(p, one(b), one(h)).Findings {
		if want := math.Expm1(0.2); f.Change.Order == nil || math.Abs(*f.Change.Order-want) > 1e-6 || f.Change.DaySD != nil {
			t.Errorf("%s: order %v, want %v; day sd %v", f.Metric, f.Change.Order, want, f.Change.DaySD)
		}
	}
	f := Decide(primary(), one(history("chat", 5)), one(digest("chat", headDay, quiet...))).Findings[0]
	if f.Change.Order != nil || f.Change.DaySD == nil || !(*f.Change.DaySD > 0) {
		t.Errorf("across days: order %v, day sd %v", f.Change.Order, f.Change.DaySD)
	}
}

func TestPlacesAreOrdinals(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 111: "111th"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
