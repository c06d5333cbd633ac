package bench_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

// pass is one case of testdata/condense.json, which testdata/condense.py made with NumPy.
type pass struct {
	Name     string
	Duration float64
	SLO      bench.SLO
	Requests []bench.Request
	Want     struct {
		Sent, OK, Good int
		Metrics        map[string]float64
	}
}

func passes(t *testing.T) []pass {
	t.Helper()
	data, err := os.ReadFile("testdata/condense.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []pass
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestStatisticsAreThoseOfNumPy(t *testing.T) {
	near := cmpopts.EquateApprox(1e-9, 0)
	for _, p := range passes(t) {
		t.Run(p.Name, func(t *testing.T) {
			var more []string
			for name := range p.Want.Metrics {
				if strings.HasSuffix(name, ".p12.5") || strings.HasSuffix(name, ".p99.9") {
					more = append(more, name)
				}
			}
			got := bench.Condense(p.Requests, p.Duration, p.SLO, more...)
			if diff := cmp.Diff(p.Want.Metrics, got.Metrics, near); diff != "" {
				t.Errorf("metrics (-numpy +condense):\n%s", diff)
			}
			if got.Sent != p.Want.Sent || got.OK != p.Want.OK || *got.Good != p.Want.Good {
				t.Errorf("sent, ok, good = %d, %d, %d, want %d, %d, %d", got.Sent, got.OK, *got.Good, p.Want.Sent, p.Want.OK, p.Want.Good)
			}
			got.Order = 1
			if err := bench.CheckRun(got); err != nil {
				t.Errorf("a condensed run does not pass its own check: %v", err)
			}
		})
	}
}

func TestFirstMessageOfEachClassIsKept(t *testing.T) {
	fails := func(i int, class bench.Class, message string) bench.Request {
		return bench.Request{Index: i, Class: class, Error: message, End: 1}
	}
	got := bench.Condense([]bench.Request{
		fails(0, bench.Canceled, "stopped"), fails(0, bench.Reset, "broke"), fails(0, bench.Canceled, "stopped"), answer(1, 0.1, 0.3, 3), fails(2, bench.RateLimited, "slow down"), fails(3, bench.Reset, "broke again"),
		fails(4, bench.HTTP5xx, ""), fails(5, bench.RateLimited, "slower"),
	}, 2, bench.SLO{})
	want := map[bench.Class]string{bench.RateLimited: "slow down"}
	if diff := cmp.Diff(want, got.FirstErrors); got.FirstError != "broke" || diff != "" {
		t.Errorf("first %q, of the others (-want +got):\n%s", got.FirstError, diff)
	}
	if err := bench.CheckRun(got); err != nil {
		t.Error(err)
	}
	got.FirstErrors[bench.TLS] = "none did"
	if bench.CheckRun(got) == nil {
		t.Error("a message of a class without failures is taken")
	}
}

func TestFailedRequestsEnterNoLatency(t *testing.T) {
	ok := answer(0, 0.1, 0.3, 3)
	for _, class := range bench.Classes()[1:] {
		failed := answer(1, 50, 99, 7) // broke in mid-stream: its times are real
		failed.Class, failed.Error = class, "broke"
		got := bench.Condense([]bench.Request{ok, failed}, 2, bench.SLO{})
		alone := bench.Condense([]bench.Request{ok}, 2, bench.SLO{})
		for name, v := range alone.Metrics {
			if name != "error.ratio" && got.Metrics[name] != v {
				t.Errorf("%s: %s = %v, without the failure %v", class, name, got.Metrics[name], v)
			}
		}
		if got.Metrics["error.ratio"] != 0.5 || got.Failed[class] != 1 || got.FirstError != "broke" {
			t.Errorf("%s: the failure is not counted: %+v", class, got)
		}
		if got.OutputTokens != 3 {
			t.Errorf("%s: mean output tokens %v, want 3", class, got.OutputTokens)
		}
	}
}

func TestOneTokenAnswersHaveNoTimePerToken(t *testing.T) {
	run := bench.Condense([]bench.Request{answer(0, 0.1, 0.1, 1), answer(1, 0.2, 0.2, 1)}, 1, bench.SLO{})
	for name := range run.Metrics {
		if strings.HasPrefix(name, "tpot.") || strings.HasPrefix(name, "icl.") {
			t.Errorf("%s = %v, want none", name, run.Metrics[name])
		}
	}
	if _, ok := run.Metrics["ttft.p50"]; !ok {
		t.Error("ttft.p50 is missing")
	}
}

func TestAnswersWithoutReasoningMarksHaveNoTimeToFirstAnswer(t *testing.T) {
	q := answer(0, 0.1, 0.3, 3)
	q.FirstAnswer = 0
	if v, ok := q.TTFOT(); ok {
		t.Errorf("TTFOT = %v, want none", v)
	}
}

func TestGoodputCountsFailuresInTheDenominator(t *testing.T) {
	limit := 0.15
	slo := bench.SLO{TTFT: &limit}
	requests := []bench.Request{answer(0, 0.1, 0.3, 3), answer(1, 0.15, 0.4, 3), answer(2, 0.2, 0.5, 3), answer(3, 0.01, 0.02, 3)}
	requests[3].Class = bench.Reset
	run := bench.Condense(requests, 2, slo)
	want := map[string]float64{"goodput.ratio": 0.5, "goodput.rate": 1, "error.ratio": 0.25, "request.rate": 1.5}
	for name, v := range want {
		if run.Metrics[name] != v {
			t.Errorf("%s = %v, want %v", name, run.Metrics[name], v)
		}
	}
}

func TestGoodputNeedsAnObjective(t *testing.T) {
	run := bench.Condense([]bench.Request{answer(0, 0.1, 0.3, 3)}, 1, bench.SLO{})
	if _, ok := run.Metrics["goodput.ratio"]; ok || run.Good != nil {
		t.Errorf("goodput without an SLO: %+v", run)
	}
}

func TestNothingSentHasNoStatistics(t *testing.T) {
	run := bench.Condense(nil, 1, bench.SLO{})
	if len(run.Metrics) != 0 || run.Sent != 0 {
		t.Errorf("Condense(nothing) = %+v", run)
	}
}

func TestRatesNeedADuration(t *testing.T) {
	run := bench.Condense([]bench.Request{answer(0, 0.1, 0.3, 3)}, 0, bench.SLO{})
	if _, ok := run.Metrics["request.rate"]; ok {
		t.Error("a rate over no time")
	}
}

func TestCachedTokensAreAShareOfThePrompt(t *testing.T) {
	a, b := answer(0, 0.1, 0.3, 3), answer(1, 0.1, 0.3, 3)
	a.InputTokens, b.InputTokens = 30, 10
	cached := 10
	a.CachedTokens = &cached
	run := bench.Condense([]bench.Request{a, b}, 1, bench.SLO{})
	if run.CachedTokens == nil || *run.CachedTokens != 0.25 {
		t.Errorf("cached share = %v, want 0.25", run.CachedTokens)
	}
	a.CachedTokens = nil
	if run := bench.Condense([]bench.Request{a, b}, 1, bench.SLO{}); run.CachedTokens != nil {
		t.Errorf("cached share = %v of a server that does not say", *run.CachedTokens)
	}
	much := 1_000_000_000
	a.CachedTokens, a.InputTokens = &much, 0
	if run := bench.Condense([]bench.Request{a, b}, 1, bench.SLO{}); run.CachedTokens != nil {
		t.Errorf("cached share = %v of a prompt that nobody counted", *run.CachedTokens)
	}
}

// Laws that hold for any pass.
func TestCondenseLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests := rapid.SliceOfN(anyRequest(), 1, 30).Draw(t, "requests")
		run := bench.Condense(requests, 3, bench.SLO{})
		if err := bench.CheckRun(run); err != nil {
			t.Fatalf("check: %v", err)
		}
		reversed := make([]bench.Request, len(requests))
		for i, q := range requests {
			reversed[len(requests)-1-i] = q
		}
		other := bench.Condense(reversed, 3, bench.SLO{})
		if diff := cmp.Diff(run.Metrics, other.Metrics, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Fatalf("the order of requests matters:\n%s", diff)
		}
		for _, what := range []string{"ttft", "tpot", "e2el", "icl"} {
			last := 0.0
			for _, s := range []string{".p50", ".p75", ".p90", ".p95", ".p99"} {
				v, ok := run.Metrics[what+s]
				if ok && v < last-1e-12*math.Abs(last) {
					t.Fatalf("%s%s = %v is below a smaller percentile %v", what, s, v, last)
				}
				last = v
			}
		}
	})
}

// answer is a successful request sent at 0, with one chunk a token.
func answer(i int, first, last float64, n int) bench.Request {
	q := bench.Request{
		Index: i, FirstToken: first, FirstAnswer: first, LastToken: last, End: last, Chunks: n, OutputTokens: n,
		InputTokens: 10, TokenSource: "usage", Finish: "stop", Class: bench.OK, Status: 200,
	}
	for range n - 1 {
		q.Gaps = append(q.Gaps, (last-first)/float64(n-1))
	}
	return q
}

func anyRequest() *rapid.Generator[bench.Request] {
	return rapid.Custom(func(t *rapid.T) bench.Request {
		first := rapid.Float64Range(0.001, 2).Draw(t, "first")
		n := rapid.IntRange(1, 5).Draw(t, "n")
		last := first
		if n > 1 {
			last += rapid.Float64Range(0.001, 3).Draw(t, "rest")
		}
		q := answer(0, first, last, n)
		if rapid.IntRange(0, 4).Draw(t, "failed") == 0 {
			q.Class, q.Error = rapid.SampledFrom(bench.Classes()[1:]).Draw(t, "class"), "no"
		}
		return q
	})
}
