package openai

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/sim"
)

func seconds(v float64) *float64 { return &v }

func TestAnAnswersOwnAccountIsReadWhereItStands(t *testing.T) {
	const token = `{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`
	cached := 40
	for _, tt := range []struct {
		name, last string
		want       *bench.Told
		cached     *int
	}{
		{name: "nothing", last: `{"choices":[]}`},
		{
			name: "timings of llama-server", cached: &cached,
			last: `{"choices":[],"timings":{"cache_n":40,"prompt_n":5,"prompt_ms":73.5,"predicted_n":5,"predicted_ms":196.442}}`,
			want: &bench.Told{Source: "timings", Prefill: 0.0735, Decode: 0.196442, PromptTokens: 5, OutputTokens: 5},
		},
		{
			name: "metrics of vLLM",
			last: `{"choices":[],"metrics":{"time_to_first_token_ms":85.2,"generation_time_ms":1240.5,"queue_time_ms":12.3,"mean_itl_ms":9.1,"tokens_per_second":103.2}}`,
			want: &bench.Told{Source: "metrics", Prefill: 0.0852, Decode: 1.2405, Queue: seconds(0.0123)},
		},
		{
			name: "metrics of each kind of token do not hide those of the answer",
			last: `{"choices":[],"metrics":{"time_to_first_token_ms":85,"output_token_metrics":{"content":{"time_to_first_token_ms":268,"generation_time_ms":3}},"generation_time_ms":1000}}`,
			want: &bench.Told{Source: "metrics", Prefill: 0.085, Decode: 1},
		},
		{name: "nulls are not told", last: `{"choices":[],"metrics":{"time_to_first_token_ms":null,"queue_time_ms":null}}`, want: &bench.Told{Source: "metrics"}},
		{name: "null metrics", last: `{"choices":[],"metrics":null}`},
		{name: "metrics that are a list", last: `{"choices":[],"metrics":[1,{"queue_time_ms":3}]}`},
		{name: "lies are not told", last: `{"choices":[],"timings":{"prompt_ms":-5,"predicted_ms":"12","cache_n":-1,"prompt_n":1e300}}`, want: &bench.Told{Source: "timings"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := replay(t, "data: "+token+"\n\ndata: "+tt.last+"\n\ndata: [DONE]\n\n")
			if a.req.Class != bench.OK {
				t.Fatalf("%s: %s", a.req.Class, a.req.Error)
			}
			if diff := cmp.Diff(tt.want, a.req.Told); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.cached, a.req.CachedTokens); diff != "" {
				t.Errorf("cached tokens (-want +got):\n%s", diff)
			}
		})
	}
}

func replay(t *testing.T, body string) *answer {
	t.Helper()
	s := &streaming{}
	s.set([]byte(body))
	c := client(t, serve(t, s))
	return c.exchange(context.Background(), Call{Prompt: Prompt{Text: "hello"}, MaxTokens: 4}, clock())
}

// TestACacheHoldsNoMoreThanThePrompt: a usage that says nothing of caches leaves timings the word, and bounds it.
func TestACacheHoldsNoMoreThanThePrompt(t *testing.T) {
	for _, tt := range []struct {
		name, members string
		want          int // -1: not believed
	}{
		{"all of the prompt", `"usage":{"prompt_tokens":9,"completion_tokens":1},"timings":{"prompt_n":1,"cache_n":9}`, 9},
		{"more than the prompt", `"usage":{"prompt_tokens":9,"completion_tokens":1},"timings":{"prompt_n":1,"cache_n":10}`, -1},
		{"more than anything", `"usage":{"prompt_tokens":9,"completion_tokens":1},"timings":{"cache_n":1000000000}`, -1},
		{"usage tells more than the prompt, and timings too", `"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":12}},"timings":{"prompt_n":1,"cache_n":12}`, -1},
		{"no usage, and a prompt that was worked on", `"timings":{"prompt_n":1,"cache_n":8}`, 8},
		{"no usage, and no prompt", `"timings":{"cache_n":8}`, -1},
		{"a usage without a prompt", `"usage":{"completion_tokens":1},"timings":{"cache_n":8}`, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := replay(t, `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`+"\n\n"+`data: {"choices":[],`+tt.members+"}\n\n")
			got := -1
			if a.req.CachedTokens != nil {
				got = *a.req.CachedTokens
			}
			if got != tt.want || a.req.Class != bench.OK {
				t.Errorf("%s: %d cached tokens, want %d", a.req.Class, got, tt.want)
			}
		})
	}
}

func TestUsageIsBelievedBeforeTimingsAboutTheCache(t *testing.T) {
	a := replay(t, `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`+"\n\n"+
		`data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":3}},"timings":{"cache_n":7}}`+"\n\n")
	if a.req.CachedTokens == nil || *a.req.CachedTokens != 3 {
		t.Errorf("cached tokens: %v", a.req.CachedTokens)
	}
}

// TestARecordedAnswerOfLlamaServerTellsItsTimes reads what a real llama-server sent.
func TestARecordedAnswerOfLlamaServerTellsItsTimes(t *testing.T) {
	recorded, err := os.ReadFile("testdata/wire/llama_chat.http")
	if err != nil {
		t.Fatal(err)
	}
	s, url := answering(t)
	s.set(recorded)
	a := client(t, url).exchange(context.Background(), Call{Prompt: Prompt{Text: "hello"}, MaxTokens: 16}, clock())
	want := &bench.Told{Source: "timings", Prefill: 0.084603, Decode: 0.58043, PromptTokens: 5, OutputTokens: 16}
	if diff := cmp.Diff(want, a.req.Told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadingAnAccountDoesNotAllocate(t *testing.T) {
	data := []byte(`{"choices":[],"timings":{"cache_n":40,"prompt_n":5,"prompt_ms":73.5233333333333333,"predicted_n":5,"predicted_ms":196.442}}`)
	var c chunk
	if n := testing.AllocsPerRun(100, func() {
		if c.read(data) != nil || c.told.cached != 40 {
			t.Fatal("not read")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAnAnswerWithoutATokenTellsNothing(t *testing.T) {
	a := replay(t, strings.Repeat(`data: {"choices":[],"timings":{"prompt_ms":5}}`+"\n\n", 2))
	if a.req.Told != nil {
		t.Errorf("%+v", a.req.Told)
	}
}

// TestTheSimulatedServersAccountIsThatOfItsRecords reads what each form of account says of an answer that waited for a slot.
func TestTheSimulatedServersAccountIsThatOfItsRecords(t *testing.T) {
	for fault, source := range map[string]string{"timings": fromTimings, "request-metrics": fromMetrics} {
		t.Run(fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := sim.NewMemory()
				s := sim.Serve(sim.New(sim.Options{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond, Slots: 1, Fault: fault}), m)
				c := client(t, s.URL(), func(o *Options) { o.Model, o.Dial, o.Timeouts = "simulated-8b", m.Dial, Timeouts{} })
				first := make(chan *answer)
				ask := func() *answer {
					return c.exchange(t.Context(), Call{Prompt: Prompt{Text: "hello"}, MaxTokens: 8, Exact: true}, clock())
				}
				go func() { first <- ask() }()
				synctest.Wait()
				got := []*bench.Told{ask().req.Told}
				got = append([]*bench.Told{(<-first).req.Told}, got...)
				c.Close()
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				var want []*bench.Told
				for _, r := range s.Server().Drain() {
					told := &bench.Told{Source: source, Prefill: r.First.Sub(r.Began).Seconds(), Decode: r.Last.Sub(r.First).Seconds()}
					if source == fromTimings {
						told.PromptTokens, told.OutputTokens = 7, r.Tokens
					} else {
						wait := r.Began.Sub(r.Received).Seconds()
						told.Queue = &wait
					}
					want = append(want, told)
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}
