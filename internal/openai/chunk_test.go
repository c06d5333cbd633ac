package openai

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seen is what a test compares of a chunk.
type seen struct {
	Token, Answer   bool
	Reasoning       string
	Finish, Text    string
	In, Out, Cached int
	Known           bool
	Failure         string
	Err             string
}

func see(data string) seen {
	var c chunk
	if err := c.read([]byte(data)); err != nil {
		return seen{Err: err.Error()}
	}
	if c.failure != nil {
		return seen{Failure: string(c.failure)}
	}
	return seen{
		Token: c.token, Answer: c.answer, Reasoning: c.reasoning, Finish: string(c.finish), Text: string(c.text),
		In: c.usage.in, Out: c.usage.out, Cached: c.usage.cached, Known: c.usage.known,
	}
}

func delta(members string) string { return `{"choices":[{"index":0,"delta":{` + members + `}}]}` }

var chunks = []struct {
	name, data string
	want       seen
}{
	{"content", delta(`"content":"a"`), seen{Token: true, Answer: true, Text: `"a"`}},
	{"role alone", delta(`"role":"assistant"`), seen{}},
	{"role and empty content", delta(`"role":"assistant","content":""`), seen{}},
	{"role and null content", delta(`"role":"assistant","content":null`), seen{}},
	{"role and content", delta(`"role":"assistant","content":"a"`), seen{Token: true, Answer: true, Text: `"a"`}},
	{"a space is a token", delta(`"content":" "`), seen{Token: true, Answer: true, Text: `" "`}},
	{"content in parts", delta(`"content":[{"type":"text","text":"a"}]`), seen{Token: true, Answer: true}},
	{"reasoning of vLLM", delta(`"reasoning":"a"`), seen{Token: true, Reasoning: "reasoning"}},
	{"reasoning of llama-server", delta(`"reasoning_content":"a","content":null`), seen{Token: true, Reasoning: "reasoning_content"}},
	{"empty reasoning", delta(`"reasoning":"","reasoning_content":null`), seen{}},
	{"tool call", delta(`"tool_calls":[{"index":0,"function":{"arguments":"{"}}]`), seen{Token: true, Answer: true}},
	{"no tool call", delta(`"tool_calls":[ ],"function_call":{ }`), seen{}},
	{"function call", delta(`"function_call":{"name":"f"}`), seen{Token: true, Answer: true}},
	{"refusal", delta(`"refusal":"no"`), seen{Token: true, Answer: true}},
	{"null refusal", delta(`"refusal":null`), seen{}},
	{"null delta", `{"choices":[{"delta":null}]}`, seen{}},
	{"delta that is no object", `{"choices":[{"delta":"a"}]}`, seen{}},
	{"null choice", `{"choices":[null,1,"a"]}`, seen{}},
	{"no choices", `{"choices":[]}`, seen{}},
	{"choices missing", `{"id":"x"}`, seen{}},
	{"choices null", `{"choices":null}`, seen{}},
	{"choices no list", `{"choices":{"a":1}}`, seen{}},
	{"several choices", `{"choices":[{"delta":{}},{"delta":{"content":"a"}}]}`, seen{Token: true, Answer: true, Text: `"a"`}},
	{"completion", `{"choices":[{"text":"a","finish_reason":null}]}`, seen{Token: true, Answer: true, Text: `"a"`}},
	{"empty completion", `{"choices":[{"text":"","finish_reason":"stop"}]}`, seen{Finish: "stop"}},
	{"finish", `{"choices":[{"delta":{},"finish_reason":"length"}]}`, seen{Finish: "length"}},
	{"finish with content", `{"choices":[{"finish_reason":"length","delta":{"content":"a"}}]}`, seen{Token: true, Answer: true, Text: `"a"`, Finish: "length"}},
	{"escaped names", `{"\u0063hoices":[{"d\u0065lta":{"c\u006fntent":"a"}}]}`, seen{Token: true, Answer: true, Text: `"a"`}},
	{"usage", `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}`, seen{In: 3, Out: 5, Cached: -1, Known: true}},
	{"usage with cache", `{"usage":{"prompt_tokens":3,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":2}}}`, seen{In: 3, Out: 5, Cached: 2, Known: true}},
	{"usage with null details", `{"usage":{"completion_tokens":5,"prompt_tokens_details":null}}`, seen{In: -1, Out: 5, Cached: -1, Known: true}},
	{"usage as a whole float", `{"usage":{"completion_tokens":5.0,"prompt_tokens":3e0}}`, seen{In: 3, Out: 5, Cached: -1, Known: true}},
	{"null usage", `{"usage":null}`, seen{}},
	{"negative usage", `{"usage":{"completion_tokens":-5}}`, seen{Err: errBadUsage.Error()}},
	{"half a token", `{"usage":{"completion_tokens":5.5}}`, seen{Err: errBadUsage.Error()}},
	{"usage in words", `{"usage":{"completion_tokens":"5"}}`, seen{Err: errBadUsage.Error()}},
	{"usage beyond reason", `{"usage":{"completion_tokens":1e300}}`, seen{Err: errBadUsage.Error()}},
	{"error object", `{"error":{"message":"m"}}`, seen{Failure: `{"message":"m"}`}},
	{"error text", `{"error":"m","choices":[]}`, seen{Failure: `"m"`}},
	{"no error", `{"error":null,"choices":[]}`, seen{}},
	{"error as a whole", `{"object":"error","message":"m"}`, seen{Failure: `{"object":"error","message":"m"}`}},
	{"error as a whole, null error", `{"object":"error","message":"m","error":null}`, seen{Failure: `{"object":"error","message":"m","error":null}`}},
	{"logprobs are passed over", `{"choices":[{"logprobs":{"content":[{"token":"a","logprob":-1.5e-7,"bytes":[97]}]},"delta":{"content":"a"}}]}`, seen{Token: true, Answer: true, Text: `"a"`}},
	{"white space", " \t{ \"choices\" : [ { \"delta\" : { \"content\" : \"a\" } } ] } \n", seen{Token: true, Answer: true, Text: `"a"`}},
	{"cut", `{"choices":[{"delta":{"content":"a`, seen{Err: errNotJSON.Error()}},
	{"two objects", `{} {}`, seen{Err: errNotJSON.Error()}},
	{"a list", `[]`, seen{Err: errNotJSON.Error()}},
	{"words", `hello`, seen{Err: errNotJSON.Error()}},
	{"nothing", ``, seen{Err: errNotJSON.Error()}},
	{"NaN", `{"a":NaN}`, seen{Err: errNotJSON.Error()}},
	{"too deep", `{"a":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `}`, seen{Err: errNotJSON.Error()}},
}

func TestChunkSaysWhatWasGenerated(t *testing.T) {
	for _, tt := range chunks {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, see(tt.data)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadingAChunkDoesNotAllocate(t *testing.T) {
	data := []byte(`{"id":"x","choices":[{"index":0,"delta":{"content":"a \" b","tool_calls":[]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}`)
	var c chunk
	n := testing.AllocsPerRun(100, func() {
		if c.read(data) != nil || !c.token {
			t.Fatal("not read")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzChunk holds the scanner to encoding/json.
func FuzzChunk(f *testing.F) {
	for _, c := range chunks {
		f.Add([]byte(c.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, want := see(string(data)), judged(data)
		if strings.Count(string(data), "[")+strings.Count(string(data), "{") > maxDepth {
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-encoding/json +ours):\n%s", data, diff)
		}
	})
}

// member is a member of an object in its place: encoding/json's maps would lose the first of two with one name.
type member struct {
	name  string
	value json.RawMessage
}

func membersOf(raw []byte) []member {
	d := json.NewDecoder(bytes.NewReader(raw))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil
	}
	var all []member
	for d.More() {
		name, err := d.Token()
		var m member
		if err != nil || d.Decode(&m.value) != nil {
			return nil
		}
		m.name = name.(string)
		all = append(all, m)
	}
	return all
}

func isFilled(raw json.RawMessage) bool {
	var list []json.RawMessage
	var text string
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 || len(membersOf(raw)) > 0 {
		return true
	}
	return json.Unmarshal(raw, &text) == nil && text != ""
}

// judged reads a chunk with encoding/json.
func judged(data []byte) seen {
	var w seen
	if !json.Valid(data) || !strings.HasPrefix(strings.TrimLeft(string(data), " \t\r\n"), "{") {
		return seen{Err: errNotJSON.Error()}
	}
	whole := false
	for _, m := range membersOf(data) {
		switch m.name {
		case "choices":
			w.Token, w.Answer, w.Reasoning, w.Finish, w.Text = false, false, "", "", ""
			var choices []json.RawMessage
			_ = json.Unmarshal(m.value, &choices) // no list, no choices
			for _, c := range choices {
				w.choice(c)
			}
		case "usage":
			w.In, w.Out, w.Cached, w.Known = 0, 0, 0, false
			if m.value[0] == '{' {
				w.In, w.Out, w.Cached, w.Known = -1, -1, -1, true
				w.usage(m.value)
			}
		case "error":
			w.Failure = string(m.value)
			if w.Failure == "null" || w.Failure == "false" || w.Failure == `""` {
				w.Failure = ""
			}
		case "object":
			whole = string(m.value) == `"error"`
		}
	}
	switch {
	case w.Failure != "":
		return seen{Failure: w.Failure}
	case whole:
		return seen{Failure: string(data)}
	case w.In < -1 || w.Out < -1 || w.Cached < -1:
		return seen{Err: errBadUsage.Error()}
	}
	return w
}

func (w *seen) choice(raw json.RawMessage) {
	for _, m := range membersOf(raw) {
		switch m.name {
		case "delta":
			for _, d := range membersOf(m.value) {
				w.delta(d)
			}
		case "text":
			w.delta(member{"content", m.value})
		case "finish_reason":
			var text string
			if json.Unmarshal(m.value, &text) == nil && text != "" {
				w.Finish = string(plain(m.value))
			}
		}
	}
}

func (w *seen) delta(m member) {
	if !isFilled(m.value) {
		return
	}
	switch m.name {
	case "content":
		w.Token, w.Answer = true, true
		if w.Text == "" && m.value[0] == '"' {
			w.Text = string(m.value)
		}
	case "tool_calls", "function_call", "refusal":
		w.Token, w.Answer = true, true
	case "reasoning", "reasoning_content":
		w.Token, w.Reasoning = true, m.name
	}
}

func (w *seen) usage(raw json.RawMessage) {
	number := func(v json.RawMessage) int {
		var f *float64
		switch err := json.Unmarshal(v, &f); {
		case err != nil:
			return -2
		case f == nil:
			return -1
		case *f < 0 || *f > 1e9 || *f != float64(int(*f)):
			return -2
		}
		return int(*f)
	}
	for _, m := range membersOf(raw) {
		switch m.name {
		case "prompt_tokens":
			w.In = number(m.value)
		case "completion_tokens":
			w.Out = number(m.value)
		case "prompt_tokens_details":
			for _, d := range membersOf(m.value) {
				if d.name == "cached_tokens" {
					w.Cached = number(d.value)
				}
			}
		}
	}
}
