package sim

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

var words = [...]string{
	"water", "stone", "river", "light", "cloud", "field", "grass", "house", "bread", "table", "chair", "paper", "music", "wind", "road", "hill",
	"tree", "leaf", "bird", "fish", "boat", "sail", "rope", "iron", "gold", "sand", "snow", "rain", "fire", "coal", "wood", "glass",
	"door", "wall", "roof", "lamp", "book", "page", "word", "line", "name", "hand", "foot", "face", "eye", "ear", "day", "night",
	"moon", "star", "sun", "sky", "sea", "lake", "well", "farm", "town", "gate", "yard", "path", "corn", "milk", "salt", "seed",
}

// Kinds of tokens in an answer.
const (
	plain    = ""
	toolCall = "tool_calls"
)

// answer is what will be written. It is settled before the first byte.
type answer struct {
	request
	id      string
	created int64
	model   string
	length  int    // tokens
	finish  string // finish_reason
	// thoughts is how many of the first tokens are reasoning; thoughtsIn is the field they arrive in.
	thoughts   int
	thoughtsIn string
	thinksLate bool          // … of the last ones, not the first
	unsent     int           // so many of the first tokens are counted, but not sent
	kind       string        // plain or toolCall
	toolFrom   int           // tokens from this on belong to the tool call
	twice      bool          // every chunk holds a second choice
	roleEach   bool          // every chunk names the role
	suffix     string        // after every word
	perChunk   int           // tokens in one event
	cached     int           // prompt tokens that came from a cache
	claims     *[2]int       // usage says these prompt and completion tokens instead of the truth
	tells      string        // the member in which the server accounts for it: timings or requestMetrics
	wire       wireForm      // how it is framed
	faster     float64       // share of the prefill that is needed
	least      time.Duration // of a token
}

func (s *Server) answer(q request) answer {
	a := answer{
		request: q, id: "cmpl-sim-", created: time.Now().Unix(), model: s.options.Model,
		length: q.limit, finish: "stop", perChunk: 1, faster: 1,
	}
	if q.chat {
		a.id = "chatcmpl-sim-"
	}
	a.id += strconv.FormatUint(s.ids.Add(1), 10)
	if q.limited {
		a.finish = "length"
	}
	return a
}

// appendWords writes the tokens from one to another. A text begins without a space.
func (a *answer) appendWords(to []byte, from, until int) []byte {
	for i := from; i < until; i++ {
		if i != 0 && i != a.thoughts {
			to = append(to, ' ')
		}
		to = append(to, words[mix(a.prompt.key+uint64(i))%uint64(len(words))]...)
		to = append(to, a.suffix...)
	}
	return to
}

func (a *answer) text(from, until int) string { return string(a.appendWords(nil, from, until)) }

func (a *answer) object(stream bool) string {
	switch {
	case !a.chat:
		return "text_completion"
	case stream:
		return "chat.completion.chunk"
	default:
		return "chat.completion"
	}
}

// head is a stream event up to its choices.
func (a *answer) head() []byte {
	model, _ := json.Marshal(a.model) // a string cannot fail
	return fmt.Appendf(nil, `{"id":"%s","object":"%s","created":%d,"model":%s,"choices":[`, a.id, a.object(true), a.created, model)
}

// tail is a stream event after its choices.
func (a *answer) tail() string {
	if a.usage {
		return `],"usage":null}`
	}
	return `]}`
}

// choice appends the choice that carries the tokens from one to another. Words need no escaping.
func (a *answer) choice(to []byte, from, until int, finish string) []byte {
	to = append(to, `{"index":0,`...)
	switch {
	case !a.chat:
		to = append(to, `"text":"`...)
		to = a.appendWords(to, from, until)
		to = append(to, `","logprobs":null`...)
	default:
		to = append(to, `"delta":{`...)
		if from == 0 || a.roleEach {
			to = append(to, `"role":"assistant",`...)
		}
		if from < until || from == 0 || a.roleEach {
			to = a.appendDelta(to, from, until)
		}
		to = append(to, '}')
	}
	if finish == "" {
		return append(to, `,"finish_reason":null}`...)
	}
	return append(append(append(to, `,"finish_reason":"`...), finish...), `"}`...)
}

func (a *answer) appendDelta(to []byte, from, until int) []byte {
	switch {
	case a.thinks(from):
		to = append(append(append(to, '"'), a.thoughtsIn...), `":"`...)
		return append(a.appendWords(to, from, until), '"')
	case a.kind == toolCall && from >= a.toolFrom:
		to = append(to, `"tool_calls":[{"index":0,`...)
		if from == a.toolFrom {
			to = append(to, `"id":"call_0","type":"function",`...)
		}
		to = append(to, `"function":{"name":"look","arguments":"`...)
		return append(a.appendWords(to, from, until), `"}}]`...)
	default:
		return append(a.appendWords(append(to, `"content":"`...), from, until), '"')
	}
}

// thinks reports whether a token is reasoning.
func (a *answer) thinks(token int) bool {
	if a.thinksLate {
		return token >= a.length-a.thoughts
	}
	return token < a.thoughts
}

// account is a usage object.
type account struct {
	Completion        int               `json:"completion_tokens"`
	CompletionDetails *reasoningDetails `json:"completion_tokens_details,omitempty"`
	Prompt            int               `json:"prompt_tokens"`
	PromptDetails     cacheDetails      `json:"prompt_tokens_details"`
	Total             int               `json:"total_tokens"`
}

type reasoningDetails struct {
	Tokens int `json:"reasoning_tokens"`
}

type cacheDetails struct {
	Tokens int `json:"cached_tokens"`
}

// account is the usage of an answer of so many tokens.
func (a *answer) account(written int) account {
	u := account{Prompt: a.prompt.tokens(), Completion: written, PromptDetails: cacheDetails{a.cached}}
	if a.claims != nil {
		u.Prompt, u.Completion = a.claims[0], a.claims[1]
	}
	u.Total = u.Prompt + u.Completion
	if a.thoughts > 0 {
		u.CompletionDetails = &reasoningDetails{min(a.thoughts, written)}
	}
	return u
}

// whole is the answer to a request that does not stream.
func (a *answer) whole() map[string]any {
	choice := map[string]any{"index": 0, "finish_reason": a.finish, "logprobs": nil}
	if a.chat {
		choice["message"] = a.message()
	} else {
		choice["text"] = a.text(0, a.length)
	}
	return map[string]any{
		"id": a.id, "object": a.object(false), "created": a.created, "model": a.model,
		"choices": []any{choice}, "usage": a.account(a.length),
	}
}

func (a *answer) message() map[string]any {
	thoughts := min(a.thoughts, a.length)
	from, until := thoughts, a.length // of the answer itself
	said := a.text(0, thoughts)
	if a.thinksLate {
		from, until = 0, a.length-thoughts
		said = a.text(until, a.length)
	}
	m := map[string]any{"role": "assistant"}
	if thoughts > 0 {
		m[a.thoughtsIn] = said
	}
	if a.kind != toolCall {
		m["content"] = a.text(from, until)
		return m
	}
	m["content"] = nil
	if a.toolFrom > from {
		m["content"] = a.text(from, a.toolFrom)
	}
	m["tool_calls"] = []any{map[string]any{
		"id": "call_0", "type": "function", "function": map[string]any{"name": "look", "arguments": a.text(max(from, a.toolFrom), until)},
	}}
	return m
}
