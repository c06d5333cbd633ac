package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

// secondStage is an interleaved campaign after the first stage, under a name of its own.
func secondStage(scenario string, visits int, base, head []float64) (b, h bench.Digest) {
	b, h = abba(scenario, three, base, head)
	for _, d := range []*bench.Digest{&b, &h} {
		d.Sessions[0].ID, d.Sessions[0].Started = "turns-2", headDay.Add(time.Hour)
		*d = early(*d, visits)
	}
	return b, h
}

func TestConfirm(t *testing.T) {
	committed := func(n int) []bench.Digest { return one(history("chat", n)) }
	first := func(by float64) bench.Digest { return digest("chat", headDay, times(quiet, by)...) }
	for _, test := range []struct {
		name        string
		base        []bench.Digest
		first       float64 // change in the first stage; 0: there is none
		visits      int     // of the second stage
		second      float64
		want        Outcome
		code        int
		look        string
		unconfirmed []string
		open        []string
		why         string
	}{
		{"a pass ends it", committed(5), 1, 0, 0, Pass, 0, "stage 1", nil, nil, ""},
		{"an improvement ends it", committed(5), 0.7, 0, 0, Improved, 0, "stage 1", nil, nil, ""},
		{"no regression without the second stage", committed(5), 1.4, 0, 0, Invalid, 3, "stage 1", []string{"chat"}, nil, "The campaign is unfinished: its second stage is not measured. ttft.p95 is 39 % slower"},
		{"what is open waits for it", committed(1), 1.1, 0, 0, Invalid, 3, "stage 1", []string{"chat"}, nil, "The campaign is unfinished: its second stage is not measured. ttft.p95 may be anything"},
		{"without a baseline it comes first", nil, 1, 0, 0, Invalid, 3, "stage 1", []string{"chat"}, nil, "There is no baseline"},
		{"the second stage blocks", committed(5), 1.4, 10, 1.4, Regressed, 1, "stage 2, look 1 of 3 (6 visits a side)", nil, nil, "slower"},
		{"the second stage acquits", committed(5), 1.4, 6, 1, Pass, 0, "stage 2, look 1 of 3 (6 visits a side)", nil, nil, ""},
		{"a pass of the first stage stays", committed(5), 1, 10, 1.4, Pass, 0, "stage 1", nil, nil, ""},
		{"straight to the second stage", nil, 0, 6, 1.4, Regressed, 1, "stage 2, look 1 of 3 (6 visits a side)", nil, nil, ""},
		{"an unfinished second stage", committed(5), 1.4, 5, 1.4, Invalid, 3, "stage 2, look 1 of 3 (6 visits a side)", nil, []string{"chat"}, "first look is at 6 visits"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var reference, head []bench.Digest
			if test.first > 0 {
				head = one(first(test.first))
			}
			if test.visits > 0 {
				b, h := secondStage("chat", test.visits, steady, times(steady, test.second))
				reference = one(b)
				if len(head) > 0 {
					h = joined(head[0], h)
				}
				head = one(h)
			}
			v := Confirm(primary(), test.base, reference, head)
			sane(t, v)
			f := v.Findings[0]
			if f.Outcome != test.want || v.ExitCode != test.code || f.Look != test.look || !strings.Contains(f.Why, test.why) {
				t.Errorf("%s, exit code %d, at %q: %s", f.Outcome, v.ExitCode, f.Look, f.Why)
			}
			if diff := cmp.Diff([][]string{test.unconfirmed, test.open}, [][]string{v.Unconfirmed(), v.Open()}); diff != "" {
				t.Errorf("unconfirmed and open (-want +got)\n%s", diff)
			}
			if v.Design != "confirm" || strings.Contains(strings.SplitN(v.Bound, ". ", 2)[0], "day_sd") {
				t.Errorf("design %q, bound %s", v.Design, v.Bound)
			}
		})
	}
}

func TestSecondStageStandsInFamiliesOfItsOwn(t *testing.T) {
	names := []string{"a", "b", "c"}
	var base, reference, head []bench.Digest
	for _, name := range names {
		base = append(base, history(name, 5))
		h := digest(name, headDay, quiet...)
		if name == "b" {
			h = digest(name, headDay, times(quiet, 1.4)...)
			r, turns := secondStage(name, 10, steady, times(steady, 1.4))
			reference, h = append(reference, r), joined(h, turns)
		}
		head = append(head, h)
	}
	v := Confirm(primary(), base, reference, head)
	sane(t, v)
	if diff := cmp.Diff([]Outcome{Pass, Regressed, Pass}, outcomes(v)); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	r, h := secondStage("b", 10, steady, times(steady, 1.4))
	alone := Decide(primary(), one(r), one(h)).Findings[0].Change
	if got := v.Findings[1].Change; got.PHolm != alone.PHolm || got.P != alone.P {
		t.Errorf("p %v, adjusted %v; alone %v, %v", got.P, got.PHolm, alone.P, alone.PHolm)
	}
	if !strings.Contains(v.Bound, "only the second stage") || !strings.Contains(v.Bound, "With 95 % confidence each, as long as days differ by no more than 5 % (gate.baseline.day_sd): a ttft.p95 at most 9 % slower") {
		t.Errorf("bound: %s", v.Bound)
	}
}

func TestConfirmWithoutAComparableBaselineGoesToTheSecondStage(t *testing.T) {
	base := history("chat", 5)
	base.MustMatch[bench.KeyDriver] = "another driver"
	first := digest("chat", headDay, quiet...)
	v := Confirm(primary(), one(base), nil, one(first))
	if diff := cmp.Diff([]string{"chat"}, v.Unconfirmed()); diff != "" || v.Outcome != Invalid {
		t.Errorf("%s, unconfirmed %v: %s", v.Outcome, v.Unconfirmed(), v.Summary)
	}
	r, h := secondStage("chat", 6, steady, steady)
	if v := Confirm(primary(), one(base), one(r), one(joined(first, h))); v.Outcome != Pass {
		t.Errorf("%s: %s", v.Outcome, v.Summary)
	}
}

func TestWhoeverMisbehavesInAnyStageIsNeverInnocent(t *testing.T) {
	died := func(r *bench.Run) { r.Invalid = "server died" }
	for _, test := range []struct {
		name        string
		first       float64
		second      float64
		at          int // stage that it died in
		want        Outcome
		unconfirmed int
	}{
		{"a pass", 1, 0, 1, Invalid, 0},
		{"shown worse at first, then not", 1.4, 1, 1, Invalid, 1},
		{"shown worse twice", 1.4, 1.4, 1, Regressed, 1},
		{"in the second stage", 1.4, 1, 2, Invalid, 1},
	} {
		first := digest("chat", headDay, times(quiet, test.first)...)
		r, h := secondStage("chat", 6, steady, times(steady, test.second))
		if test.at == 1 {
			runs(first, func(i int, r *bench.Run) {
				if i == 0 {
					died(r)
				}
			})
		} else {
			died(&h.Sessions[0].Visits[0].Runs[0])
		}
		before := Confirm(primary(), one(history("chat", 5)), nil, one(first))
		if len(before.Unconfirmed()) != test.unconfirmed {
			t.Errorf("%s: unconfirmed %v after the first stage: %s", test.name, before.Unconfirmed(), before.Summary)
		}
		reference, head := one(r), one(joined(first, h))
		if test.second == 0 {
			reference, head = nil, one(first)
		}
		if v := Confirm(primary(), one(history("chat", 5)), reference, head); v.Outcome != test.want {
			t.Errorf("%s: %s, want %s: %s", test.name, v.Outcome, test.want, v.Summary)
		}
	}
}

func TestLimitOfAConfirmCampaignIsHeldAgainstAllOfIt(t *testing.T) {
	p := primary(Rule{Metric: "error.ratio", Max: ptr(0.005)})
	first := runs(digest("chat", headDay, times(quiet, 1.4)...), func(i int, r *bench.Run) { fails(1)(r) })
	r, h := secondStage("chat", 6, steady, times(steady, 1.4))
	for _, test := range []struct {
		name            string
		reference, head []bench.Digest
		want            Outcome
		why             string
	}{
		{"the first stage alone", nil, one(first), Breached, "5 of 500 requests failed"},
		{"both", one(r), one(joined(first, h)), Pass, "5 of 1100 requests failed"},
	} {
		f := Confirm(p, one(history("chat", 5)), test.reference, test.head).Findings[1]
		if f.Outcome != test.want || !strings.Contains(f.Why, test.why) {
			t.Errorf("%s: %s: %s", test.name, f.Outcome, f.Why)
		}
	}
}

func TestConfirmRefusesWhatItCannotRead(t *testing.T) {
	first := digest("chat", headDay, times(quiet, 1.4)...)
	_, h := secondStage("chat", 6, steady, steady)
	other, _ := secondStage("chat", 6, steady, steady)
	other.Sessions[0].ID = "other turns"
	short := digest("chat", headDay, quiet[:2]...)
	base := one(history("chat", 5))
	for _, test := range []struct {
		name            string
		base, ref, head []bench.Digest
		want            Outcome
		why             string
	}{
		{"two campaigns", base, one(other), one(joined(first, h)), Invalid, "not measured in turn"},
		{"too few runs at first", base, nil, one(short), Invalid, "2 valid runs"},
		{"no candidate at all", base, nil, nil, Missing, "no digest of scenario"},
		{"two digests of it", base, nil, []bench.Digest{first, first}, Invalid, "two head digests"},
		{"a rule that cannot be", base, nil, one(first), Invalid, ""},
	} {
		p := primary()
		if test.name == "a rule that cannot be" {
			p.Rules[0].RuleOut = ptr(0.01)
		}
		v := Confirm(p, test.base, test.ref, test.head)
		if sane(t, v); v.Outcome != test.want || !strings.Contains(v.Findings[0].Why, test.why) || len(v.Unconfirmed()) > 0 {
			t.Errorf("%s: %s, unconfirmed %v: %s", test.name, v.Outcome, v.Unconfirmed(), v.Summary)
		}
	}
}

// A campaign that was killed in its second stage goes on; one that lost a side cannot be read.
func TestHalfASecondStage(t *testing.T) {
	r, h := secondStage("chat", 6, steady, steady)
	before := digest("chat", headDay, times(quiet, 1.4)...)
	for _, test := range []struct {
		name            string
		reference, head []bench.Digest
		why             string
		open            int
	}{
		{"only the reference", one(r), one(before), "only visits of the reference are measured", 1},
		{"only the candidate", nil, one(joined(before, h)), "reference's side of the second stage is missing", 0},
	} {
		v := Confirm(primary(), one(history("chat", 5)), test.reference, test.head)
		if f := v.Findings[0]; f.Outcome != Invalid || !strings.Contains(f.Why, test.why) || len(v.Open()) != test.open {
			t.Errorf("%s: %s, open %v: %s", test.name, f.Outcome, v.Open(), f.Why)
		}
	}
}

// A second stage cannot mend what is wrong with the candidate's own measurement.
func TestACandidateThatNobodyCanJudgeHasNoSecondStage(t *testing.T) {
	few := digest("chat", headDay, quiet...)
	runs(few, func(_ int, r *bench.Run) { r.Sent, r.OK = 40, 40 })
	v := Confirm(primary(), one(history("chat", 5)), nil, one(few))
	if f := v.Findings[0]; f.Outcome != Invalid || v.ExitCode != 3 || len(v.Unconfirmed()) > 0 || !strings.Contains(f.Why, "needs 59 successes") {
		t.Errorf("%s, unconfirmed %v: %s", f.Outcome, v.Unconfirmed(), f.Why)
	}
}

func TestNothingOfTheFirstStageIsRed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, head := law(t)
		runs(head, func(i int, r *bench.Run) { r.Void = rapid.SampledFrom([]string{"", "", "", "", "hot"}).Draw(t, "void") })
		p := all()
		p.Rules = p.Rules[:4]
		v := Confirm(p, one(base), nil, one(head))
		sane(t, v)
		for _, f := range v.Findings {
			if f.Outcome == Regressed {
				t.Fatalf("%s: %s", f.Metric, f.Why)
			}
			if f.Awaits == "stage 2" && f.Outcome != Invalid {
				t.Fatalf("%s is %s and awaits the second stage", f.Metric, f.Outcome)
			}
		}
	})
}
