package openai

import (
	"bytes"
	"errors"
)

// The fields in which servers send reasoning. vLLM and Ollama say "reasoning", llama-server, SGLang and DeepSeek
// "reasoning_content".
const (
	reasoningShort = "reasoning"
	reasoningLong  = "reasoning_content"
)

var (
	errNotJSON  = errors.New("a chunk is not a JSON object")
	errBadUsage = errors.New("usage holds something that is not a count of tokens")
)

// chunk is what one event of an answer says. The slices point into the event.
type chunk struct {
	token     bool   // something was generated, of whatever kind
	answer    bool   // … and it belongs to the answer itself: text, a tool call or a refusal
	reasoning string // the field in which reasoning came; empty when none did
	finish    []byte // the finish reason; empty when none came
	text      []byte // the answer's text as a JSON string with quotes, of the first choice that has one
	usage     usage
	told      told
	failure   []byte // the error in it, as JSON; nil when there is none

	// What vllm bench serve looks at: whether the first choice's delta holds output for it, and whether there is a choice.
	output  bool
	choices int
	role    bool // of the delta at hand
	blank   bool // its content is an empty text
	object  bool // the chunk is an error as a whole
	scan    scanner
}

// usage is the server's own count of tokens; -1 is a count it does not give.
type usage struct {
	known           bool
	in, out, cached int
}

// after is u where an earlier usage may fill in the counts of the prompt, which do not change.
func (u usage) after(earlier usage) usage {
	if earlier.known && u.in < 0 {
		u.in = earlier.in
	}
	if earlier.known && u.cached < 0 {
		u.cached = earlier.cached
	}
	return u
}

// read parses the data of one event into c, which it clears first. It does not allocate, but for escaped names.
func (c *chunk) read(data []byte) error {
	*c = chunk{scan: scanner{b: data}}
	if c.scan.peek() != '{' || !c.scan.members(c.member) || !c.scan.done() {
		return errNotJSON
	}
	if c.object && c.failure == nil {
		c.failure = data
	}
	if u := c.usage; c.failure == nil && u.known && (u.in < -1 || u.out < -1 || u.cached < -1) {
		return errBadUsage
	}
	return nil
}

func (c *chunk) member(name []byte) bool {
	switch string(name) {
	case "choices":
		c.token, c.answer, c.reasoning, c.finish, c.text, c.output, c.choices = false, false, "", nil, nil, false, 0
		if c.scan.peek() == '[' {
			return c.scan.elements(c.choice)
		}
	case "usage":
		c.usage = usage{}
		if c.scan.peek() == '{' {
			c.usage = usage{known: true, in: -1, out: -1, cached: -1}
			return c.scan.members(c.count)
		}
	case fromTimings:
		return c.toldIn(fromTimings)
	case fromMetrics:
		return c.toldIn(fromMetrics)
	case "error":
		raw, ok := c.scan.value()
		c.failure = nil
		if s := string(raw); s != "null" && s != `""` && s != "false" {
			c.failure = raw
		}
		return ok
	case "object":
		// Servers built on FastAPI once streamed {"object":"error","message":…}.
		raw, ok := c.scan.value()
		c.object = string(raw) == `"error"`
		return ok
	}
	return c.scan.skip()
}

func (c *chunk) choice() bool {
	c.choices++
	if c.scan.peek() != '{' {
		return c.scan.skip()
	}
	return c.scan.members(c.choiceMember)
}

func (c *chunk) choiceMember(name []byte) bool {
	switch string(name) {
	case "delta":
		if c.scan.peek() == '{' {
			return c.delta()
		}
	case "text":
		return c.said()
	case "finish_reason":
		raw, ok := c.scan.value()
		if ok && raw[0] == '"' && filled(raw) {
			c.finish = plain(raw)
		}
		return ok
	}
	return c.scan.skip()
}

func (c *chunk) delta() bool {
	c.role, c.blank = false, false
	ok := c.scan.members(c.deltaMember)
	c.known(c.blank && !c.role)
	return ok
}

// known notes that vllm bench serve takes the choice at hand for output: it looks at the first one only.
func (c *chunk) known(is bool) { c.output = c.output || is && c.choices == 1 }

func (c *chunk) deltaMember(name []byte) bool {
	switch string(name) {
	case "role":
		c.role = true
	case "content":
		return c.said()
	case "tool_calls", "function_call", "refusal":
		raw, ok := c.scan.value()
		if filled(raw) {
			c.token, c.answer = true, true
			c.known(name[0] != 'r')
		}
		return ok
	case reasoningShort:
		return c.thought(reasoningShort)
	case reasoningLong:
		return c.thought(reasoningLong)
	}
	return c.scan.skip()
}

// said notes text of the answer.
func (c *chunk) said() bool {
	raw, ok := c.scan.value()
	c.blank = string(raw) == `""`
	if ok && filled(raw) {
		c.token, c.answer = true, true
		c.known(true)
		if raw[0] == '"' && c.text == nil {
			c.text = raw
		}
	}
	return ok
}

func (c *chunk) thought(field string) bool {
	raw, ok := c.scan.value()
	if ok && filled(raw) {
		c.token, c.reasoning = true, field
		c.known(field == reasoningShort)
	}
	return ok
}

func (c *chunk) count(name []byte) bool {
	switch string(name) {
	case "prompt_tokens":
		return c.counted(&c.usage.in)
	case "completion_tokens":
		return c.counted(&c.usage.out)
	case "prompt_tokens_details":
		if c.scan.peek() == '{' {
			return c.scan.members(c.detail)
		}
	}
	return c.scan.skip()
}

func (c *chunk) detail(name []byte) bool {
	if string(name) == "cached_tokens" {
		return c.counted(&c.usage.cached)
	}
	return c.scan.skip()
}

// counted reads a count: -1 for null, less for what is no count.
func (c *chunk) counted(n *int) bool {
	raw, ok := c.scan.value()
	if !ok {
		return false
	}
	*n = -1
	if !bytes.Equal(raw, []byte("null")) {
		v, is := count(raw)
		if !is {
			v = -2
		}
		*n = v
	}
	return true
}
