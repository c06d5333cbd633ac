package openai

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchgate/benchgate/internal/bench"
)

func TestPreflightLearnsWhatTheServerObeys(t *testing.T) {
	both := []string{MaxTokens, MaxCompletionTokens}
	for _, tt := range []struct {
		name string
		api  string
		f    fake
		want Capabilities
	}{
		{
			"vLLM", Chat,
			fake{
				natural: 3, obeys: both, header: "uvicorn", tokenize: `{"count":3,"max_model_len":4096,"tokens":[1,2,3]}`,
				tells: map[string]string{"/v1/models": `{"object":"list","data":[{"id":"m","object":"model","owned_by":"vllm","max_model_len":4096}]}`, "/version": `{"version":"0.33.0"}`},
			},
			Capabilities{
				LimitField: MaxTokens, Usage: true, Exact: true, IgnoreEOS: "obeyed", Tokenize: true, Models: []string{"m"}, ModelListed: true, Requests: 1,
				Facts: map[string]string{"engine": "vllm", "version": "0.33.0", "server": "uvicorn", "context": "4096"},
			},
		},
		{
			"llama-server, completions", Completions,
			fake{
				natural: 3, obeys: both, cached: true, header: "llama.cpp", tokenize: recorded(t, "llama/tokenize.http"),
				tells: map[string]string{"/v1/models": recorded(t, "llama/models.http"), "/props": recorded(t, "llama/props.http")},
			},
			Capabilities{
				LimitField: MaxTokens, Usage: true, Exact: true, IgnoreEOS: "obeyed", Tokenize: true, TokenPrompts: true, CachedTokens: true, Requests: 2,
				Models: []string{"gemma3-270m-q4-k-m-1.0.0.gguf"},
				Facts: map[string]string{
					"engine": "llama.cpp", "version": "b11434-unknown", "server": "llama.cpp", "context": "1024", "slots": "4",
					"model_file": "gemma3-270m-q4-k-m-1.0.0.gguf", "quantisation": "Q4_K - Medium",
				},
				Warnings: []string{`the server does not list a model "m", but gemma3-270m-q4-k-m-1.0.0.gguf: is it the right server?`},
			},
		},
		{
			"Ollama knows max_tokens alone, and no ignore_eos", Chat,
			fake{
				natural: 1004, obeys: []string{MaxTokens}, ignores: true, thinks: "reasoning",
				tells: map[string]string{"/v1/models": `{"data":[{"id":"m:latest","owned_by":"library"},{"id":"other:latest","owned_by":"library"}]}`, "/api/version": `{"version":"0.12.0"}`},
			},
			Capabilities{
				LimitField: MaxTokens, Usage: true, IgnoreEOS: "ignored", Reasoning: "reasoning", Models: []string{"m:latest", "other:latest"}, ModelListed: true, Requests: 1,
				Facts: map[string]string{"engine": "ollama", "version": "0.12.0"},
			},
		},
		{
			"a server that ignores max_tokens and would write for ever", Chat,
			fake{natural: 1 << 40, obeys: []string{MaxCompletionTokens}, ignores: true},
			Capabilities{LimitField: MaxCompletionTokens, Usage: true, IgnoreEOS: "not shown", Requests: 3, Facts: map[string]string{}},
		},
		{
			"a cloud that refuses max_tokens and whatever it does not know", Chat,
			fake{natural: 1004, obeys: both, rejects: []string{MaxTokens, "ignore_eos", "min_tokens"}},
			Capabilities{LimitField: MaxCompletionTokens, Usage: true, IgnoreEOS: "refused", Requests: 3, Facts: map[string]string{}},
		},
		{
			"an unknown engine that goes on when told to", Chat,
			fake{natural: 3, obeys: both},
			Capabilities{LimitField: MaxTokens, Usage: true, Exact: true, IgnoreEOS: "obeyed", Requests: 2, Facts: map[string]string{}},
		},
		{
			"an unknown engine that stops when it likes", Chat,
			fake{natural: 3, obeys: both, ignores: true},
			Capabilities{LimitField: MaxTokens, Usage: true, IgnoreEOS: "ignored", Requests: 1, Facts: map[string]string{}},
		},
		{
			"no usage", Chat,
			fake{natural: 3, obeys: both, noUsage: true},
			Capabilities{
				LimitField: MaxTokens, Exact: true, IgnoreEOS: "obeyed", Requests: 2, Facts: map[string]string{},
				Warnings: []string{"the server does not count tokens: chunks are counted instead, and one may hold several"},
			},
		},
		{
			"a buffering proxy", Chat,
			fake{natural: 3, obeys: both, buffered: true},
			Capabilities{
				LimitField: MaxTokens, Usage: true, Exact: true, IgnoreEOS: "obeyed", Buffered: true, Requests: 3, Facts: map[string]string{},
				Warnings: []string{"the whole answer came at once: a proxy buffers the stream, ttft and tpot are its own"},
			},
		},
		{
			"a cloud that refuses the same and does not say what", Chat,
			fake{natural: 1004, obeys: both, rejects: []string{MaxTokens, "ignore_eos", "min_tokens"}, mumbles: true},
			Capabilities{LimitField: MaxCompletionTokens, Usage: true, IgnoreEOS: "refused", Requests: 4, Facts: map[string]string{}},
		},
		{
			"a server that does not say that max_tokens is what it refuses", Chat,
			fake{natural: 3, obeys: both, rejects: []string{MaxTokens}, mumbles: true},
			Capabilities{LimitField: MaxCompletionTokens, Usage: true, Exact: true, IgnoreEOS: "obeyed", Requests: 4, Facts: map[string]string{}},
		},
		{
			"a server that takes no stream_options", Chat,
			fake{natural: 3, obeys: both, rejects: []string{"stream_options"}, noUsage: true},
			Capabilities{
				LimitField: MaxTokens, UsageRefused: true, Exact: true, IgnoreEOS: "obeyed", Requests: 3, Facts: map[string]string{},
				Warnings: []string{"the server refuses stream_options, by which usage is asked for: chunks are counted instead, and one may hold several tokens"},
			},
		},
		{
			"closes every connection, and has metrics", Chat,
			fake{
				natural: 3, obeys: both, ignores: true, keeps: "Connection: close",
				tells: map[string]string{"/metrics": "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\"} 0.0\n"},
			},
			Capabilities{LimitField: MaxTokens, Usage: true, IgnoreEOS: "ignored", KeepAlive: "closed after each answer", Metrics: true, Requests: 1, Facts: map[string]string{}},
		},
		{
			"says how long it keeps a connection, and answers a web page for metrics", Chat,
			fake{natural: 3, obeys: both, ignores: true, keeps: "Keep-Alive: timeout=5, max=100", tells: map[string]string{"/metrics": "<html> 7 </html>"}},
			Capabilities{LimitField: MaxTokens, Usage: true, IgnoreEOS: "ignored", KeepAlive: "timeout=5, max=100", Requests: 1, Facts: map[string]string{}},
		},
		{
			"SGLang", Chat,
			fake{natural: 3, obeys: both, tells: map[string]string{
				"/v1/models": `{"data":[{"id":"m","owned_by":"sglang","max_model_len":4096}]}`, "/get_server_info": `{"model_path":"m","version":"0.5.23"}`,
			}},
			Capabilities{
				LimitField: MaxTokens, Usage: true, Exact: true, IgnoreEOS: "obeyed", Models: []string{"m"}, ModelListed: true, Requests: 1,
				Facts: map[string]string{"engine": "sglang", "version": "0.5.23", "context": "4096"},
			},
		},
		{
			"TGI", Chat,
			fake{natural: 3, obeys: both, ignores: true, tells: map[string]string{"/info": `{"model_id":"m","version":"3.3.4","router":"text-generation-router"}`}},
			Capabilities{LimitField: MaxTokens, Usage: true, IgnoreEOS: "ignored", Requests: 1, Facts: map[string]string{"engine": "tgi", "version": "3.3.4"}},
		},
		{
			"llama-server without an alias", Chat,
			fake{natural: 3, obeys: both, tells: map[string]string{"/v1/models": `{"data":[{"id":"/models/m","owned_by":"llamacpp"}]}`}},
			Capabilities{LimitField: MaxTokens, Usage: true, Exact: true, IgnoreEOS: "obeyed", Models: []string{"/models/m"}, ModelListed: true, Requests: 1, Facts: map[string]string{"engine": "llama.cpp"}},
		},
		{
			"lies about itself", Chat,
			fake{natural: 3, obeys: both, tokenize: `{"tokens":"none"}`, tells: map[string]string{
				"/v1/models": `{"data":[{"id":"m","owned_by":"somebody","max_model_len":"many"}]}`, "/props": `[]`, "/version": `<html>`,
			}},
			Capabilities{LimitField: MaxTokens, Usage: true, Exact: true, IgnoreEOS: "obeyed", Models: []string{"m"}, ModelListed: true, Requests: 2, Facts: map[string]string{}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onPipes(t, &tt.f, func(o *Options) { o.API, o.Metrics = tt.api, "/metrics" }, func(t *testing.T, c *Client) {
				got, err := c.Preflight(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				tt.want.TTFT, tt.want.Address = 0.03, "pipe"
				if tt.want.Usage {
					tt.want.PromptTokens = 7
				}
				if tt.want.KeepAlive == "" {
					tt.want.KeepAlive = "kept"
				}
				if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				c.Apply(got)
				tt.f.asked = nil
				ask(c)
				if _, has := tt.f.asked[0]["stream_options"]; has == got.UsageRefused {
					t.Errorf("after Apply stream_options is in the request: %v", has)
				}
				if _, has := tt.f.asked[0][got.LimitField]; !has {
					t.Errorf("after Apply the request is %v", tt.f.asked[0])
				}
			})
		})
	}
}

func TestPreflightSaysWhatToDo(t *testing.T) {
	refuse := func(code int, body string) func(http.ResponseWriter) bool {
		return func(w http.ResponseWriter) bool { status(w, code, "application/json", body); return true }
	}
	for _, tt := range []struct {
		name  string
		f     fake
		class bench.Class
		words []string
	}{
		{"runs on under every limit", fake{natural: 1 << 40, ignores: true}, bench.TooLong, []string{"the server obeys none of max_tokens, max_completion_tokens"}},
		{
			"counts what did not come",
			fake{natural: 3, obeys: []string{MaxTokens, MaxCompletionTokens}, counts: 32},
			bench.TooLong,
			[]string{"usage counts 32 tokens, and 16 chunks came, although 16 were asked for: either the server does not obey max_tokens, or usage counts wrongly", "\ncompare the text of one answer with its usage"},
		},
		{
			"model not found",
			fake{
				refuses: refuse(404, `{"error":{"message":"The model m does not exist."}}`),
				tells:   map[string]string{"/v1/models": `{"data":[{"id":"a"},{"id":"b"}]}`},
			},
			bench.HTTP4xx,
			[]string{"The model m does not exist.", "\nthe server lists these models: a, b; set target.model to one of them"},
		},
		{"wrong path", fake{refuses: refuse(404, `{"detail":"Not Found"}`)}, bench.HTTP4xx, []string{"Not Found", "\nis the path in target.base_url right"}},
		{"wrong endpoint", fake{refuses: refuse(400, recorded(t, "wire/llama_wrong_endpoint.http"))}, bench.HTTP4xx, []string{"key 'prompt' not found", "\nthe server refuses the request: compare target.api"}},
		{"no key", fake{refuses: refuse(401, `{"error":"who are you?"}`)}, bench.HTTP4xx, []string{"who are you?", "target.api_key_env"}},
		{"loading", fake{refuses: refuse(503, `{"error":{"message":"Loading model"}}`)}, bench.Overloaded, []string{"Loading model", "not ready"}},
		{"limited", fake{refuses: refuse(429, `{}`)}, bench.RateLimited, []string{"limits the rate"}},
		{"silent model", fake{natural: 0, ignores: true}, bench.Empty, []string{"without one token", "is it a chat model"}},
		{"no stream", fake{refuses: refuse(200, `{"choices":[]}`)}, bench.NotStreaming, []string{"benchgate measures streams"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := client(t, serve(t, &tt.f)).Preflight(t.Context())
			var e *Error
			if !errors.As(err, &e) || e.Class != tt.class {
				t.Fatalf("%v", err)
			}
			for _, w := range tt.words {
				if !strings.Contains(err.Error()+"\n"+e.Hint, w) {
					t.Errorf("%q is not in:\n%v\n%s", w, err, e.Hint)
				}
			}
		})
	}
}

func TestLimitFieldOfTheConfigIsHeldAgainstTheServer(t *testing.T) {
	f := &fake{natural: 1 << 40, obeys: []string{MaxTokens}}
	onPipes(t, f, func(o *Options) { o.LimitField = MaxCompletionTokens }, func(t *testing.T, c *Client) {
		_, err := c.Preflight(t.Context())
		var e *Error
		if !errors.As(err, &e) || e.Class != bench.TooLong || !strings.Contains(e.Hint, "target.limit_field: max_completion_tokens; leave the key out") {
			t.Errorf("%v", err)
		}
	})
	if len(f.asked) != 1 {
		t.Errorf("%d answers were asked for, want one: no other field may be tried", len(f.asked))
	}
}

// TestProbesAreBoundedInTime plays a server that obeys no limit and writes a token every ten seconds.
func TestProbesAreBoundedInTime(t *testing.T) {
	f := &fake{natural: 1 << 40, ignores: true, slow: 10 * time.Second}
	onPipes(t, f, func(o *Options) { o.Timeouts = Timeouts{} }, func(t *testing.T, c *Client) {
		begun := time.Now()
		_, err := c.Preflight(t.Context())
		var e *Error
		if !errors.As(err, &e) || e.Class != bench.TooSlow || time.Since(begun) > 4*time.Minute {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		if want := "or it is slower than preflight waits, in doctor as in run: 2m0s for the first token, 30s between tokens, 3m0s for 16 tokens"; e == nil || !strings.Contains(e.Hint, want) {
			t.Errorf("%+v does not say %q", e, want)
		}
	})
}

func TestPreflightOfNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	c := client(t, "http://"+l.Addr().String())
	for name, probe := range map[string]func() error{
		"preflight":   func() error { _, err := c.Preflight(t.Context()); return err },
		"first token": func() error { return c.FirstToken(t.Context()) },
		"count":       func() error { _, err := c.CountPrompt(t.Context(), "a"); return err },
	} {
		var e *Error
		if err := probe(); !errors.As(err, &e) || e.Class != bench.Refused || !strings.HasPrefix(e.Hint, "nothing listens there") {
			t.Errorf("%s: %v", name, err)
		} else if text := err.Error(); strings.Contains(text, "\n") || strings.Contains(text, e.Hint) {
			t.Errorf("%s: the message %q is not one line without the hint", name, text)
		}
	}
}

func TestInterruptedPreflightIsNoErrorOfTheServer(t *testing.T) {
	for name, wait := range map[string]time.Duration{"before it began": 0, "while it is asked": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), wait)
				defer cancel()
				net := newPipes()
				server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })}
				go func() { _ = server.Serve(net) }()
				c := client(t, "http://pipe", func(o *Options) { o.Dial = net.dial })
				if _, err := c.Preflight(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				c.Close()
				_ = server.Close()
			})
		})
	}
}

func TestFirstTokenNeedsNoMore(t *testing.T) {
	for name, f := range map[string]*fake{
		"answers": {natural: 3}, "runs on": {natural: 1 << 40}, "refuses lengths": {natural: 3, rejects: []string{"ignore_eos"}},
	} {
		if err := client(t, serve(t, f)).FirstToken(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := &fake{
		refuses: func(w http.ResponseWriter) bool {
			status(w, 404, "application/json", `{"error":"no such model"}`)
			return true
		},
		tells: map[string]string{"/v1/models": `{"data":[{"id":"a"},{"id":"b"}]}`},
	}
	var e *Error
	if err := client(t, serve(t, f)).FirstToken(t.Context()); !errors.As(err, &e) || !strings.Contains(e.Hint, "lists these models: a, b") {
		t.Errorf("another model: %v, hint %q", err, e.Hint)
	}
	f = &fake{natural: 0}
	if err := client(t, serve(t, f)).FirstToken(t.Context()); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("answers nothing: %v", err)
	}
}

func TestPromptIsCountedByTheServer(t *testing.T) {
	n, err := client(t, serve(t, &fake{natural: 3, obeys: []string{MaxTokens}})).CountPrompt(t.Context(), "a b c")
	if err != nil || n != 7 {
		t.Errorf("%d, %v", n, err)
	}
	_, err = client(t, serve(t, &fake{natural: 3, obeys: []string{MaxTokens}, noUsage: true})).CountPrompt(t.Context(), "a b c")
	if err == nil || !strings.Contains(err.Error(), "no usage") {
		t.Error(err)
	}
}
