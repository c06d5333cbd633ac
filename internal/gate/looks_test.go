package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

var three = []int{6, 8, 10}

// ten visits that differ by about 3 %.
var steady = []float64{0.412, 0.405, 0.421, 0.399, 0.410, 0.415, 0.402, 0.418, 0.407, 0.409}

// loud are ten visits that scatter by about 20 %.
var loud = []float64{0.41, 0.55, 0.36, 0.48, 0.33, 0.50, 0.38, 0.44, 0.58, 0.40}

func TestLooks(t *testing.T) {
	at := func(base, head []float64, visits int) (b, h []bench.Digest) {
		x, y := abba("chat", three, base, head)
		return one(early(x, visits)), one(early(y, visits))
	}
	for _, test := range []struct {
		name       string
		base, head []float64
		visits     int
		want       Outcome
		look       string
		open       []string
		why, next  string
	}{
		{"innocence is shown at the first look", steady, steady, 10, Pass, "1 of 3 (6 visits a side)", nil, "", ""},
		{"a regression is shown at the first look", steady, times(steady, 1.2), 6, Regressed, "1 of 3 (6 visits a side)", nil, "98.2 % interval", ""},
		{"an improvement too", steady, times(steady, 0.8), 10, Improved, "1 of 3 (6 visits a side)", nil, "", ""},
		{"what is open goes on", loud, times(loud, 1.1), 6, Inconclusive, "1 of 3 (6 visits a side)", []string{"chat"}, "", "The next look is at 8 visits a side. Run the same benchgate run again"},
		{"between looks the last one passed decides", loud, times(loud, 1.1), 9, Inconclusive, "2 of 3 (8 visits a side)", []string{"chat"}, "", "The next look is at 10 visits a side"},
		{"the last look is the last", loud, times(loud, 1.1), 10, Inconclusive, "3 of 3 (10 visits a side)", nil, "neither", "more visits on each side"},
		{"before the first look nothing is read", steady, times(steady, 2), 5, Invalid, "1 of 3 (6 visits a side)", []string{"chat"}, "unfinished: its first look is at 6 visits a side, and the reference has 5, the candidate 5", "goes on where it stopped"},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, head := at(test.base, test.head, test.visits)
			v := Decide(primary(), base, head)
			sane(t, v)
			f := v.Findings[0]
			if f.Outcome != test.want || f.Look != test.look || !strings.Contains(f.Why, test.why) || !strings.Contains(f.Next, test.next) {
				t.Errorf("%s at %q: %s\nnext: %s", f.Outcome, f.Look, f.Why, f.Next)
			}
			if diff := cmp.Diff(test.open, v.Open()); diff != "" {
				t.Errorf("open (-want +got)\n%s", diff)
			}
			if v.Design != "interleaved" || strings.Contains(v.Bound, "day_sd") {
				t.Errorf("design %q, bound %s", v.Design, v.Bound)
			}
		})
	}
}

func TestLevelOfALookIsTheLevelOfTheInterval(t *testing.T) {
	levels, err := stat.Levels(three, 0.025)
	if err != nil {
		t.Fatal(err)
	}
	base, head := abba("chat", three, loud, times(loud, 1.1))
	for k, visits := range three {
		f := Decide(primary(), one(early(base, visits)), one(early(head, visits))).Findings[0]
		if want := stat.Round(1 - 2*levels[k]); math.Abs(f.Change.Level-want) > 1e-9 {
			t.Errorf("look %d has level %v, want %v", k+1, f.Change.Level, want)
		}
		if want := min(1, stat.Round(f.Change.P*0.025/levels[k])); math.Abs(f.Change.PHolm-want) > 1e-9 {
			t.Errorf("look %d has p %v, adjusted %v, want %v", k+1, f.Change.P, f.Change.PHolm, want)
		}
	}
}

func TestEarlyPassNeedsAChangeWithinTheTolerance(t *testing.T) {
	base, head := abba("chat", three, steady, times(loud, 1))
	for i := range head.Sessions[0].Visits {
		v := base.Sessions[0].Visits[i].Runs[0].Metrics["ttft.p95"]
		head.Sessions[0].Visits[i].Runs[0].Metrics["ttft.p95"] = v * (1.065 + 0.09*float64(i%2*2-1))
	}
	f := Decide(primary(), one(early(base, 6)), one(early(head, 6))).Findings[0]
	if f.Outcome != Inconclusive || f.Change.WorseHigh >= 0.25 || f.Change.Worse < 0.05 || !strings.Contains(f.Why, "before the last look a pass also asks for a change within the tolerance of 5 %") {
		t.Errorf("at the first look %s: %s", f.Outcome, f.Why)
	}
	if f := Decide(primary(), one(base), one(head)).Findings[0]; f.Outcome != Pass || !strings.HasPrefix(f.Look, "3 of 3") {
		t.Errorf("at the last look %s (%s): %s", f.Outcome, f.Look, f.Why)
	}
}

// A rule without rule_out is asked at every look that another rule brings, and brings none itself.
func TestRuleWithoutRuleOutWaitsForNoLook(t *testing.T) {
	base, head := abba("chat", three, loud, times(loud, 1.1))
	for _, test := range []struct {
		name string
		p    Policy
		look string
		open []string
	}{
		{"alone", Policy{Rules: []Rule{{Metric: "tpot.mean", Tolerance: ptr(0.05)}}}, "1 of 3 (6 visits a side)", nil},
		{"beside one that waits", primary(Rule{Metric: "tpot.mean", Tolerance: ptr(0.05)}), "1 of 3 (6 visits a side)", []string{"chat"}},
	} {
		v := Decide(test.p, one(early(base, 6)), one(early(head, 6)))
		f := v.Findings[len(v.Findings)-1]
		if diff := cmp.Diff(test.open, v.Open()); diff != "" || f.Outcome != Observed || f.Look != test.look {
			t.Errorf("%s: %s at %q, open %v", test.name, f.Outcome, f.Look, v.Open())
		}
	}
	// slow tokens are shown only when all ten visits are there, and block then
	runs(head, func(i int, r *bench.Run) {
		r.Metrics["tpot.mean"] = base.Sessions[0].Visits[i].Runs[0].Metrics["tpot.mean"] * 1.3
	})
	p := primary(Rule{Metric: "tpot.mean", Tolerance: ptr(0.05)})
	for visits, want := range map[int]Outcome{6: Observed, 10: Regressed} {
		if f := Decide(p, one(early(base, visits)), one(early(head, visits))).Findings[1]; f.Outcome != want {
			t.Errorf("%d visits: %s, want %s: %s (p %v)", visits, f.Outcome, want, f.Why, f.Change.PHolm)
		}
	}
}

func TestVoidVisitsDoNotCount(t *testing.T) {
	base, head := abba("chat", three, append([]float64{0.4}, steady...), append([]float64{0.4}, steady...))
	head.Sessions[0].Visits[2].Runs[0].Void = "lag p99 31 ms"
	for visits, want := range map[int]string{6: "1 of 3 (6 visits a side)", 7: "1 of 3 (6 visits a side)"} {
		f := Decide(primary(), one(early(base, visits)), one(early(head, visits))).Findings[0]
		passed := f.Outcome == Pass
		if f.Look != want || passed != (visits == 7) || visits == 7 && (f.Head.NRuns != 6 || f.Base.NRuns != 6) {
			t.Errorf("%d visits, one void: %s at %s, %+v", visits, f.Outcome, f.Look, f.Head)
		}
	}
}

func TestCampaignsListWinsOverThePolicys(t *testing.T) {
	base, head := abba("chat", []int{4, 10}, steady, steady)
	p := primary()
	p.Looks = []int{6, 8, 10}
	f := Decide(p, one(base), one(head)).Findings[0]
	if f.Look != "1 of 2 (4 visits a side)" && f.Look != "2 of 2 (10 visits a side)" || !hasWarning(f, "begun with looks at [4 10] visits a side") {
		t.Errorf("look %s, warnings %q", f.Look, f.Warnings)
	}
	base, head = looks(base), looks(head)
	if f := Decide(p, one(base), one(head)).Findings[0]; f.Look != "1 of 3 (6 visits a side)" || len(f.Warnings) > 0 {
		t.Errorf("without a list of its own: look %s, warnings %q", f.Look, f.Warnings)
	}
}

func TestCampaignsThatCannotBeRead(t *testing.T) {
	make := func(at ...int) (b, h bench.Digest) { return abba("chat", at, steady, steady) }
	for _, test := range []struct {
		name string
		at   []int
		edit func(b, h *bench.Digest)
		why  string
	}{
		{"looks that go down", []int{8, 6}, nil, "Looks [8 6]: want even numbers that rise"},
		{"an odd look", []int{5, 10}, nil, "Looks [5 10]: want even numbers that rise"},
		{"the same look twice", []int{6, 6}, nil, "want even numbers that rise"},
		{"no visit", []int{0, 6}, nil, "want even numbers that rise"},
		{"less than none", []int{-2, 6}, nil, "want even numbers that rise"},
		{"a crowd of looks", crowd(21), nil, "21 looks: want at most 20"},
		{"other looks on each side", three, func(_, h *bench.Digest) { *h = looks(*h, 6, 10) }, "name other looks"},
		{"a visit twice", three, func(b, _ *bench.Digest) { b.Sessions[0].Visits[3].Number = b.Sessions[0].Visits[2].Number }, "of the reference stands twice"},
		{"a run's place on both sides", three, func(b, h *bench.Digest) {
			h.Sessions[0].Visits[0].Runs[0].Order = b.Sessions[0].Visits[0].Runs[0].Order
		}, "Run 1 stands twice, so nobody knows the order"},
		{"no order", three, func(b, h *bench.Digest) {
			for _, d := range []*bench.Digest{b, h} {
				runs(*d, func(_ int, r *bench.Run) { r.Order = 0 })
			}
		}, "order of the runs cannot separate a trend from a change"},
		{"first all of one side", three, func(b, h *bench.Digest) {
			runs(*b, func(i int, r *bench.Run) { r.Order = i + 1 })
			runs(*h, func(i int, r *bench.Run) { r.Order = i + 11 })
		}, "order of the runs cannot separate a trend from a change"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, h := make(test.at...)
			if test.edit != nil {
				test.edit(&b, &h)
			}
			v := Decide(primary(), one(b), one(h))
			sane(t, v)
			if v.Outcome != Invalid || v.ExitCode != 3 || !strings.Contains(v.Findings[0].Why, test.why) {
				t.Errorf("%s, exit code %d: %s\nwant in it: %s", v.Outcome, v.ExitCode, v.Findings[0].Why, test.why)
			}
		})
	}
	b, h := make()
	p := primary()
	p.Looks = []int{10, 8}
	if v := Decide(p, one(b), one(h)); v.Outcome != Invalid {
		t.Errorf("a policy's looks that go down: %s", v.Summary)
	}
}

func crowd(n int) []int {
	var out []int
	for i := range n {
		out = append(out, 2*i+2)
	}
	return out
}

// A look of two visits spends its share of alpha and can decide nothing.
func TestLookTooEarlyToCompareDecidesNothing(t *testing.T) {
	b, h := abba("chat", []int{2, 10}, steady, times(steady, 1.5))
	v := Decide(primary(), one(early(b, 4)), one(early(h, 4)))
	if f := v.Findings[0]; f.Outcome != Invalid || len(v.Open()) != 1 {
		t.Errorf("%s, open %v: %s", f.Outcome, v.Open(), f.Why)
	}
	if f := Decide(primary(), one(b), one(h)).Findings[0]; f.Outcome != Regressed || f.Look != "2 of 2 (10 visits a side)" {
		t.Errorf("%s at %s: %s", f.Outcome, f.Look, f.Why)
	}
}

func TestLimitIsHeldOnceAtTheLastLookPassed(t *testing.T) {
	base, head := abba("chat", three, steady, steady)
	runs(head, func(i int, r *bench.Run) {
		if i >= 6 {
			fails(5)(r)
		}
	})
	p := primary(Rule{Metric: "error.ratio", Max: ptr(0.005)})
	for visits, want := range map[int]Outcome{6: Pass, 7: Pass, 8: Breached, 10: Breached} {
		if f := Decide(p, one(early(base, visits)), one(early(head, visits))).Findings[1]; f.Outcome != want {
			t.Errorf("%d visits: %s, want %s: %s", visits, f.Outcome, want, f.Why)
		}
	}
}

func TestServerThatMisbehavesAfterTheAnswerIsNotInnocent(t *testing.T) {
	base, head := abba("chat", three, steady, steady)
	head.Sessions[0].Visits[8].Runs[0].Invalid = "server died"
	if v := Decide(primary(), one(base), one(head)); v.Outcome != Invalid || !strings.Contains(v.Summary, "misbehaved") {
		t.Errorf("%s: %s", v.Outcome, v.Summary)
	}
}

// campaignOf draws an interleaved campaign of some scenarios, each with a change of its own.
func campaignOf(t *rapid.T, scenarios int) (base, head []bench.Digest) {
	for i := range scenarios {
		sd := rapid.Float64Range(0.01, 0.2).Draw(t, "sd")
		by := rapid.SampledFrom([]float64{0.7, 1, 1, 1.1, 1.2, 1.4}).Draw(t, "by")
		b, h := abba(fmt.Sprint("s", i), []int{6, 10}, drawn(t, "base", 10, 0.4, sd), drawn(t, "head", 10, 0.4*by, sd))
		base, head = append(base, b), append(head, h)
	}
	return base, head
}

func TestLaterVisitsChangeNoAnswerOfALook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := campaignOf(t, 2)
		p := short()
		last := map[string]Finding{}
		for _, visits := range []int{6, 9, 10} {
			var b, h []bench.Digest
			for i := range base {
				b, h = append(b, early(base[i], visits)), append(h, early(head[i], visits))
			}
			for _, f := range Decide(p, b, h).Findings {
				key := f.Scenario + f.Metric
				if before, ok := last[key]; ok && before.Outcome != f.Outcome {
					t.Fatalf("%s is %s at %s, and with %d visits %s at %s", key, before.Outcome, before.Look, visits, f.Outcome, f.Look)
				}
				if slices.Contains([]Outcome{Pass, Regressed, Improved}, f.Outcome) {
					last[key] = f
				}
			}
		}
	})
}

// short is a policy of two families with a short list of looks and few resamples: a law needs many verdicts.
func short() Policy {
	p := primary(Rule{Metric: "output.rate", Tolerance: ptr(0.05), RuleOut: ptr(0.25)})
	p.Resamples = 199
	return p
}

func TestScalingChangesNoLook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := campaignOf(t, 1)
		p := short()
		before := Decide(p, base, head)
		for _, d := range slices.Concat(base, head) {
			runs(d, func(_ int, r *bench.Run) {
				for name := range r.Metrics {
					r.Metrics[name] *= 1000
				}
			})
		}
		after := Decide(p, base, head)
		for i, f := range after.Findings {
			if g := before.Findings[i]; f.Outcome != g.Outcome || f.Look != g.Look || f.Why != g.Why {
				t.Fatalf("seconds: %s at %s: %s\nmilliseconds: %s at %s: %s", g.Outcome, g.Look, g.Why, f.Outcome, f.Look, f.Why)
			}
		}
	})
}

func TestSwappingSidesOfACampaignMirrorsItsOutcomes(t *testing.T) {
	mirror := map[Outcome]Outcome{Regressed: Improved, Improved: Regressed}
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.SampledFrom([]float64{0.4, 0.5, 2, 2.5}).Draw(t, "by")
		base, head := abba("chat", []int{6, 10}, drawn(t, "base", 10, 0.4, 0.05), drawn(t, "head", 10, 0.4*by, 0.05))
		p := short()
		there, back := Decide(p, one(base), one(head)), Decide(p, one(head), one(base))
		for i, f := range there.Findings {
			if g := back.Findings[i]; g.Outcome != mirror[f.Outcome] || f.Look != g.Look {
				t.Fatalf("%s is %s at %s, and with the sides swapped %s at %s", f.Metric, f.Outcome, f.Look, g.Outcome, g.Look)
			}
		}
	})
}

func TestWiderToleranceNeverTurnsPassIntoRegressedAtAnyLook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := campaignOf(t, 1)
		tolerance := rapid.Float64Range(0, 0.2).Draw(t, "tolerance")
		wider := tolerance + rapid.Float64Range(0, 0.2).Draw(t, "more")
		decide := func(tolerance float64) []Outcome {
			p := short()
			for i := range p.Rules {
				p.Rules[i].Tolerance, p.Rules[i].RuleOut = ptr(tolerance), ptr(0.5)
			}
			return outcomes(Decide(p, base, head))
		}
		narrow, wide := decide(tolerance), decide(wider)
		for i := range narrow {
			if narrow[i] != Regressed && wide[i] == Regressed {
				t.Fatalf("%s with a tolerance of %v, regressed with %v", narrow[i], tolerance, wider)
			}
		}
	})
}

func TestWhatACampaignLacksNeverPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := campaignOf(t, 1)
		p := Policy{Resamples: 199, Rules: []Rule{{Metric: "ttft.p95", Tolerance: ptr(0.05), RuleOut: ptr(0.25)}, {Metric: "goodput.ratio", Min: ptr(0.95)}}}
		lost := rapid.IntRange(0, 5).Draw(t, "visit") // the first look sees it
		every := rapid.Bool().Draw(t, "every visit")
		runs(head[0], func(i int, r *bench.Run) {
			if i == lost || every {
				delete(r.Metrics, "ttft.p95")
				delete(r.Metrics, "goodput.ratio")
				r.Good = nil
			}
		})
		for _, f := range Decide(p, base, head).Findings {
			if f.Outcome == Pass || f.Outcome == Improved {
				t.Fatalf("%s is %s: %s", f.Metric, f.Outcome, f.Why)
			}
		}
	})
}

func TestBreakingARequestOfACampaignNeverTurnsABreachIntoAPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := abba("chat", []int{4, 6}, steady[:6], steady[:6])
		runs(head, func(_ int, r *bench.Run) {
			good := rapid.IntRange(80, 100).Draw(t, "good")
			r.Good = &good
		})
		p := Policy{Slack: 0.03, Rules: []Rule{{Metric: "goodput.ratio", Min: ptr(rapid.Float64Range(0.85, 0.99).Draw(t, "limit"))}}}
		before := Decide(p, one(base), one(head)).Outcome
		broken := rapid.IntRange(0, 5).Draw(t, "visit")
		runs(head, func(i int, r *bench.Run) {
			if i == broken {
				fails(1)(r)
			}
		})
		if after := Decide(p, one(base), one(head)); before == Breached && after.Outcome == Pass {
			t.Fatalf("breached, and after one more failure: %s", after.Summary)
		}
	})
}

// Who lost the reference's side has nothing to compare the visits with, least of all a baseline of whole sessions.
func TestVisitsWithoutTheirReferenceAreInvalid(t *testing.T) {
	_, h := secondStage("chat", 6, steady, steady)
	for name, base := range map[string][]bench.Digest{"nothing": nil, "a committed baseline": one(history("chat", 5))} {
		f := Decide(primary(), base, one(h)).Findings[0]
		if f.Outcome != Invalid || !strings.Contains(f.Why, "reference's side is missing") {
			t.Errorf("against %s: %s: %s", name, f.Outcome, f.Why)
		}
	}
}

// At the end of the budget the last look passed decides: what was spoilt after it is no part of it.
func TestWhatIsSpoiltAfterALookDoesNotCountAtIt(t *testing.T) {
	b, h := secondStage("chat", 9, steady, steady)
	spoil := func(visits ...int) {
		for _, i := range visits {
			h.Sessions[0].Visits[i].Runs[0].Void = "hot"
		}
	}
	spoil(6, 7, 8) // the candidate's visits beyond the first look
	if f := Decide(primary(), one(b), one(h)).Findings[0]; f.Outcome != Pass || !strings.HasPrefix(f.Look, "1 of 3") {
		t.Errorf("spoilt after the look: %s at %s: %s", f.Outcome, f.Look, f.Why)
	}
}

// A file may plan no more than a program can compute with.
func TestEndlessLooksAreRefused(t *testing.T) {
	b, h := secondStage("chat", 6, steady, times(steady, 1.12))
	b.Sessions[0].Looks, h.Sessions[0].Looks = []int{6, 600_000}, []int{6, 600_000}
	if f := Decide(primary(), one(b), one(h)).Findings[0]; f.Outcome != Invalid || !strings.Contains(f.Why, "at most 100") {
		t.Errorf("%s: %s", f.Outcome, f.Why)
	}
}

// Six runs of one visit are one visit.
func TestRunsOfOneVisitAreOneUnit(t *testing.T) {
	b, h := secondStage("chat", 6, steady, times(steady, 1.4))
	for _, d := range []*bench.Digest{&b, &h} {
		var all []bench.Run
		for _, v := range d.Sessions[0].Visits {
			all = append(all, v.Runs...)
		}
		d.Sessions[0].Visits = d.Sessions[0].Visits[:1]
		d.Sessions[0].Visits[0].Runs = all
	}
	if f := Decide(primary(), one(b), one(h)).Findings[0]; f.Outcome != Invalid || !strings.Contains(f.Why, "has 1, the candidate 1") {
		t.Errorf("%s: %s", f.Outcome, f.Why)
	}
}
