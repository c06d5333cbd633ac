package gate

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

// drawn are the runs of one side: n values around a level.
func drawn(t *rapid.T, name string, n int, level, sd float64) []float64 {
	var out []float64
	for _, z := range rapid.SliceOfN(rapid.Float64Range(-2, 2), n, n).Draw(t, name) {
		out = append(out, level*math.Exp(z*sd))
	}
	return out
}

// law is a comparison drawn at random: one to three sessions against one.
func law(t *rapid.T) (base, head bench.Digest) {
	n := rapid.IntRange(3, 6).Draw(t, "runs")
	sd := rapid.Float64Range(0.001, 0.2).Draw(t, "sd")
	base = digest("chat", baseDay)
	base.Sessions = nil
	for i := range rapid.IntRange(1, 3).Draw(t, "sessions") {
		base.Sessions = append(base.Sessions, session(baseDay.AddDate(0, 0, -i), drawn(t, "base", n, 0.4, sd)...))
	}
	head = digest("chat", headDay, drawn(t, "head", n, 0.4*rapid.Float64Range(0.5, 2).Draw(t, "change"), sd)...)
	return base, head
}

// all is a policy with a rule of every kind, and few resamples: a law needs many verdicts.
func all() Policy {
	p := primary(
		Rule{Metric: "output.rate", Tolerance: ptr(0.05), RuleOut: ptr(0.25)},
		Rule{Metric: "tpot.mean", Tolerance: ptr(0.05)},
		Rule{Metric: "goodput.ratio", Tolerance: ptr(0.05), RuleOut: ptr(0.15)},
		Rule{Metric: "goodput.ratio", Min: ptr(0.95)},
		Rule{Metric: "error.ratio", Max: ptr(0.01)},
		Rule{Metric: "ttft.p95", Max: ptr(0.5)},
	)
	p.Resamples = 199
	return p
}

func outcomes(v Verdict) []Outcome {
	var out []Outcome
	for _, f := range v.Findings {
		out = append(out, f.Outcome)
	}
	return out
}

func TestVerdictsAreSane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := law(t)
		runs(head, func(i int, r *bench.Run) {
			fails(rapid.IntRange(0, 100).Draw(t, "failures"))(r)
			r.Void = rapid.SampledFrom([]string{"", "", "", "", "hot"}).Draw(t, "void")
			r.Invalid = rapid.SampledFrom([]string{"", "", "", "", "died"}).Draw(t, "invalid")
		})
		sane(t, Decide(all(), one(base), one(head)))
	})
}

func TestScalingBothSidesChangesNoOutcome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := law(t)
		p := all()
		p.Rules = p.Rules[:3] // a limit stays where it is
		before := Decide(p, one(base), one(head))
		by := math.Pow(2, float64(rapid.IntRange(-20, 20).Draw(t, "power"))) * rapid.SampledFrom([]float64{1, 1.1, 0.3}).Draw(t, "by")
		for _, d := range []bench.Digest{base, head} {
			runs(d, func(_ int, r *bench.Run) {
				for name := range r.Metrics {
					r.Metrics[name] *= by
				}
			})
		}
		if diff := cmp.Diff(outcomes(before), outcomes(Decide(p, one(base), one(head)))); diff != "" {
			t.Fatalf("scaled by %v (-before +after)\n%s", by, diff)
		}
	})
}

// The bootstrap draws other residuals when the sides change places, so the law holds where a result is clear of chance.
func TestSwappingSidesMirrorsTheOutcome(t *testing.T) {
	mirror := map[Outcome]Outcome{Regressed: Improved, Improved: Regressed}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 8).Draw(t, "runs")
		by := rapid.SampledFrom([]float64{0.3, 0.4, 2.5, 3}).Draw(t, "by")
		base := digest("chat", headDay, drawn(t, "base", n, 0.4, 0.05)...)
		head := digest("chat", headDay, drawn(t, "head", n, 0.4*by, 0.05)...)
		p := all()
		p.Rules, p.MaxAge = p.Rules[:3], 0
		base.Sessions[0].ID, head.Sessions[0].ID = "a", "b"
		there, back := outcomes(Decide(p, one(base), one(head))), outcomes(Decide(p, one(head), one(base)))
		for i, o := range there {
			if want := mirror[o]; back[i] != want {
				t.Fatalf("%s is %s, and with the sides swapped %s", p.Rules[i].Metric, o, back[i])
			}
		}
	})
}

func TestWiderToleranceNeverTurnsPassIntoRegressed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := law(t)
		tolerance := rapid.Float64Range(0, 0.2).Draw(t, "tolerance")
		wider := tolerance + rapid.Float64Range(0, 0.2).Draw(t, "more")
		decide := func(tolerance float64) []Outcome {
			p := all()
			for i := range 2 {
				p.Rules[i].Tolerance, p.Rules[i].RuleOut = ptr(tolerance), ptr(0.5)
			}
			return outcomes(Decide(p, one(base), one(head)))[:2]
		}
		narrow, wide := decide(tolerance), decide(wider)
		for i := range narrow {
			if narrow[i] != Regressed && wide[i] == Regressed {
				t.Fatalf("%s with a tolerance of %v, regressed with %v", narrow[i], tolerance, wider)
			}
		}
	})
}

func TestBreakingARequestNeverTurnsABreachIntoAPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 8).Draw(t, "runs")
		sent := rapid.IntRange(5, 120).Draw(t, "requests")
		limit := rapid.Float64Range(0.02, 0.99).Draw(t, "limit")
		head := edited(n, func(_ int, r *bench.Run) {
			good := rapid.IntRange(0, sent).Draw(t, "good")
			r.Sent, r.OK, r.Good = sent, sent, &good
		})
		p := Policy{Slack: rapid.Float64Range(0, 0.5).Draw(t, "slack"), Rules: []Rule{{Metric: "goodput.ratio", Min: &limit}}}
		base := one(history("chat", 2))
		before := Decide(p, base, head).Outcome
		broken := rapid.IntRange(0, n-1).Draw(t, "run")
		runs(head[0], func(i int, r *bench.Run) {
			if i == broken && *r.Good > 0 {
				fails(1)(r)
			}
		})
		if after := Decide(p, base, head); before == Breached && after.Outcome == Pass {
			t.Fatalf("breached, and after one more failure: %s", after.Summary)
		}
	})
}

func TestBreakingARequestNeverHelpsAnErrorLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head := edited(3, func(_ int, r *bench.Run) { fails(rapid.IntRange(0, 4).Draw(t, "failures"))(r) })
		p := Policy{Rules: []Rule{{Metric: "error.ratio", Max: ptr(0.02)}}}
		before := Decide(p, one(history("chat", 2)), head).Outcome
		runs(head[0], first(1, fails(1)))
		if after := Decide(p, one(history("chat", 2)), head).Outcome; before == Breached && after != Breached {
			t.Fatalf("breached, and after one more failure %s", after)
		}
	})
}

func TestMissingMetricNeverPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := law(t)
		p := all()
		name := rapid.SampledFrom(p.Rules).Draw(t, "rule").Metric
		every := rapid.Bool().Draw(t, "every run")
		runs(head, func(i int, r *bench.Run) {
			if i == 0 || every {
				delete(r.Metrics, name)
				if name == "goodput.ratio" {
					r.Good = nil
				}
			}
		})
		for _, f := range Decide(p, one(base), one(head)).Findings {
			if f.Metric == name && name != "error.ratio" && (f.Outcome == Pass || f.Outcome == Improved) {
				t.Fatalf("%s is %s: %s", name, f.Outcome, f.Why)
			}
		}
	})
}

func TestOrderInFilesDecidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var base, head []bench.Digest
		for i := range 3 {
			b, h := law(t)
			b.Scenario, h.Scenario = fmt.Sprint("s", i), fmt.Sprint("s", i)
			base, head = append(base, b), append(head, h)
		}
		p := all()
		p.Rules = p.Rules[:3]
		before := Decide(p, base, head)
		base, head = rapid.Permutation(base).Draw(t, "base"), rapid.Permutation(head).Draw(t, "head")
		for i := range base {
			base[i].Sessions = rapid.Permutation(base[i].Sessions).Draw(t, "sessions")
			for _, s := range base[i].Sessions {
				slices.Reverse(s.Visits[0].Runs)
			}
		}
		if diff := cmp.Diff(before, Decide(p, base, head)); diff != "" {
			t.Fatalf("(-before +after)\n%s", diff)
		}
	})
}

func TestDecidingChangesNoDigest(t *testing.T) {
	base, head := history("chat", 3), digest("chat", headDay, quiet...)
	slices.Reverse(base.Sessions)
	Decide(all(), one(base), one(head))
	again := history("chat", 3)
	slices.Reverse(again.Sessions)
	if diff := cmp.Diff(again, base); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

// Readers refuse most of this; the gate has to stand it all the same.
func TestNoNumberBreaksTheGate(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{
		math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.4, 1,
	}))
	count := rapid.OneOf(rapid.IntRange(-3, 200), rapid.Just(math.MaxInt32), rapid.Just(60))
	rapid.Check(t, func(t *rapid.T) {
		base, head := law(t)
		spoil := func(_ int, r *bench.Run) {
			if rapid.Bool().Draw(t, "sound") {
				return
			}
			good := count.Draw(t, "good")
			r.Sent, r.OK, r.Good, r.Order = count.Draw(t, "sent"), count.Draw(t, "ok"), &good, count.Draw(t, "order")
			share := number.Draw(t, "cached")
			r.CachedTokens, r.OutputTokens = &share, number.Draw(t, "tokens")
			r.Client = bench.Client{Queued: number.Draw(t, "queued"), LagP99: number.Draw(t, "lag")}
			for _, name := range []string{"ttft.p50", "ttft.p95", "tpot.mean", "output.rate", "goodput.ratio"} {
				r.Metrics[name] = number.Draw(t, name)
			}
		}
		runs(base, spoil)
		runs(head, spoil)
		sane(t, Decide(all(), one(base), one(head)))
	})
}
