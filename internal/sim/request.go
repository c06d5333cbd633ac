package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"
)

const (
	maxBody  = 16 << 20
	maxModel = 131072 // tokens of prompt and answer together
)

// request is a valid request for a generation.
type request struct {
	chat   bool
	prompt prompt
	limit  int // tokens to write
	// limited says that the client set the limit; without one the answer ends of itself.
	limited   bool
	exact     bool // ignore_eos, or as many min_tokens as the limit
	oldLimit  bool // set by max_tokens
	newLimit  bool // set by max_completion_tokens
	streaming bool
	usage     bool // in the stream
}

// body is what clients send. Sampling parameters are accepted and change nothing.
type body struct {
	Model               *string         `json:"model"`
	Prompt              json.RawMessage `json:"prompt"`
	Messages            []message       `json:"messages"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	N                   *int            `json:"n"`
	Stream              bool            `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// content is a string, a list of text parts, or null.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		var parts []struct{ Type, Text string }
		if err := json.Unmarshal(data, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			if p.Type != "text" {
				return fmt.Errorf("a content part of type %q cannot be read here, only text", p.Type)
			}
			*c += content(p.Text)
		}
		return nil
	}
	// What needs no decoding is taken as it stands: a burst of requests is not to wait for their parsing.
	if n := len(data); data[0] == '"' && bytes.IndexByte(data, '\\') < 0 && utf8.Valid(data) {
		*c = content(data[1 : n-1])
		return nil
	}
	return json.Unmarshal(data, (*string)(c))
}

// apiError is an answer in OpenAI's error shape.
type apiError struct {
	status              int
	message, code, from string // from is the parameter at fault
}

func (e apiError) Error() string { return e.message }

func bad(from, format string, args ...any) error {
	return apiError{http.StatusBadRequest, fmt.Sprintf(format, args...), "bad_request", from}
}

func refuse(w http.ResponseWriter, err error) {
	var e apiError
	if !errors.As(err, &e) {
		e = apiError{status: http.StatusInternalServerError, message: err.Error(), code: "server_error"}
	}
	answerJSON(w, e.status, e.shape())
}

func (e apiError) shape() any {
	kind := "invalid_request_error"
	if e.status >= 500 {
		kind = "server_error"
	}
	return map[string]any{"error": map[string]any{"message": e.message, "type": kind, "param": orNull(e.from), "code": e.code}}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // the client's loss when it has gone
}

// decode reads a JSON body whole.
func decode(w http.ResponseWriter, r *http.Request, into any) error {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return apiError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", maxBody), "too_large", ""}
	case err != nil:
		return bad("", "read the body: %v", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return bad("", "the body is not the JSON asked for: %v", err)
	}
	return nil
}

func (s *Server) request(w http.ResponseWriter, r *http.Request, chat bool) (request, error) {
	var b body
	if err := decode(w, r, &b); err != nil {
		return request{}, err
	}
	if b.Model != nil && *b.Model != s.options.Model {
		return request{}, apiError{
			http.StatusNotFound, fmt.Sprintf("the model %q does not exist; this server has %q", *b.Model, s.options.Model), "model_not_found", "model",
		}
	}
	if b.N != nil && *b.N != 1 {
		return request{}, bad("n", "n must be 1")
	}
	p, err := b.prompt(chat)
	if err != nil {
		return request{}, err
	}
	q := request{chat: chat, prompt: p, streaming: b.Stream, usage: b.StreamOptions != nil && b.StreamOptions.IncludeUsage}
	return q, q.bound(b)
}

func (b body) prompt(chat bool) (prompt, error) {
	switch {
	case chat && len(b.Messages) == 0 && b.Prompt != nil:
		return prompt{}, bad("messages", "messages is missing: a prompt belongs to /v1/completions")
	case chat && len(b.Messages) == 0:
		return prompt{}, bad("messages", "messages is missing")
	case chat:
		texts := make([]string, len(b.Messages))
		for i, m := range b.Messages {
			texts[i] = string(m.Content)
		}
		return chatPrompt(texts), nil
	case isNull(b.Prompt) && b.Messages != nil:
		return prompt{}, bad("prompt", "prompt is missing: messages belong to /v1/chat/completions")
	case isNull(b.Prompt):
		return prompt{}, bad("prompt", "prompt is missing")
	}
	return readPrompt(b.Prompt)
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// readPrompt reads a text, a list of token ids, or a list of exactly one of either.
func readPrompt(raw json.RawMessage) (prompt, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return promptOf(idsOf(text)), nil
	}
	var ids []int
	if json.Unmarshal(raw, &ids) == nil {
		for _, id := range ids {
			if id < 0 {
				return prompt{}, bad("prompt", "token id %d is negative", id)
			}
		}
		return promptOf(ids), nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 && !strings.HasPrefix(string(list[0]), "{") {
		return readPrompt(list[0])
	}
	return prompt{}, bad("prompt", "prompt must be one text or one list of token ids")
}

// bound fills in how many tokens to write.
func (q *request) bound(b body) error {
	q.limit = 16
	if q.chat {
		q.limit = 64
	}
	q.oldLimit, q.newLimit = b.MaxTokens != nil, b.MaxCompletionTokens != nil
	switch {
	case q.newLimit:
		q.limit, q.limited = *b.MaxCompletionTokens, true
	case q.oldLimit:
		q.limit, q.limited = *b.MaxTokens, true
	}
	switch in := q.prompt.tokens(); {
	case len(q.prompt.ids) == 0:
		return bad("prompt", "the prompt is empty")
	case q.limit < 1:
		return bad("max_tokens", "max_tokens must be at least 1, got %d", q.limit)
	case q.limit > maxModel || in+q.limit > maxModel:
		return bad("max_tokens", "this model has %d tokens of context; %d in the prompt and %d asked for are too many", maxModel, in, q.limit)
	case b.MinTokens < 0 || b.MinTokens > q.limit:
		return bad("min_tokens", "min_tokens must lie between 0 and max_tokens, got %d of %d", b.MinTokens, q.limit)
	}
	q.exact = b.IgnoreEOS || b.MinTokens == q.limit
	return nil
}
