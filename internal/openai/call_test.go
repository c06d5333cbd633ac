package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

func TestRequestCarriesWhatWasAsked(t *testing.T) {
	zero := 0.0
	for _, tt := range []struct {
		name string
		set  func(*Options)
		call Call
		path string
		want string
	}{
		{
			"chat from text", nil,
			Call{Prompt: Prompt{Text: `say "<é>"`}, MaxTokens: 5},
			"/v1/chat/completions",
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":5,"messages":[{"role":"user","content":"say \"<é>\""}]}`,
		},
		{
			"chat from a conversation, exactly", func(o *Options) { o.LimitField = MaxCompletionTokens; o.Temperature = &zero },
			Call{Prompt: Prompt{Messages: []Message{{"system", "s"}, {"user", "u"}}}, MaxTokens: 5, Exact: true},
			"/v1/chat/completions",
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0,"max_completion_tokens":5,"ignore_eos":true,"min_tokens":5,"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}`,
		},
		{
			"completions from text", func(o *Options) { o.API = Completions },
			Call{Prompt: Prompt{Text: "a"}},
			"/v1/completions",
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"prompt":"a"}`,
		},
		{
			"completions from tokens", func(o *Options) { o.API = Completions },
			Call{Prompt: Prompt{Tokens: []int{1, 22, 333}}, MaxTokens: 1},
			"/v1/completions",
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":1,"prompt":[1,22,333]}`,
		},
		{
			"extra_body wins over ours", func(o *Options) {
				o.Temperature = &zero
				o.ExtraBody = map[string]any{"temperature": 0.7, "ignore_eos": false, "chat_template_kwargs": map[string]any{"enable_thinking": false}}
			},
			Call{Prompt: Prompt{Text: "a"}, MaxTokens: 5, Exact: true},
			"/v1/chat/completions",
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.7,"ignore_eos":false,"chat_template_kwargs":{"enable_thinking":false},"max_tokens":5,"min_tokens":5,"messages":[{"role":"user","content":"a"}]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got any
			var r *http.Request
			url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				r = req
				body, _ := io.ReadAll(req.Body)
				if err := json.Unmarshal(body, &got); err != nil {
					t.Errorf("%v: %s", err, body)
				}
				status(w, 200, "text/event-stream", word+finish)
			}))
			c := client(t, url, func(o *Options) {
				if tt.set != nil {
					tt.set(o)
				}
			})
			answer := c.Do(t.Context(), tt.call, clock())
			if answer.Class != bench.OK && answer.Class != bench.TooShort {
				t.Fatal(answer.Error)
			}
			var want any
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			head := r.Header.Clone()
			head.Del("Content-Length")
			wantHead := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "User-Agent": {"benchgate"}}
			if diff := cmp.Diff(wantHead, head); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			if r.URL.Path != tt.path || r.Method != http.MethodPost {
				t.Errorf("%s %s", r.Method, r.URL.Path)
			}
		})
	}
}

func TestEnvironmentProxyIsNotUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	c := client(t, "http://192.0.2.1")
	if c.wire.plain.Proxy != nil {
		t.Error("a proxy is asked for")
	}
}

func TestQueryOfTheBaseStays(t *testing.T) {
	var got []string
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.String())
		status(w, 404, "", "")
	}))
	c := client(t, "", func(o *Options) { o.BaseURL = url + "/proxy/v1/?api-version=2" })
	ask(c)
	if _, ok, err := c.Tokenize(t.Context(), "a"); ok || err != nil {
		t.Errorf("tokenize: %v %v", ok, err)
	}
	want := []string{"/proxy/v1/chat/completions?api-version=2", "/proxy/tokenize?api-version=2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
