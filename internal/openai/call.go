package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// Prompt is what is asked: exactly one field is set.
type Prompt struct {
	Text string `json:"text,omitempty"`
	// Tokens are the token ids of the prompt; only Completions takes them.
	Tokens []int `json:"tokens,omitempty"`
	// Messages is a conversation; only Chat takes it.
	Messages []Message `json:"messages,omitempty"`
}

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Call is one request to send.
type Call struct {
	Index  int
	Prompt Prompt
	// MaxTokens is how many tokens are asked for; zero sends no limit, and then no answer is too long.
	MaxTokens int
	// Exact asks the server to write neither more nor fewer: ignore_eos and min_tokens. Fewer is then a failure.
	Exact bool
	// Scheduled is when the schedule wanted it sent, on the clock that Do is given; it is only passed on.
	Scheduled float64
}

// owned are the members of the body that the measurement stands on: extra_body may not change them.
var owned = []string{"model", "stream", "stream_options", "messages", "prompt", "n", MaxTokens, MaxCompletionTokens}

// fixedBody makes the members that every request shares, sorted by name and without the outer braces.
func fixedBody(o Options, usage bool) ([]byte, error) {
	members := map[string]any{"model": o.Model, "stream": true}
	if usage {
		members["stream_options"] = map[string]any{"include_usage": true}
	}
	if o.Temperature != nil {
		members["temperature"] = *o.Temperature
	}
	for name, value := range o.ExtraBody {
		if slices.Contains(owned, name) {
			return nil, fmt.Errorf("extra_body: %q is set by the measurement itself and cannot be overridden", name)
		}
		members[name] = value
	}
	return joinMembers(members)
}

func joinMembers(members map[string]any) ([]byte, error) {
	body, err := json.Marshal(members) // sorts the names
	if err != nil {
		return nil, fmt.Errorf("extra_body: %w", err)
	}
	return body[1 : len(body)-1], nil
}

// head makes the head of every request, as net/http writes it, up to the number that says how long the body is, and what
// follows that number.
func (c *Client) head() (before, after []byte, err error) {
	path := "chat/completions"
	if c.options.API == Completions {
		path = "completions"
	}
	req, err := http.NewRequest(http.MethodPost, c.under(path), http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	c.sign(req)
	var head bytes.Buffer
	if err := req.Write(&head); err != nil {
		return nil, nil, err
	}
	const length = "\r\nContent-Length: "
	before, after, ok := bytes.Cut(head.Bytes(), []byte(length+"0\r\n"))
	if !ok {
		return nil, nil, errors.New("net/http writes no Content-Length")
	}
	return append(before[:len(before):len(before)], length...), append([]byte("\r\n"), after...), nil
}

// request makes all that is sent: head and body.
func (c *Client) request(call Call) ([]byte, error) {
	body, err := c.body(call)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(c.before)+len(c.after)+len(body)+20)
	b = strconv.AppendInt(append(b, c.before...), int64(len(body)), 10)
	return append(append(b, c.after...), body...), nil
}

// body makes the request's JSON.
func (c *Client) body(call Call) ([]byte, error) {
	b := make([]byte, 0, len(c.fixed)+len(call.Prompt.Text)+8*len(call.Prompt.Tokens)+256)
	b = append(append(b, '{'), c.fixed...)
	if call.MaxTokens > 0 {
		b = appendMember(b, c.limit, call.MaxTokens)
	}
	if call.Exact {
		for _, name := range slices.Sorted(maps.Keys(exactly(call.MaxTokens))) {
			if _, set := c.options.ExtraBody[name]; !set {
				b = append(appendName(b, name), exactly(call.MaxTokens)[name]...)
			}
		}
	}
	b, err := c.appendPrompt(b, call.Prompt)
	if err != nil {
		return nil, err
	}
	return append(b, '}'), nil
}

// exactly are the members that make a server write n tokens, no more and no fewer.
func exactly(n int) map[string]string {
	return map[string]string{"ignore_eos": "true", "min_tokens": strconv.Itoa(n)}
}

func (c *Client) appendPrompt(b []byte, p Prompt) ([]byte, error) {
	chat := c.options.API == Chat
	switch {
	case chat && len(p.Tokens) > 0:
		return nil, errors.New("the chat endpoint takes no token ids: send text, or use the completions api")
	case !chat && len(p.Messages) > 0:
		return nil, errors.New("the completions endpoint takes no messages: send text, or use the chat api")
	case !chat && len(p.Tokens) > 0:
		return appendInts(appendName(b, "prompt"), p.Tokens), nil
	case !chat:
		return appendJSON(appendName(b, "prompt"), p.Text)
	case len(p.Messages) > 0:
		return appendJSON(appendName(b, "messages"), p.Messages)
	}
	return appendJSON(appendName(b, "messages"), []Message{{Role: "user", Content: p.Text}})
}

func appendName(b []byte, name string) []byte {
	b = append(b, ',', '"')
	return append(append(b, name...), '"', ':')
}

func appendMember(b []byte, name string, value int) []byte {
	return strconv.AppendInt(appendName(b, name), int64(value), 10)
}

func appendInts(b []byte, values []int) []byte {
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return append(b, ']')
}

func appendJSON(b []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(b, text...), err
}
