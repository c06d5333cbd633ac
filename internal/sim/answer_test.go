package sim

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLengthIsWhatTheClientAsks(t *testing.T) {
	r := loopback(t, Options{})
	for _, c := range []struct {
		name, path, body string
		want             int
		finish           string
	}{
		{"max_tokens", "/v1/completions", `{"prompt":"a b","max_tokens":5}`, 5, "length"},
		{"max_tokens in a chat", "/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}],"max_tokens":5}`, 5, "length"},
		{"max_completion_tokens", "/v1/chat/completions", `{"messages":[{"content":"a"}],"max_completion_tokens":6}`, 6, "length"},
		{"the newer field wins", "/v1/chat/completions", `{"messages":[{"content":"a"}],"max_tokens":9,"max_completion_tokens":6}`, 6, "length"},
		{"ignore_eos", "/v1/completions", `{"prompt":"a","max_tokens":7,"ignore_eos":true}`, 7, "length"},
		{"min_tokens", "/v1/completions", `{"prompt":"a","max_tokens":7,"min_tokens":7}`, 7, "length"},
		{"one token", "/v1/completions", `{"prompt":"a","max_tokens":1}`, 1, "length"},
		{"no limit", "/v1/completions", `{"prompt":"a"}`, 16, "stop"},
		{"no limit in a chat", "/v1/chat/completions", `{"messages":[{"content":"a"}]}`, 64, "stop"},
		{"null limit", "/v1/completions", `{"prompt":"a","max_tokens":null}`, 16, "stop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, got := ask(t, r.URL()+c.path, c.body)
			if status != 200 || len(got.Choices) != 1 {
				t.Fatalf("status %d, %+v", status, got)
			}
			said := got.Choices[0].Text + got.Choices[0].Message.Content
			if n := len(strings.Fields(said)); n != c.want || got.Usage.Completion != c.want {
				t.Errorf("%d words and %d tokens in %q, want %d", n, got.Usage.Completion, said, c.want)
			}
			if got.Choices[0].Finish != c.finish {
				t.Errorf("finish reason %q, want %q", got.Choices[0].Finish, c.finish)
			}
		})
	}
}

// One word is one token; a chat adds three a message and three.
func TestPromptTokensAreWords(t *testing.T) {
	r := loopback(t, Options{})
	for _, c := range []struct {
		name, path, body string
		want             int
	}{
		{"text", "/v1/completions", `{"prompt":"  one two\nthree "}`, 3},
		{"token ids", "/v1/completions", `{"prompt":[5,6,7,8]}`, 4},
		{"a list of one text", "/v1/completions", `{"prompt":["one two"]}`, 2},
		{"a list of one list", "/v1/completions", `{"prompt":[[5,6]]}`, 2},
		{"a chat", "/v1/chat/completions", `{"messages":[{"role":"user","content":"one two"}]}`, 2 + 3 + 3},
		{"two messages", "/v1/chat/completions", `{"messages":[{"role":"system","content":"one"},{"role":"user","content":"two"}]}`, 2 + 2*3 + 3},
		{"text parts", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"text","text":"one "},{"type":"text","text":"two"}]}]}`, 2 + 3 + 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, got := ask(t, r.URL()+c.path, c.body)
			if status != 200 || got.Usage.Prompt != c.want || got.Usage.Total != got.Usage.Prompt+got.Usage.Completion {
				t.Errorf("status %d, usage %+v; want %d prompt tokens", status, got.Usage, c.want)
			}
		})
	}
}

func TestBadRequestsAreTold(t *testing.T) {
	r := loopback(t, Options{})
	for _, c := range []struct {
		name, path, body string
		status           int
		message          string
	}{
		{"another model", "/v1/completions", `{"model":"gpt-4","prompt":"a"}`, 404, `the model "gpt-4" does not exist`},
		{"chat to completions", "/v1/completions", `{"messages":[{"role":"user","content":"a"}]}`, 400, "messages belong to /v1/chat/completions"},
		{"prompt to chat", "/v1/chat/completions", `{"prompt":"a"}`, 400, "a prompt belongs to /v1/completions"},
		{"no prompt", "/v1/completions", `{}`, 400, "prompt is missing"},
		{"null prompt", "/v1/completions", `{"prompt":null}`, 400, "prompt is missing"},
		{"no messages", "/v1/chat/completions", `{}`, 400, "messages is missing"},
		{"empty prompt", "/v1/completions", `{"prompt":"  "}`, 400, "the prompt is empty"},
		{"two prompts", "/v1/completions", `{"prompt":["a","b"]}`, 400, "one text or one list of token ids"},
		{"object for a prompt", "/v1/completions", `{"prompt":{"a":1}}`, 400, "one text or one list of token ids"},
		{"nested lists", "/v1/completions", `{"prompt":[[["a","b"]]]}`, 400, "one text or one list of token ids"},
		{"negative id", "/v1/completions", `{"prompt":[1,-2]}`, 400, "token id -2 is negative"},
		{"not JSON", "/v1/completions", `{"prompt":`, 400, "not the JSON asked for"},
		{"no body", "/v1/completions", ``, 400, "not the JSON asked for"},
		{"wrong type", "/v1/completions", `{"prompt":"a","max_tokens":"ten"}`, 400, "not the JSON asked for"},
		{"picture", "/v1/chat/completions", `{"messages":[{"content":[{"type":"image_url"}]}]}`, 400, `type "image_url"`},
		{"zero tokens", "/v1/completions", `{"prompt":"a","max_tokens":0}`, 400, "at least 1"},
		{"too many tokens", "/v1/completions", `{"prompt":"a","max_tokens":131072}`, 400, "131072 tokens of context"},
		{"more at least than at most", "/v1/completions", `{"prompt":"a","max_tokens":4,"min_tokens":5}`, 400, "min_tokens"},
		{"two answers", "/v1/completions", `{"prompt":"a","n":2}`, 400, "n must be 1"},
		{"unknown path", "/v1/embeddings", `{}`, 404, "no such endpoint: POST /v1/embeddings"},
		{"large body", "/v1/completions", `{"prompt":"` + strings.Repeat("a ", maxBody/2) + `"}`, 413, "larger than"},
		{"deep body", "/v1/completions", strings.Repeat("[", 100000), 400, "not the JSON asked for"},
		{"nothing to tokenize", "/tokenize", `{}`, 400, "content, prompt or messages is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, got := ask(t, r.URL()+c.path, c.body)
			if status != c.status || got.Error == nil || !strings.Contains(got.Error.Message, c.message) {
				t.Errorf("status %d, error %+v; want %d and %q", status, got.Error, c.status, c.message)
			}
		})
	}
}

// The short way through a message reads what encoding/json reads: escapes, and bytes that are no UTF-8.
func TestAMessageIsReadAsJSONIs(t *testing.T) {
	for _, text := range []string{`""`, `"a b"`, `"a\nb"`, `"\u00e9\ud83c\udf0a"`, `"é🌊"`, "\"\xff\xc3(\"", `"\\"`, `"\""`, `null`, `7`, `"a`, "\"a\nb\""} {
		var want string
		var got content
		wantErr, err := json.Unmarshal([]byte(text), &want), json.Unmarshal([]byte(text), &got)
		if string(got) != want || (err == nil) != (wantErr == nil) {
			t.Errorf("%q: %q, %v; want %q, %v", text, got, err, want, wantErr)
		}
	}
}

func TestAnswersAreReproducible(t *testing.T) {
	say := func(path, body string) string {
		r := loopback(t, Options{Seed: 3})
		status, got := ask(t, r.URL()+path, body)
		if status != 200 {
			t.Fatalf("status %d", status)
		}
		return got.Choices[0].Text + got.Choices[0].Message.Content
	}
	first := say("/v1/completions", `{"prompt":"one two"}`)
	if again := say("/v1/completions", `{"prompt":"one two"}`); again != first {
		t.Errorf("%q, then %q", first, again)
	}
	if other := say("/v1/completions", `{"prompt":"one three"}`); other == first {
		t.Errorf("two prompts, one answer: %q", other)
	}
	if chat := say("/v1/chat/completions", `{"messages":[{"content":"one two"}],"max_tokens":16}`); chat != first {
		t.Errorf("chat said %q, completion %q", chat, first)
	}
}

// streamed reads a whole stream by lines, the simple way.
func streamed(t *testing.T, url, body string) (said string, events []reply) {
	t.Helper()
	res, err := post(t.Context(), http.DefaultClient, url, body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var e reply
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		events = append(events, e)
		if len(e.Choices) > 0 {
			said += e.Choices[0].Text + e.Choices[0].Delta.Content
		}
	}
	return said, events
}

func TestAStreamSaysTheSameAsAWholeAnswer(t *testing.T) {
	r := loopback(t, Options{})
	for path, ask1 := range map[string]string{
		"/v1/completions":      `{"prompt":"one two","max_tokens":9`,
		"/v1/chat/completions": `{"messages":[{"content":"one two"}],"max_tokens":9`,
	} {
		_, whole := ask(t, r.URL()+path, ask1+"}")
		said, events := streamed(t, r.URL()+path, ask1+`,"stream":true,"stream_options":{"include_usage":true}}`)
		if want := whole.Choices[0].Text + whole.Choices[0].Message.Content; said != want {
			t.Errorf("%s: stream said %q, want %q", path, said, want)
		}
		if len(events) != 9+1 {
			t.Fatalf("%s: %d events, want one a token and one with usage", path, len(events))
		}
		if diff := cmp.Diff(whole.Usage, events[9].Usage); diff != "" {
			t.Errorf("%s: usage (-whole +stream):\n%s", path, diff)
		}
		if events[8].Choices[0].Finish != "length" || events[7].Choices[0].Finish != "" {
			t.Errorf("%s: finish reason belongs to the last token alone", path)
		}
		if _, events := streamed(t, r.URL()+path, ask1+`,"stream":true}`); len(events) != 9 {
			t.Errorf("%s: %d events without include_usage, want 9", path, len(events))
		}
	}
}

func TestTokenizeAgreesWithUsage(t *testing.T) {
	r := loopback(t, Options{})
	for _, c := range []struct {
		body  string
		count int // vLLM's field; llama-server has none
		n     int
	}{
		{`{"content":"#0123abcd two three"}`, 0, 3},
		{`{"content":""}`, 0, 0},
		{`{"content":"one two","with_pieces":true}`, 0, 2},
		{`{"model":"simulated-8b","prompt":"one two three"}`, 3, 3},
		{`{"messages":[{"role":"user","content":"one"}]}`, 7, 7},
	} {
		res, err := post(t.Context(), http.DefaultClient, r.URL()+"/tokenize", c.body)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Tokens []any
			Count  int
		}
		err = json.NewDecoder(res.Body).Decode(&got)
		res.Body.Close()
		if err != nil || len(got.Tokens) != c.n || got.Count != c.count {
			t.Errorf("%s: %v, count %d (%v); want %d tokens, count %d", c.body, got.Tokens, got.Count, err, c.n, c.count)
		}
	}
}

func TestTokenIdsDrawAsTheirText(t *testing.T) {
	text := promptOf(idsOf("#0123abcd one two"))
	if diff := cmp.Diff(text, promptOf(text.ids), cmp.AllowUnexported(prompt{})); diff != "" {
		t.Errorf("prompt (-text +ids):\n%s", diff)
	}
	if Key("#0123abcd one two") != text.key {
		t.Error("Key differs from the record's")
	}
}

func TestTheNameSaysSimulated(t *testing.T) {
	for given, want := range map[string]string{"": "simulated-8b", "qwen": "simulated-qwen", "My-Simulated-1": "My-Simulated-1"} {
		r := loopback(t, Options{Model: given})
		body := get(t, http.DefaultClient, r.URL()+"/v1/models")
		if r.Server().Model() != want || !strings.Contains(body, `"id":"`+want+`"`) {
			t.Errorf("model %q is served as %q: %s", given, r.Server().Model(), body)
		}
	}
}

func get(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: status %d, %v", url, res.StatusCode, err)
	}
	return string(body)
}

func TestRecordsTellWhenTokensLeft(t *testing.T) {
	r := loopback(t, Options{TTFT: 20 * time.Millisecond, TPOT: time.Millisecond})
	sent := time.Now()
	said, _ := streamed(t, r.URL()+"/v1/chat/completions", chatBody("#0123abcd hello", 5))
	got := time.Now()
	records := r.Server().Drain()
	if len(records) != 1 || len(strings.Fields(said)) != 5 {
		t.Fatalf("%d records of %q, want one of five words", len(records), said)
	}
	x := records[0]
	if x.Prompt != Key("#0123abcd hello") || x.Tokens != 5 {
		t.Errorf("record %+v: wrong prompt or tokens", x)
	}
	moments := []time.Time{sent, x.Received, x.First, x.Last, got}
	for i := 1; i < len(moments); i++ {
		if moments[i].Before(moments[i-1]) {
			t.Errorf("moment %d lies before the one before it: %v", i, moments)
		}
	}
	if x.First.Sub(x.Received) < 20*time.Millisecond {
		t.Errorf("first token %v after the request, before its time", x.First.Sub(x.Received))
	}
	if more := r.Server().Drain(); len(more) != 0 {
		t.Errorf("%d records after they were drained", len(more))
	}
}

func TestRecordsAreBounded(t *testing.T) {
	var r recorder
	for range 3 * keptRecords {
		r.open(Record{})
	}
	if n := len(r.records); n > keptRecords || n < keptRecords/2 {
		t.Errorf("%d records kept, want between %d and %d", n, keptRecords/2, keptRecords)
	}
}

func TestUselessOptionsAreNamed(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Slots: -1}, "slots"},
		{Options{TTFT: -1}, "times"},
		{Options{TPOT: -1}, "times"},
		{Options{PrefillTokens: -1}, "prefill"},
		{Options{LoadFactor: nan()}, "load factor"},
		{Options{RunSD: -0.1}, "standard deviations"},
		{Options{RequestSD: nan()}, "standard deviations"},
		{Options{Slow: -1}, "slow-down"},
		{Options{Fault: "no-such"}, `"no-such"`},
		{Options{Fault: "die-after-N"}, `"die-after-N"`},
		{Options{Fault: "die-after-0"}, `"die-after-0"`},
		{Options{Fault: "crlf-5"}, `"crlf-5"`},
	} {
		err := c.o.Check()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.o, err, c.want)
		}
		if _, err := Listen(c.o, "127.0.0.1:0"); err == nil {
			t.Errorf("%+v: a server listens", c.o)
		}
	}
	if err := Defaults().Check(); err != nil {
		t.Errorf("defaults: %v", err)
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}
