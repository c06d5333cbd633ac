package gate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

// buffers makes so large a share of the answers come all at once.
func buffers(share float64) func(int, *bench.Run) {
	return func(_ int, r *bench.Run) { r.Buffered = &share }
}

// ofEverything are rules on what a held stream changes and on what it does not.
func ofEverything() Policy {
	return primary(
		Rule{Metric: "ttft_sched.p95", Tolerance: ptr(0.05)},
		Rule{Metric: "tpot.mean", Max: ptr(1.0)},
		Rule{Metric: "e2el.p95", Tolerance: ptr(0.05), RuleOut: ptr(0.25)},
		Rule{Metric: "output.rate", Tolerance: ptr(0.05), RuleOut: ptr(0.25)},
		Rule{Metric: "goodput.ratio", Min: ptr(0.9)},
		Rule{Metric: "error.ratio", Max: ptr(0.005)},
	)
}

func TestABufferedStreamIsNotJudgedByItsTokens(t *testing.T) {
	slow := 2.0
	for _, test := range []struct {
		name       string
		base, head float64
		slo        bench.SLO
		want       string // outcomes in the order of the rules, by their first letters
		why        string
		code       int
	}{
		{"on no side", 0, 0, bench.SLO{TTFT: &slow}, "pass observed pass pass pass pass pass", "", 0},
		{"hardly", 0.12, 0.25, bench.SLO{TTFT: &slow}, "pass observed pass pass pass pass pass", "", 0},
		{
			"here", 0, 0.98,
			bench.SLO{TTFT: &slow},
			"invalid invalid invalid pass pass invalid pass",
			"The stream is buffered: 98 % of the candidate's answers came all at once.", 3,
		},
		{
			"at base", 1, 0,
			bench.SLO{TTFT: &slow},
			"invalid invalid pass pass pass pass pass",
			"The stream is buffered: 100 % of the baseline's answers came all at once, and the candidate's did not.", 3,
		},
		{
			"on both sides", 1, 1,
			bench.SLO{TPOT: &slow},
			"invalid invalid invalid pass pass invalid pass",
			"100 % of the baseline's answers came all at once, 100 % of the candidate's answers came all at once.", 3,
		},
		{"an SLO on the end of an answer", 0, 1, bench.SLO{E2EL: &slow}, "invalid invalid invalid pass pass pass pass", "98", 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			base := runs(history("chat", 5), buffers(test.base))
			head := runs(digest("chat", headDay, quiet...), buffers(test.head))
			base.SLO, head.SLO = test.slo, test.slo
			v := Decide(ofEverything(), one(base), one(head))
			var got []string
			for _, f := range v.Findings {
				got = append(got, string(f.Outcome))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("outcomes (-want +got)\n%s", diff)
			}
			if f := v.Findings[0]; test.code == 3 && test.why != "98" && !strings.Contains(f.Why, test.why) || test.code == 3 && f.Next == "" {
				t.Errorf("why %q, next %q", f.Why, f.Next)
			}
			if v.ExitCode != test.code {
				t.Errorf("exit code %d, want %d", v.ExitCode, test.code)
			}
		})
	}
}

func TestABufferedCandidateIsInvalidEvenWithoutABaseline(t *testing.T) {
	v := Decide(primary(), nil, one(runs(digest("chat", headDay, quiet...), buffers(1))))
	if v.Outcome != Invalid || !strings.Contains(v.Summary, "buffered") {
		t.Errorf("%s: %s", v.Outcome, v.Summary)
	}
}

func TestABufferedBaselineExcusesNoBreach(t *testing.T) {
	p := primary()
	p.Rules = []Rule{{Metric: "ttft.p95", Max: ptr(0.1)}}
	head := digest("chat", headDay, quiet...)
	if v := Decide(p, one(history("chat", 5)), one(head)); v.Outcome != Observed {
		t.Errorf("%s: a baseline that breaks the limit too excuses it", v.Outcome)
	}
	if v := Decide(p, one(runs(history("chat", 5), buffers(1))), one(head)); v.Outcome != Breached {
		t.Errorf("%s: what a buffered baseline says of ttft excuses nothing", v.Outcome)
	}
}

// Where one side's chunks hold ten tokens, tpot shows (n − 10)/(n − 1) of what the same server shows token by token.
func TestOtherPiecesAreNoFasterServer(t *testing.T) {
	p := primary(Rule{Metric: "tpot.mean", Tolerance: ptr(0.05), RuleOut: ptr(0.25)}, Rule{Metric: "output.rate", Tolerance: ptr(0.05), RuleOut: ptr(0.25)})
	for _, test := range []struct {
		name         string
		chunks       float64
		tpot, output Outcome
		check        bool
	}{
		{"the same pieces", 128, Pass, Pass, true},
		{"nearly the same", 120, Pass, Pass, true},
		{"ten tokens a chunk", 12.8, Inconclusive, Pass, false},
		{"not recorded", 0, Pass, Pass, true},
	} {
		cut := func(chunks float64) func(int, *bench.Run) {
			return func(_ int, r *bench.Run) { r.Chunks = chunks }
		}
		base, head := runs(history("chat", 5), cut(128)), runs(digest("chat", headDay, quiet...), cut(test.chunks))
		v := Decide(p, one(base), one(head))
		if got := [2]Outcome{v.Findings[1].Outcome, v.Findings[2].Outcome}; got != [2]Outcome{test.tpot, test.output} {
			t.Errorf("%s: tpot and output.rate are %v: %s", test.name, got, v.Findings[1].Why)
		}
		if bad := failed(v); (len(bad) == 0) != test.check {
			t.Errorf("%s: failed checks %v", test.name, bad)
		}
	}
}

func TestClientHealthIsTheWorstOfTheRunsThatStand(t *testing.T) {
	head := runs(digest("chat", headDay, append(quiet, quiet[0])...), func(i int, r *bench.Run) {
		r.Client = bench.Client{LagP99: 0.001 * float64(i+1), CPU: 0.5 / float64(i+1), OpenFiles: 1000 - i, Reconnects: i}
		if i == 2 {
			r.Void, r.Client.LagP99 = "late", 9
		}
	})
	head.MustMatch[bench.KeyTopology] = bench.SameHost
	n := len(quiet) + 1
	want := []Health{{
		Scenario: "chat", Side: "head", Runs: n - 1, Void: 1, Topology: bench.SameHost,
		Client: bench.Client{LagP99: 0.001 * float64(n), CPU: 0.5, OpenFiles: 1000 - n + 1, Reconnects: n - 1},
	}}
	if diff := cmp.Diff(want, Decide(primary(), one(history("chat", 5)), one(head)).Client); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLagIsHeldAgainstTheLimitOfItsRun(t *testing.T) {
	late := func(limit float64) func(int, *bench.Run) {
		return func(_ int, r *bench.Run) { r.Client.LagP99, r.Client.LagLimit = 0.03, limit }
	}
	for limit, bad := range map[float64]int{0: 1, 0.02: 1, 0.1: 0} {
		v := Decide(primary(), one(history("chat", 2)), one(runs(digest("chat", headDay, quiet...), late(limit))))
		if got := failed(v); len(got) != bad {
			t.Errorf("limit %v: failed checks %v", limit, got)
		}
	}
}
