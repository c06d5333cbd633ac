package gate

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

// tells gives every run an account: the server's ttft and what lies between it and the client's, in seconds.
func tells(source, from string, ttft, gap float64) func(int, *bench.Run) {
	return func(_ int, r *bench.Run) {
		r.Server = &bench.ServerAccount{Source: source, TTFTFrom: from, TTFT: ttft, Gap: &gap}
	}
}

func silent(int, *bench.Run) {}

// TestAGapThatDiffersIsWarnedOf: the median ttft is about 205 ms, so that 5 % of it are 10 ms.
func TestAGapThatDiffersIsWarnedOf(t *testing.T) {
	const arrival, work = bench.FromArrival, bench.FromWork
	for _, c := range []struct {
		name       string
		base, head func(int, *bench.Run)
		warning    string // on ttft.p95; empty: none
		check      string // detail of the check; empty: there is none
	}{
		{"nobody tells", silent, silent, "", ""},
		{"equal gaps", tells("timings", work, 0.2, 0.004), tells("timings", work, 0.3, 0.004), "", "what lies between, 4.0 ms and 4.0 ms"},
		{"within the limit", tells("/metrics (vllm)", arrival, 0.2, 0.004), tells("/metrics (vllm)", arrival, 0.2, 0.0135), "", "what lies between, 4.0 ms and 13.5 ms"},
		{
			"a slower network", tells("/metrics (vllm)", arrival, 0.2, 0.004), tells("/metrics (vllm)", arrival, 0.201, 0.034),
			"what lies outside the server's own account grew by 30.0 ms: by /metrics (vllm), which counts from the arrival of a request, " +
				"the mean ttft is 200.0 ms at base and 201.0 ms here, and the client saw 204.0 ms and 235.0 ms: what lies between, 4.0 ms and 34.0 ms, is the network, or the client",
			"what lies between, 4.0 ms and 34.0 ms",
		},
		{"a quicker network", tells("metrics", arrival, 0.2, 0.034), tells("metrics", arrival, 0.2, 0.004), "what lies outside the server's own account fell by 30.0 ms", "34.0 ms and 4.0 ms"},
		{
			"llama-server's clock does not see the wait", tells("timings", work, 0.2, 0.004), tells("timings", work, 0.2, 0.05),
			"4.0 ms and 50.0 ms, is the wait for a slot, the network, or the client", "which counts from the start of work on a prompt",
		},
		{"other sources", tells("timings", work, 0.2, 0.004), tells("/metrics (llama.cpp)", work, 0.2, 0.05), "", "told by timings from work at base, by /metrics (llama.cpp) from work here: not compared"},
		{"other clocks", tells("metrics", arrival, 0.2, 0.004), tells("metrics", work, 0.2, 0.05), "", "told by metrics from arrival at base, by metrics from work here: not compared"},
		{"an old baseline", silent, tells("metrics", arrival, 0.2, 0.05), "", "only one side's server says"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, head := runs(history("chat", 5), c.base), runs(digest("chat", headDay, quiet...), c.head)
			v := Decide(primary(Rule{Metric: "tpot.mean", Tolerance: ptr(0.05)}), one(base), one(head))
			if v.Outcome != Pass {
				t.Errorf("%s: a gap decides nothing", v.Outcome)
			}
			said := strings.Join(v.Findings[0].Warnings, "\n")
			if strings.Contains(said, "outside") != (c.warning != "") || !strings.Contains(said, c.warning) {
				t.Errorf("warnings %q, want %q", said, c.warning)
			}
			if others := strings.Join(v.Findings[1].Warnings, "\n"); strings.Contains(others, "outside") {
				t.Errorf("%s: %s", v.Findings[1].Metric, others)
			}
			checks := map[string]Check{}
			for _, k := range v.Validity {
				checks[k.Name] = k
			}
			got, there := checks["server's own ttft"]
			if there != (c.check != "") || !strings.Contains(got.Detail, c.check) || there && got.OK != (c.warning == "") {
				t.Errorf("check %+v, want %q", got, c.check)
			}
		})
	}
}

func TestAnAccountIsTheMeanOfRunsWithOneClock(t *testing.T) {
	base := runs(digest("chat", baseDay, quiet...), func(i int, r *bench.Run) {
		switch i {
		case 0:
			tells("timings", bench.FromWork, 0.1, 0.01)(i, r)
			r.Server.TPOT, r.Server.ChunkTokens = 0.02, 1
		case 1:
			tells("timings", bench.FromWork, 0.2, 0.03)(i, r)
			r.Server.Counters, r.Server.CachedTokens, r.Server.ChunkTokens = "/metrics (llama.cpp)", ptr(0.5), 2
		case 2:
			tells("/metrics (vllm)", bench.FromArrival, 7, 0.03)(i, r)
		case 3:
			tells("timings", bench.FromWork, 9, 0.03)(i, r)
			r.Invalid = "died"
		}
	})
	want := []Account{{
		Scenario: "chat", Side: "base", Runs: 2, Source: "timings", TTFTFrom: bench.FromWork, TTFT: 0.15, ClientTTFT: 0.17, Gap: ptr(0.02), TPOT: 0.02,
		Counters: "/metrics (llama.cpp)", CachedTokens: ptr(0.5), ChunkTokens: 1.5,
	}}
	v := Decide(primary(), one(base), one(digest("chat", headDay, quiet...)))
	if diff := cmp.Diff(want, v.Server); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want[0].Side = ""
	alone, known := AccountOf(base)
	if diff := cmp.Diff(want[0], alone); diff != "" || !known {
		t.Errorf("of a digest: %v (-want +got):\n%s", known, diff)
	}
	if a, known := AccountOf(digest("chat", baseDay, quiet...)); known {
		t.Errorf("an account of nothing: %+v", a)
	}
}

// TestARunThatTellsATimePerTokenAloneDoesNotSpeakForTheOthers: its counters lagged, or the server had no first token in them.
func TestARunThatTellsATimePerTokenAloneDoesNotSpeakForTheOthers(t *testing.T) {
	const scraped = "/metrics (vllm)"
	mixed := func(first string) bench.Digest {
		return runs(digest("chat", baseDay, quiet...), func(i int, r *bench.Run) {
			if tells(scraped, bench.FromArrival, 0.2, 0.004)(i, r); i == 0 {
				r.Server = &bench.ServerAccount{Source: first}
			}
			r.Server.TPOT = 0.02 + 0.01*float64(i%2)
		})
	}
	whole := func(runs int, tpot float64) Account {
		return Account{
			Scenario: "chat", Runs: runs, Source: scraped, TTFTFrom: bench.FromArrival, TTFT: 0.2, ClientTTFT: 0.204, Gap: ptr(0.004), TPOT: tpot,
		}
	}
	for _, c := range []struct {
		first string // whence the first run has its time per token
		want  Account
	}{
		{scraped, whole(5, 0.024)},
		{"/metrics (tgi)", whole(4, 0.025)},
	} {
		got, known := AccountOf(mixed(c.first))
		if diff := cmp.Diff(c.want, got); diff != "" || !known {
			t.Errorf("%s: %v (-want +got):\n%s", c.first, known, diff)
		}
	}
	head := runs(digest("chat", headDay, quiet...), tells(scraped, bench.FromArrival, 0.2, 0.004))
	for _, k := range Decide(primary(), one(mixed(scraped)), one(head)).Validity {
		if k.Name == "server's own ttft" && !strings.Contains(k.Detail, "what lies between, 4.0 ms and 4.0 ms") {
			t.Errorf("check %+v", k)
		}
	}
	alone := runs(digest("chat", baseDay, quiet...), func(_ int, r *bench.Run) { r.Server = &bench.ServerAccount{Source: scraped, TPOT: 0.02} })
	got, _ := AccountOf(alone)
	if diff := cmp.Diff(Account{Scenario: "chat", Runs: 5, Source: scraped, TPOT: 0.02}, got); diff != "" {
		t.Errorf("no first token anywhere (-want +got):\n%s", diff)
	}
}

// TestAVerdictCanBeWrittenWhateverAnAccountHolds: a digest may hold any number.
func TestAVerdictCanBeWrittenWhateverAnAccountHolds(t *testing.T) {
	const huge = 1.7e308
	for _, c := range []struct{ ttft, base, head float64 }{
		{huge, 0.004, 0.004}, {0.2, huge, huge}, {0.2, -huge, huge}, {1e308, 1e308, 1e308},
	} {
		base := runs(digest("chat", baseDay, quiet...), tells("metrics", bench.FromArrival, c.ttft, c.base))
		// One run alone: no sum overflows, and the two sides' gaps still may.
		head := runs(digest("chat", headDay, quiet...), func(i int, r *bench.Run) {
			if i == 0 {
				tells("metrics", bench.FromArrival, c.ttft, c.head)(i, r)
			}
		})
		for _, d := range []bench.Digest{base, head} {
			for _, r := range d.Sessions[0].Runs() {
				if err := bench.CheckRun(r); err != nil {
					t.Fatal(err)
				}
			}
			v := Decide(primary(), one(d), one(head))
			if err := WriteVerdict(io.Discard, v); err != nil {
				t.Errorf("%+v: %v", c, err)
			}
			for _, a := range v.Server {
				for what, x := range map[string]float64{"ttft": a.TTFT, "client ttft": a.ClientTTFT, "gap": *a.Gap} {
					if math.IsInf(x, 0) || math.IsNaN(x) {
						t.Errorf("%+v: %s is %v", c, what, x)
					}
				}
			}
		}
	}
}

func TestDoubtsOfAnAccountReachTheReportOncePerKind(t *testing.T) {
	head := runs(digest("chat", headDay, quiet...), func(i int, r *bench.Run) {
		r.Server = &bench.ServerAccount{Doubts: map[string]string{bench.DoubtChunks: "2 tokens a chunk"}}
		if i == 3 {
			r.Server.Doubts[bench.DoubtRequests] = "somebody else asks the same server"
		}
	})
	want := []string{
		"chat, head, run 4: somebody else asks the same server",
		"chat, head, run 1: 2 tokens a chunk (so in 5 of 5 runs)",
	}
	v := Decide(primary(), one(history("chat", 5)), one(head))
	if diff := cmp.Diff(want, v.Warnings); diff != "" || v.Outcome != Pass {
		t.Errorf("%s (-want +got):\n%s", v.Outcome, diff)
	}
}

func TestACacheThatCountersTellIsCompared(t *testing.T) {
	counted := func(share float64) func(int, *bench.Run) {
		return func(_ int, r *bench.Run) { r.Server = &bench.ServerAccount{CachedTokens: &share} }
	}
	v := Decide(primary(), one(runs(history("chat", 2), counted(0))), one(runs(digest("chat", headDay, quiet...), counted(0.4))))
	want := []Check{{Scenario: "chat", Name: "cached tokens", Detail: "0 % of prompt tokens at base, 40 % here"}}
	if diff := cmp.Diff(want, failed(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestARegressionThatLiesBetweenSaysWhereToLookFirst(t *testing.T) {
	for _, c := range []struct {
		name      string
		from      string
		base, gap float64
		want      string // how what to do next begins
	}{
		{"a slower server", bench.FromArrival, 0.004, 0.004, "See what differs between the builds."},
		{"a slower network", bench.FromArrival, 0.004, 0.1, "Look first at the network and the client: "},
		{"a wait, or the network", bench.FromWork, 0.004, 0.1, "Look first at what lies outside the server's own account"},
		{"a slower server behind a quicker network", bench.FromArrival, 0.1, 0.004, "See what differs between the builds."},
	} {
		base := runs(history("chat", 5), tells("timings", c.from, 0.2, c.base))
		head := runs(digest("chat", headDay, times(quiet, 1.5)...), tells("timings", c.from, 0.2, c.gap))
		f := Decide(primary(), one(base), one(head)).Findings[0]
		if f.Outcome != Regressed || !strings.HasPrefix(f.Next, c.want) {
			t.Errorf("%s: %s: %s", c.name, f.Outcome, f.Next)
		}
	}
}
