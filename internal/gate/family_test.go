package gate

import (
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

// marginal is a comparison that is just significant when asked alone.
func marginal() (base, head []bench.Digest) {
	return one(history("chat", 5)), one(digest("chat", headDay, times(quiet, 1.12)...))
}

func TestFamiliesAreAdjustedApart(t *testing.T) {
	base, head := marginal()
	rule := Rule{Metric: "tpot.mean", Tolerance: ptr(0.05), RuleOut: ptr(0.25)}
	alone := Decide(primary(), base, head).Findings[0]
	if alone.Outcome != Regressed || alone.Change.P < 0.002 || alone.Change.PHolm != alone.Change.P {
		t.Fatalf("alone: %s, p %v, adjusted %v", alone.Outcome, alone.Change.P, alone.Change.PHolm)
	}
	var rules []Rule
	for range 12 {
		rules = append(rules, rule)
	}
	crowd := Decide(primary(rules...), base, head)
	if got := crowd.Findings[0]; got.Outcome != Regressed || got.Change.PHolm != alone.Change.PHolm {
		t.Errorf("the primary is %s, p %v: other rules weigh on it", got.Outcome, got.Change.PHolm)
	}
	for _, f := range crowd.Findings[1:] {
		if f.Outcome == Regressed || f.Change.PHolm < 0.025 || !strings.Contains(f.Why, "Asked alone this would count as worse") {
			t.Errorf("one of 12 is %s, p %v, adjusted %v: %s", f.Outcome, f.Change.P, f.Change.PHolm, f.Why)
		}
	}
}

func TestPrimariesOfAllScenariosAreOneFamily(t *testing.T) {
	base, head := marginal()
	alone := Decide(primary(), base, head).Findings[0].Change
	for _, name := range []string{"s1", "s2", "s3"} {
		base, head = append(base, history(name, 5)), append(head, digest(name, headDay, quiet...))
	}
	f := Decide(primary(), base, head).Findings[0]
	if f.Scenario != "chat" || f.Change.P != alone.P || f.Change.PHolm < 3.9*alone.P {
		t.Errorf("%s: p %v, adjusted %v of four", f.Scenario, f.Change.P, f.Change.PHolm)
	}
}

// With 199 resamples the smallest p is 0.005, and 20 rules ask for 0.00125: without more resamples none could be shown.
func TestLargeFamiliesGetMoreResamples(t *testing.T) {
	var order []int
	var values []float64
	for i := range 20 {
		side := []int{0, 1, 1, 0}[i%4]
		order = append(order, side)
		values = append(values, quiet[i%5]*(1+float64(side)))
	}
	base, head := interleaved("chat", order, values)
	var p Policy
	for range 20 {
		p.Rules = append(p.Rules, Rule{Metric: "ttft.p95", Tolerance: ptr(0.05)})
	}
	p.Resamples = 199
	for _, f := range Decide(p, one(base), one(head)).Findings {
		if f.Outcome != Regressed || f.Change.P > 0.00125 {
			t.Fatalf("%s, p %v, adjusted %v", f.Outcome, f.Change.P, f.Change.PHolm)
		}
	}
}

func TestVisitIsTheUnitWhereSidesTakeTurns(t *testing.T) {
	base, head := interleaved("chat", []int{0, 1, 1, 0, 0, 1, 1, 0}, []float64{0.41, 0.42, 0.40, 0.41, 0.43, 0.41, 0.42, 0.40})
	single := Decide(primary(), one(base), one(head)).Findings[0]
	// Two runs a visit instead of one, alike around the visit's value: they tell no more than the visit does.
	for _, d := range []bench.Digest{base, head} {
		for i, v := range d.Sessions[0].Visits {
			r := v.Runs[0]
			d.Sessions[0].Visits[i].Runs = []bench.Run{run(2*r.Order-1, r.Metrics["ttft.p95"]*1.02), run(2*r.Order, r.Metrics["ttft.p95"]/1.02)}
		}
	}
	double := Decide(primary(), one(base), one(head)).Findings[0]
	if double.Head.NRuns != 8 || double.Change.Worse != single.Change.Worse || double.Change.P != single.Change.P {
		t.Errorf("%d runs, change %+v; with one run a visit %+v", double.Head.NRuns, double.Change, single.Change)
	}
}

func TestRunIsTheUnitWhereTheServerNeverRestarted(t *testing.T) {
	base, head := interleaved("chat", []int{0, 1, 1, 0, 0, 1, 1, 0}, []float64{0.41, 0.42, 0.40, 0.41, 0.43, 0.41, 0.42, 0.40})
	want := Decide(primary(), one(base), one(head)).Findings[0].Change
	for _, d := range []bench.Digest{base, head} {
		s := &d.Sessions[0]
		s.Visits, s.Looks = []bench.Visit{{Number: 1, Started: headDay, Runs: s.Runs()}}, nil // as in imported files
	}
	if got := Decide(primary(), one(base), one(head)).Findings[0].Change; got == nil || got.P != want.P {
		t.Errorf("change %+v, want %+v", got, want)
	}
}

func TestOrderThatGoesAlongWithTheSideIsRefused(t *testing.T) {
	base, head := interleaved("chat", []int{0, 0, 0, 0, 1, 1, 1, 1}, []float64{0.41, 0.42, 0.40, 0.41, 0.43, 0.41, 0.42, 0.40})
	decision{"AAAABBBB", primary(), one(base), one(head), 0, Invalid, 3, "order of the runs", "ABBA"}.run(t)
}

func TestBoundSaysWhatIsPromised(t *testing.T) {
	base, head := one(history("chat", 5)), one(digest("chat", headDay, quiet...))
	across := ", as long as days differ by no more than 5 % (gate.baseline.day_sd)"
	interleavedBase, interleavedHead := interleaved("chat", []int{0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0}, append(append([]float64{0.4, 0.41}, quiet...), quiet...))
	for _, test := range []struct {
		name       string
		p          Policy
		base, head []bench.Digest
		want       string
	}{
		{"a primary that passes", primary(), base, head, "Two identical builds turn a primary metric red in at most 2.5 % of comparisons, over all scenarios together" + across + ". With 97.5 % confidence each: chat ttft.p95 at most 9 % slower."},
		{"no primary", Policy{Rules: []Rule{{Metric: "tpot.mean", Tolerance: ptr(0.05)}}}, base, head, "Two identical builds turn a comparative rule red in at most 2.5 % of comparisons, over all scenarios together" + across + "."},
		{"limits alone", Policy{Rules: []Rule{{Metric: "error.ratio", Max: ptr(0.05)}}}, base, head, "Nothing was compared, so nothing is claimed about false alarms."},
		{"both families in turns", primary(Rule{Metric: "tpot.mean", Tolerance: ptr(0.05)}), one(interleavedBase), one(interleavedHead), "and any comparative rule in at most 5 %, over all scenarios together."},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Decide(test.p, test.base, test.head).Bound; !strings.Contains(got, test.want) {
				t.Errorf("bound: %s\nwant in it: %s", got, test.want)
			}
		})
	}
}
