package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/config"
)

func sample(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/metrics", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEachEnginesMetricsAreUnderstood(t *testing.T) {
	for _, tt := range []struct {
		file, engine string
		want         map[Counter]float64
	}{
		{"vllm", "vllm", map[Counter]float64{
			Requests: 100, Prompt: 64000, Output: 12000, Cached: 4016, Asked: 64000, TTFTSum: 4.25, TTFTCount: 100, TPOTSum: 0.9, TPOTCount: 100,
		}},
		{"sglang", "sglang", map[Counter]float64{
			Requests: 100, Prompt: 51200, Output: 12800, Cached: 1500, TTFTSum: 5.5, TTFTCount: 100, TPOTSum: 101.6, TPOTCount: 12700,
		}},
		// Three requests of 45 tokens, of which 0, 40 and 1 were cached, and five tokens each.
		{"llama_server_b11434", "llama.cpp", map[Counter]float64{Fresh: 94, Cached: 41, Output: 15}},
		{"tgi", "tgi", map[Counter]float64{Requests: 100, Prompt: 51200, Output: 12800, TPOTSum: 1.25, TPOTCount: 100}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			c, err := readCounters(strings.NewReader(sample(t, tt.file)), mostMetrics)
			if err != nil || c.Engine != tt.engine {
				t.Fatal(c.Engine, err)
			}
			if diff := cmp.Diff(tt.want, c.Totals); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestACounterIsReadUnderEveryNameThatItMayHave(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		of         Counter
		want       float64
		there      bool
	}{
		{"as Prometheus wants it", "vllm:prompt_tokens_total 7\n", Prompt, 7, true},
		{"without its suffix", "vllm:prompt_tokens{a=\"b\"} 7\n", Prompt, 7, true},
		{"without a last line break", "vllm:prompt_tokens_total 7", Prompt, 7, true},
		{"CR LF", "vllm:prompt_tokens_total 7\r\nvllm:generation_tokens_total 8\r\n", Output, 8, true},
		{"in exponents", "llamacpp:tokens_predicted_total 1.23457e+06\n", Output, 1234570, true},
		{"a silent counter is none yet", "sglang:prompt_tokens_total 5\n", Cached, 0, true},
		{"but not where nothing was counted", "sglang:num_requests_total 5\n", Cached, 0, false},
		{"an external cache alone is no cache", "vllm:external_prefix_cache_hits_total 5\nvllm:prompt_tokens_total 7\n", Cached, 0, false},
		{"NaN", "vllm:prompt_tokens_total NaN\n", Prompt, 0, false},
		{"infinity", "vllm:prompt_tokens_total +Inf\n", Prompt, 0, false},
		{"one value of several is none", "vllm:prompt_tokens_total{a=\"1\"} 5\nvllm:prompt_tokens_total{a=\"2\"} NaN\n", Prompt, 0, false},
		{"below zero", "vllm:prompt_tokens_total -1\n", Prompt, 0, false},
		{"more than a number holds", "vllm:prompt_tokens_total{a=\"1\"} 1e308\nvllm:prompt_tokens_total{a=\"2\"} 1e308\n", Prompt, 0, false},
		{"more than anything counts", "vllm:prompt_tokens_total 1e16\n", Prompt, 0, false},
		{"more than anything counts, over labels", "vllm:prompt_tokens_total{a=\"1\"} 1e15\nvllm:prompt_tokens_total{a=\"2\"} 1e15\n", Prompt, 0, false},
		{"more than anything counts, over names", "vllm:prefix_cache_hits_total 1e15\nvllm:external_prefix_cache_hits_total 1e15\n", Cached, 0, false},
		{"a part of a request", "vllm:request_success_total 7.5\n", Requests, 0, false},
		{"a mean of next to nothing", "vllm:time_to_first_token_seconds_sum 5\nvllm:time_to_first_token_seconds_count 1e-12\n", TTFTSum, 0, false},
		{"longer than anything lasts", "vllm:time_to_first_token_seconds_sum 1e300\nvllm:time_to_first_token_seconds_count 2\n", TTFTSum, 0, false},
		{"a sum of seconds has parts", "vllm:time_to_first_token_seconds_sum 0.5\nvllm:time_to_first_token_seconds_count 2\n", TTFTSum, 0.5, true},
		{"a sum without its number", "vllm:time_to_first_token_seconds_sum 5\n", TTFTSum, 0, false},
		{"garbage beside it", "\x00\xff{{{\nfoo bar baz\nvllm:nonsense}{ 1\n# TYPE\nvllm:prompt_tokens_total 7\n", Prompt, 7, true},
		{"a type that stands twice", "# TYPE vllm:prompt_tokens_total counter\n# TYPE vllm:prompt_tokens_total gauge\nvllm:prompt_tokens_total 7\n", Prompt, 7, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := readCounters(strings.NewReader(tt.text), mostMetrics)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := c.Of(tt.of); got != tt.want || ok != tt.there {
				t.Errorf("%v, %v; want %v, %v", got, ok, tt.want, tt.there)
			}
		})
	}
}

func TestMetricsThatCannotBeUnderstoodAreAnError(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a value that is none", "vllm:prompt_tokens_total seven\n", "expected float"},
		{"an open label", "vllm:prompt_tokens_total{a=\"\n", "label"},
		{"a long line", "vllm:prompt_tokens_total{a=\"" + strings.Repeat("x", 2<<20) + "\"} 1\n", "a line is longer"},
		{"too many labels", strings.Repeat("vllm:prompt_tokens_total{a=\"x\"} 1\n", 40_000), "more than 1 MiB"},
		{"too long", strings.Repeat("# nothing\n", 1<<20), "longer than 4 MiB"},
		{"nothing", "", errNoMetrics.Error()},
		{"somebody else's", "http_requests_total 3\n", errNoMetrics.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readCounters(strings.NewReader(tt.text), 4<<20)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestTwoLooksMakeADifference(t *testing.T) {
	read := func(text string) Counters {
		c, err := readCounters(strings.NewReader(text), mostMetrics)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	before := read("vllm:prompt_tokens_total 100\nvllm:generation_tokens_total 7\n")
	after := read("vllm:prompt_tokens_total 164\nvllm:generation_tokens_total 7\nvllm:request_success_total 2\n")
	d, err := after.Since(before)
	if err != nil {
		t.Fatal(err)
	}
	// What was not there before cannot be subtracted.
	if diff := cmp.Diff(map[Counter]float64{Prompt: 64, Output: 0}, d.Totals); diff != "" || d.Doubt() != 0 {
		t.Errorf("doubt %v (-want +got):\n%s", d.Doubt(), diff)
	}
	if _, err := before.Since(after); err == nil || !strings.Contains(err.Error(), "count of prompt fell from 164 to 100") {
		t.Error(err)
	}
	if _, err := read("sglang:prompt_tokens_total 1000\n").Since(before); err == nil || !strings.Contains(err.Error(), "vllm's before") {
		t.Error(err)
	}
}

// TestFewDigitsAreDoubted: llama-server writes six digits, so that a count of ten million moves in steps of ten.
func TestFewDigitsAreDoubted(t *testing.T) {
	a, _ := readCounters(strings.NewReader("llamacpp:tokens_predicted_total 1.0e+07\n"), mostMetrics)
	b, _ := readCounters(strings.NewReader("llamacpp:tokens_predicted_total 1.00002e+07\n"), mostMetrics)
	d, err := b.Since(a)
	if err != nil || d.Doubt() < 10 || d.Doubt() > 200 {
		t.Errorf("doubt %v of 200 tokens: %v", d.Doubt(), err)
	}
}

func scraped(base, path string, dial func(context.Context, string, string) (net.Conn, error)) *Server {
	return &Server{o: Options{Target: config.Target{Metrics: path}, APIKey: "sk-mine", Dial: dial}, address: address{base: base}}
}

func TestAServerWithoutMetricsIsNoError(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		known  bool
		want   string // in the error
	}{
		{"vLLM", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, sample(t, "vllm")) }, true, ""},
		{"not found", http.NotFound, false, ""},
		{"not with this key", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, false, ""},
		{"llama-server without --metrics", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) }, false, ""},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, false, ""},
		{"TensorRT-LLM's JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `[{"iter": 1}]`)
		}, false, ""},
		{"a failure", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, false, "read /metrics: the server answered 500"},
		{"garbage", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "vllm:prompt_tokens_total x\n") }, false, "read /metrics"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := httptest.NewServer(tt.answer)
			defer h.Close()
			_, known, err := scraped(h.URL+"/v1", "/metrics", nil).Counters(t.Context())
			if known != tt.known || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("known %v, error %v; want %v, %q", known, err, tt.known, tt.want)
			}
		})
	}
	if _, known, err := scraped("http://127.0.0.1:1/v1", "", nil).Counters(t.Context()); known || err != nil {
		t.Errorf("metrics: off: %v, %v", known, err)
	}
	if _, _, err := scraped("http://127.0.0.1:1/v1", "//elsewhere.invalid/metrics", nil).Counters(t.Context()); err == nil {
		t.Error("another host was asked")
	}
}

func TestTheKeyGoesWithTheQuestionForMetrics(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer sk-mine" && r.URL.Path == "/engine/metrics" {
			fmt.Fprintln(w, "vllm:prompt_tokens_total 3")
		}
	}))
	defer h.Close()
	c, known, err := scraped(h.URL+"/v1", "/engine/metrics", nil).Counters(t.Context())
	if v, _ := c.Of(Prompt); !known || err != nil || v != 3 {
		t.Errorf("%v, %v, %v", v, known, err)
	}
}

// endless is a body without an end.
type endless struct {
	line string
	at   int
}

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = e.line[e.at%len(e.line)]
		e.at++
	}
	return len(b), nil
}

func TestMetricsWithoutAnEndAreNotReadToIt(t *testing.T) {
	_, err := readCounters(&endless{line: "vllm:time_to_first_token_seconds_bucket{le=\"1\"} 3\n"}, mostMetrics)
	if err == nil || !strings.Contains(err.Error(), "longer than 16 MiB") {
		t.Error(err)
	}
}

func TestMetricsThatNeverComeAreWaitedForBriefly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, theirs) }()
			return ours, nil
		}
		began := time.Now()
		_, known, err := scraped("http://silent.invalid/v1", "/metrics", dial).Counters(t.Context())
		if known || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != metricsWithin {
			t.Errorf("%v, %v after %v", known, err, time.Since(began))
		}
		synctest.Wait()
	})
}

func FuzzCounters(f *testing.F) {
	for _, name := range []string{"vllm", "sglang", "llama_server_b11434", "tgi"} {
		f.Add(sample(f, name))
	}
	f.Add("vllm:prompt_tokens_total{a=\"b\"} 1e400 5\n")
	f.Add("vllm:prefix_cache_hits_total 1.7e308\nvllm:external_prefix_cache_hits_total 1.7e308\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := readCounters(strings.NewReader(text), 1<<20)
		if err != nil {
			return
		}
		for k, v := range maps.All(c.Totals) {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				t.Fatalf("%s is %v", k, v)
			}
		}
		d, err := c.Since(c)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range d.Totals {
			if v != 0 {
				t.Fatalf("%s changed by %v in no time", k, v)
			}
		}
	})
}
