package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchgate/benchgate/internal/bench"
)

// fake is a server with a character. Its model would answer with natural tokens, were it not for limits.
type fake struct {
	natural  int
	obeys    []string // limit fields
	rejects  []string // members that are an error
	ignores  bool     // ignore_eos and min_tokens have no effect
	noUsage  bool
	cached   bool
	thinks   string // field of reasoning
	buffered bool
	tokenize string            // body of POST /tokenize
	tells    map[string]string // answers to GET, by path
	header   string            // Server
	mumbles  bool              // what is rejected is not named
	slow     time.Duration     // between tokens; 0 is 1 ms
	counts   int               // what usage claims; 0: the truth
	keeps    string            // the header that says how long a connection is kept, and its value after a colon
	refuses  func(w http.ResponseWriter) bool

	asked []map[string]any
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Server", f.header)
	if name, value, ok := strings.Cut(f.keeps, ": "); ok {
		w.Header().Set(name, value)
	}
	switch {
	case r.Method == http.MethodGet:
		if body := f.tells[r.URL.Path]; body != "" {
			status(w, 200, "application/json", body)
			return
		}
		status(w, 404, "application/json", `{"detail":"Not Found"}`)
	case r.URL.Path == "/tokenize" && f.tokenize != "":
		status(w, 200, "application/json", f.tokenize)
	case strings.HasSuffix(r.URL.Path, "/completions"):
		f.complete(w, r)
	default:
		status(w, 404, "application/json", `{"detail":"Not Found"}`)
	}
}

func (f *fake) complete(w http.ResponseWriter, r *http.Request) {
	var ask map[string]any
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &ask); err != nil {
		status(w, 400, "text/plain", err.Error())
		return
	}
	f.asked = append(f.asked, ask)
	if f.refuses != nil && f.refuses(w) {
		return
	}
	for _, name := range f.rejects {
		if _, has := ask[name]; has {
			if f.mumbles {
				name = "something"
			}
			status(w, 400, "application/json", fmt.Sprintf(`{"error":{"message":"Unsupported parameter: '%s'"}}`, name))
			return
		}
	}
	f.stream(w, r, ask)
}

func (f *fake) stream(w http.ResponseWriter, r *http.Request, ask map[string]any) {
	limit := 1 << 30
	for _, name := range f.obeys {
		if v, has := ask[name].(float64); has {
			limit = int(v)
		}
	}
	n := min(f.natural, limit)
	if ask["ignore_eos"] == true && !f.ignores {
		n = limit
	}
	w.Header().Set("Content-Type", "text/event-stream")
	<-time.After(30 * ms)
	for i := range n {
		_, err := io.WriteString(w, f.word(r, i))
		if err != nil {
			return // the client cut us off
		}
		if !f.buffered {
			w.(http.Flusher).Flush()
			select {
			case <-time.After(max(ms, f.slow)):
			case <-r.Context().Done():
				return
			}
		}
	}
	reason := "stop"
	if n == limit {
		reason = "length"
	}
	_, _ = io.WriteString(w, data(`{"choices":[{"delta":{},"text":"","finish_reason":"`+reason+`"}]}`))
	if !f.noUsage {
		_, _ = io.WriteString(w, data(f.usage(ask, n)))
	}
	_, _ = io.WriteString(w, done)
}

func (f *fake) word(r *http.Request, i int) string {
	switch {
	case !strings.Contains(r.URL.Path, "chat"):
		return data(`{"choices":[{"text":"w"}]}`)
	case f.thinks != "" && i < 4:
		return data(delta(`"` + f.thinks + `":"w"`))
	}
	return word
}

func (f *fake) usage(ask map[string]any, n int) string {
	in := 7
	if f.counts != 0 {
		n = f.counts
	}
	if ids, is := ask["prompt"].([]any); is {
		in = len(ids)
	}
	details := ""
	if f.cached {
		details = `,"prompt_tokens_details":{"cached_tokens":0}`
	}
	return fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d%s}}`, in, n, details)
}

func recorded(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/llama/" + name)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(b), "\r\n\r\n")
	return body
}

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
				natural: 3, obeys: both, cached: true, header: "llama.cpp", tokenize: recorded(t, "tokenize.http"),
				tells: map[string]string{"/v1/models": recorded(t, "models.http"), "/props": recorded(t, "props.http")},
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
		{"wrong endpoint", fake{refuses: refuse(400, recorded2("llama_wrong_endpoint"))}, bench.HTTP4xx, []string{"key 'prompt' not found", "\nthe server refuses the request: compare target.api"}},
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

// recorded2 is the body of a recorded refusal of the wire cases.
func recorded2(name string) string {
	b, err := os.ReadFile("testdata/wire/" + name + ".http")
	if err != nil {
		panic(err)
	}
	_, body, _ := strings.Cut(string(b), "\r\n\r\n")
	return body
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

func TestIdleConnectionIsWatched(t *testing.T) {
	for name, tt := range map[string]struct {
		keep  string
		close bool
	}{"stays open": {}, "is closed with the answer": {"Connection: close", true}} {
		t.Run(name, func(t *testing.T) {
			onPipes(t, &fake{keeps: tt.keep}, func(*Options) {}, func(t *testing.T, c *Client) {
				after, closed, err := c.Idle(t.Context(), 4*time.Second)
				if err != nil || closed != tt.close || after > time.Second {
					t.Errorf("closed %v after %s, %v", closed, after, err)
				}
			})
		})
	}
}

func TestTraitsNameWhatChanged(t *testing.T) {
	base := Capabilities{LimitField: MaxTokens, IgnoreEOS: "obeyed", Usage: true, KeepAlive: "kept"}
	head := base
	head.Reasoning, head.Buffered, head.Metrics = "reasoning_content", true, true
	want := map[string][2]string{
		"reasoning_field": {"none", "reasoning_content"}, "stream": {"token by token", "buffered"}, "metrics": {"none", "answers"},
	}
	got := map[string][2]string{}
	for k, v := range head.Traits() {
		if was := base.Traits()[k]; was != v {
			got[k] = [2]string{was, v}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
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

// early is a context whose deadline has passed a while before it says so.
type early struct{ context.Context }

func (e early) Deadline() (time.Time, bool) {
	until, ok := e.Context.Deadline()
	return until.Add(-time.Millisecond), ok
}

// Package net may see that a deadline has passed before the context says so.
func TestADialThatEndsAtTheCallersDeadlineIsNoErrorOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ctx := early{inner}
		c := client(t, "http://pipe", func(o *Options) {
			o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
				until, _ := ctx.Deadline()
				time.Sleep(time.Until(until))
				return nil, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
			}
		})
		if r := c.Do(ctx, Call{Prompt: Prompt{Text: "hello"}}, clock()); r.Class != bench.Canceled {
			t.Errorf("%s: %s", r.Class, r.Error)
		}
	})
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

func TestTokenize(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		ids          []int
		ok           bool
	}{
		{"llama-server", recorded(t, "tokenize.http"), []int{818, 3823, 8864, 37423, 38167, 1024, 506, 31770, 4799, 236761}, true},
		{"vLLM", `{"count":2,"max_model_len":4096,"tokens":[1,2],"token_strs":null}`, []int{1, 2}, true},
		{"none", "", nil, false},
		{"something else", `{"ok":true}`, nil, false},
	} {
		ids, ok, err := client(t, serve(t, &fake{tokenize: tt.answer})).Tokenize(t.Context(), "hello")
		if err != nil || ok != tt.ok || !slices.Equal(ids, tt.ids) {
			t.Errorf("%s: %v %v %v", tt.name, ids, ok, err)
		}
	}
}

func TestSummaryIsPlain(t *testing.T) {
	caps := Capabilities{
		LimitField: MaxTokens, Usage: true, Exact: true, Tokenize: true, Reasoning: "reasoning", Address: "127.0.0.1:8000", KeepAlive: "timeout=5",
		Facts: map[string]string{"engine": "vllm", "version": "0.33.0"}, Warnings: []string{"mind this"},
	}
	want := []string{
		"server: vllm 0.33.0 at 127.0.0.1:8000",
		"output length: max_tokens bounds it, and the server writes exactly so many tokens",
		"token counts: the server's usage",
		"stream: token by token",
		"reasoning: in reasoning",
		"cached prompt tokens: not told",
		"tokenizer: the server's /tokenize",
		"connections: timeout=5",
		"warning: mind this",
	}
	if diff := cmp.Diff(want, caps.Summary()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
