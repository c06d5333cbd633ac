package campaign

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/server"
)

// answered are n answers of four tokens in four chunks to prompts of 50 tokens, with first tokens after 100 ms; edit may
// change each.
func answered(n int, edit func(i int, q *bench.Request)) []bench.Request {
	qs := sent(n, 0)
	for i := range qs {
		qs[i].InputTokens, qs[i].Chunks, qs[i].TokenSource = 50, 4, "usage"
		if edit != nil {
			edit(i, &qs[i])
		}
	}
	return qs
}

func counters(engine string, totals map[server.Counter]float64) *server.Counters {
	return &server.Counters{Engine: engine, Totals: totals}
}

// timings are those that llama-server sends with its last chunk, metrics those of vLLM.
func timings(_ int, q *bench.Request) {
	q.Told = &bench.Told{Source: bench.SourceTimings, Prefill: 0.08, Decode: 0.09, PromptTokens: 50, OutputTokens: 4}
}

func metrics(_ int, q *bench.Request) {
	wait := 0.01
	q.Told = &bench.Told{Source: bench.SourceMetrics, Prefill: 0.085, Decode: 0.09, Queue: &wait}
}

// toldTokens are timings that count these tokens of each answer, beside ten that were cached.
func toldTokens(prompt, output int) func(int, *bench.Request) {
	return func(i int, q *bench.Request) {
		timings(i, q)
		cachedTokens(10)(i, q)
		q.Told.PromptTokens, q.Told.OutputTokens = prompt, output
	}
}

func ptr(v float64) *float64 { return &v }

func cachedTokens(n int) func(int, *bench.Request) {
	return func(_ int, q *bench.Request) { q.CachedTokens = &n }
}

// vllm is what vLLM counts of ten such answers, all from one client.
func vllm(change map[server.Counter]float64) *server.Counters {
	all := map[server.Counter]float64{
		server.Requests: 10, server.Prompt: 500, server.Output: 40, server.Cached: 0, server.Asked: 500,
		server.TTFTSum: 0.95, server.TTFTCount: 10, server.TPOTSum: 0.3, server.TPOTCount: 10,
	}
	for k, v := range change {
		all[k] = v
	}
	return counters("vllm", all)
}

func TestAServersAccountOfARun(t *testing.T) {
	const scraped = "/metrics (vllm)"
	whole := bench.ServerAccount{
		Source: scraped, TTFT: 0.095, TTFTFrom: bench.FromArrival, TPOT: 0.03, Gap: ptr(0.005), Counters: scraped,
		Requests: ptr(10), PromptTokens: ptr(500), OutputTokens: ptr(40), CachedTokens: ptr(0), ChunkTokens: 1,
	}
	with := func(change func(*bench.ServerAccount)) *bench.ServerAccount {
		a := whole
		change(&a)
		return &a
	}
	for _, c := range []struct {
		name     string
		requests []bench.Request
		counted  *server.Counters
		want     *bench.ServerAccount
	}{
		{"nothing told", answered(10, func(_ int, q *bench.Request) { q.TokenSource = "chunks" }), nil, nil},
		{"usage alone", answered(10, nil), nil, &bench.ServerAccount{ChunkTokens: 1}},
		{"no answer", []bench.Request{{Class: bench.Refused}}, vllm(nil), nil},
		{"vLLM's counters", answered(10, nil), vllm(nil), &whole},
		{"metrics in the answers come first", answered(10, metrics), vllm(nil), with(func(a *bench.ServerAccount) { a.Source = bench.SourceMetrics })},
		{
			"one answer without them is one too few",
			answered(10, func(i int, q *bench.Request) {
				if metrics(i, q); i == 7 {
					q.Told = nil
				}
			}),
			vllm(nil), &whole,
		},
		{
			"timings of llama-server, beside its counters", answered(10, timings),
			counters("llama.cpp", map[server.Counter]float64{server.Fresh: 480, server.Cached: 20, server.Output: 40}),
			&bench.ServerAccount{
				Source: bench.SourceTimings, TTFT: 0.08, TTFTFrom: bench.FromWork, TPOT: 0.03, Gap: ptr(0.02), Counters: "/metrics (llama.cpp)",
				PromptTokens: ptr(500), OutputTokens: ptr(40), CachedTokens: ptr(0.04), ChunkTokens: 1,
			},
		},
		{
			"TGI tells no ttft", answered(10, nil),
			counters("tgi", map[server.Counter]float64{server.Requests: 10, server.Prompt: 500, server.Output: 40, server.TPOTSum: 0.3, server.TPOTCount: 10}),
			&bench.ServerAccount{
				Source: "/metrics (tgi)", TPOT: 0.03, Counters: "/metrics (tgi)", Requests: ptr(10), PromptTokens: ptr(500), OutputTokens: ptr(40), ChunkTokens: 1,
			},
		},
		{
			"of failed requests the counters tell nothing that can be compared",
			answered(10, func(i int, q *bench.Request) {
				if i == 0 {
					q.Class = bench.Truncated
				}
			}),
			vllm(nil), &bench.ServerAccount{Counters: scraped, Requests: ptr(10), ChunkTokens: 1},
		},
		{
			"nobody's word for whose tokens they are, where one answer has no usage and requests are not counted",
			answered(10, func(i int, q *bench.Request) {
				if i == 3 {
					q.TokenSource, q.InputTokens = "chunks", 0
				}
			}),
			counters("llama.cpp", map[server.Counter]float64{server.Fresh: 480, server.Cached: 20, server.Output: 40}),
			&bench.ServerAccount{Counters: "/metrics (llama.cpp)", PromptTokens: ptr(500), OutputTokens: ptr(40)},
		},
		{
			"where no output is counted either", answered(10, nil),
			counters("llama.cpp", map[server.Counter]float64{server.Fresh: 480, server.Cached: 20}),
			&bench.ServerAccount{Counters: "/metrics (llama.cpp)", PromptTokens: ptr(500), ChunkTokens: 1},
		},
		{
			"means that are no numbers", answered(10, nil), vllm(map[server.Counter]float64{server.TPOTSum: 1e300, server.TPOTCount: 1e-12}),
			&bench.ServerAccount{Doubts: map[string]string{bench.DoubtAccount: "what the server says of itself cannot be, and is left out: server: tpot is +Inf: not a measurement"}},
		},
		{
			"sums that are no numbers", answered(10, nil), counters("llama.cpp", map[server.Counter]float64{server.Fresh: 1.7e308, server.Cached: 1.7e308}),
			&bench.ServerAccount{Doubts: map[string]string{bench.DoubtAccount: "what the server says of itself cannot be, and is left out: server: prompt_tokens is +Inf: not a measurement"}},
		},
		{
			"a cache that was asked twice for a prompt found it twice", answered(10, cachedTokens(25)),
			vllm(map[server.Counter]float64{server.Cached: 500, server.Asked: 1000}), with(func(a *bench.ServerAccount) { a.CachedTokens = ptr(0.5) }),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, accountOf(c.requests, c.counted), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatDoesNotFitIsTold(t *testing.T) {
	for _, c := range []struct {
		name     string
		requests []bench.Request
		counted  *server.Counters
		what     string // is in doubt, and all that is
		want     string // in its words
	}{
		{"somebody else asks", answered(10, nil), vllm(map[server.Counter]float64{server.Requests: 23}), bench.DoubtRequests, "counted 23 answered requests while this run sent 10: somebody else asks the same server"},
		{"another server answers too", answered(10, nil), vllm(map[server.Counter]float64{server.Requests: 4}), bench.DoubtRequests, "counted 4 answered requests, and 10 answers came"},
		{
			"usage counts double", answered(10, func(_ int, q *bench.Request) { q.OutputTokens, q.Chunks = 8, 8 }), vllm(nil),
			bench.DoubtOutput, "usage tells 80 output tokens, and the server counted 40: tpot and output.rate go by usage",
		},
		{
			"a server that counts no requests wrote more than we asked for", answered(10, nil),
			counters("llama.cpp", map[server.Counter]float64{server.Fresh: 500, server.Cached: 0, server.Output: 60}),
			bench.DoubtOutput, "usage tells 40 output tokens, and the server counted 60: somebody else asks the same server, or one of the two is wrong",
		},
		{"prompts grow on the way", answered(10, nil), vllm(map[server.Counter]float64{server.Prompt: 900}), bench.DoubtPrompt, "usage tells 500 prompt tokens, and the server counted 900"},
		{"a cache that usage denies", answered(10, cachedTokens(0)), vllm(map[server.Counter]float64{server.Cached: 400}), bench.DoubtCached, "usage tells that 0 % of the prompt tokens came from a cache, and the server's counters 80 %"},
		{"a clock that lies", answered(10, nil), vllm(map[server.Counter]float64{server.TTFTSum: 3}), bench.DoubtTTFT, "the server says that its first tokens took 300ms (/metrics (vllm)), and the client had them after 100ms"},
		{
			"chunks of several tokens", answered(10, func(_ int, q *bench.Request) { q.Chunks = 2 }), vllm(nil),
			bench.DoubtChunks, "usage tells 40 output tokens in 20 chunks, 2.00 a chunk: chunks hold several tokens",
		},
		{
			"parts of tokens", answered(10, func(_ int, q *bench.Request) { q.Chunks = 8 }), vllm(nil),
			bench.DoubtChunks, "usage tells 40 output tokens in 80 chunks, 0.50 a chunk: chunks hold parts of tokens, or usage counts too few",
		},
		{
			"timings count other output than usage", answered(10, toldTokens(40, 8)), nil,
			bench.DoubtOutput, "usage tells 40 output tokens, and timings in the same answers 80: tpot and output.rate go by usage",
		},
		{
			"timings count another prompt than usage", answered(10, toldTokens(20, 4)), nil,
			bench.DoubtPrompt, "usage tells 500 prompt tokens, and timings in the same answers 300 with the cached ones: one of the two is wrong",
		},
		{
			"usage fits neither its own answers nor the counters", answered(10, toldTokens(40, 8)), vllm(map[server.Counter]float64{server.Output: 80, server.Cached: 100}),
			bench.DoubtOutput, "and timings in the same answers 80",
		},
		{"cached tokens are part of a prompt", answered(10, toldTokens(40, 4)), nil, "", ""},
		{
			"tokens that one answer does not tell", answered(10, func(i int, q *bench.Request) {
				if toldTokens(20, 8)(i, q); i == 3 {
					q.Told.PromptTokens, q.Told.OutputTokens = 0, 0
				}
			}), nil, "", "",
		},
		{
			"an answer without an account", answered(10, func(i int, q *bench.Request) {
				if toldTokens(20, 8)(i, q); i == 3 {
					q.Told = nil
				}
			}), nil, "", "",
		},
		{
			"a prompt of which one answer's usage says nothing", answered(10, func(i int, q *bench.Request) {
				if toldTokens(20, 4)(i, q); i == 3 {
					q.InputTokens = 0
				}
			}), vllm(map[server.Counter]float64{server.Cached: 400}), "", "",
		},
		{"a time that no clock can have", answered(10, nil), vllm(map[server.Counter]float64{server.TTFTSum: 1e308}), bench.DoubtTTFT, "took 1e+307s"},
		{"no lie within the noise of clocks", answered(10, nil), vllm(map[server.Counter]float64{server.TTFTSum: 1.015}), "", ""},
		{"a last token without a chunk", answered(10, func(_ int, q *bench.Request) { q.Chunks = 3 }), vllm(nil), "", ""},
		{"a token in a hundred", answered(10, func(_ int, q *bench.Request) { q.InputTokens = 504 / 10 }), vllm(map[server.Counter]float64{server.Prompt: 504}), "", ""},
		{"nobody compares what usage does not tell", answered(10, nil), vllm(map[server.Counter]float64{server.Cached: 400}), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := accountOf(c.requests, c.counted)
			if err := bench.CheckRun(bench.Run{Server: a}); err != nil {
				t.Error(err)
			}
			if c.what == "" {
				if len(a.Doubts) != 0 {
					t.Errorf("doubts %q", a.Doubts)
				}
				return
			}
			if len(a.Doubts) != 1 || !strings.Contains(a.Doubts[c.what], c.want) {
				t.Errorf("doubts %q, want %q: %q", a.Doubts, c.what, c.want)
			}
		})
	}
}

func TestCountersTellAWarmCacheWhereUsageDoesNot(t *testing.T) {
	for _, c := range []struct {
		name     string
		usage    *float64 // tells this share
		counters float64
		invalid  string
	}{
		{"usage does not tell", nil, 0.9, "took 461 of the 512 prompt tokens of a request from it by its own counters, although about 500"},
		{"nothing cached", nil, 0.01, ""},
		{"usage tells", ptr(0), 0.9, ""},
	} {
		run := bench.Run{OK: 10, Sent: 10, InputTokens: 512, CachedTokens: c.usage, Server: &bench.ServerAccount{CachedTokens: &c.counters}}
		judge(&run, fresh{around: 12})
		if (run.Invalid == "") != (c.invalid == "") || !strings.Contains(run.Invalid, c.invalid) {
			t.Errorf("%s: %q", c.name, run.Invalid)
		}
	}
}

func TestSecondsAreWrittenWithThreeDigits(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0s", 0.0001234: "120µs", 0.01234: "12.3ms", 1.234: "1.23s", 123456: "34h17m36s", 1e9: "1e+09s", -1e300: "-1e+300s", 1e308: "1e+308s",
	} {
		if got := brief(seconds); got != want {
			t.Errorf("%g s: %s, want %s", seconds, got, want)
		}
	}
}
