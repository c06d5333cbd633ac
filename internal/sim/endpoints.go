package sim

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Version is what /version answers.
const Version = "1"

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": s.options.Model, "object": "model", "created": s.started.Unix(), "owned_by": "benchgate-sim", "max_model_len": maxModel,
	}}})
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if s.fault.loading > 0 && time.Since(s.started) < s.fault.loading/2 {
		refuse(w, apiError{http.StatusServiceUnavailable, "Loading model", "unavailable_error", ""})
		return
	}
	answerJSON(w, http.StatusOK, map[string]any{"status": "ok"})
}

func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, http.StatusOK, map[string]any{"version": Version})
}

// counters are totals since the start.
type counters struct{ ok, failed, prompt, generated, cached atomic.Int64 }

// metrics answers in the Prometheus text format.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	c := &s.counts
	for _, m := range []struct {
		name, kind, help string
		value            int64
	}{
		{"requests_running", "gauge", "Requests that hold a slot.", int64(s.slots.busy())},
		{"requests_waiting", "gauge", "Requests that wait for a slot.", int64(s.slots.waiting())},
		{"slots", "gauge", "Slots of this server.", int64(s.options.Slots)},
		{"requests_success_total", "counter", "Generations that were answered whole.", c.ok.Load()},
		{"requests_failure_total", "counter", "Generations that were refused or broke off.", c.failed.Load()},
		{"prompt_tokens_total", "counter", "Prompt tokens of accepted requests.", c.prompt.Load()},
		{"cached_tokens_total", "counter", "Prompt tokens that came from the cache.", c.cached.Load()},
		{"generation_tokens_total", "counter", "Tokens written.", c.generated.Load()},
	} {
		fmt.Fprintf(w, "# HELP simulated_%[1]s %[2]s\n# TYPE simulated_%[1]s %[3]s\nsimulated_%[1]s{model_name=%[4]q} %[5]d\n",
			m.name, m.help, m.kind, s.options.Model, m.value)
	}
}

// tokenize answers as llama-server does to {"content": …}, and as vLLM does to {"prompt": …} or {"messages": […]}.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Content    *string   `json:"content"`
		WithPieces bool      `json:"with_pieces"`
		Prompt     *string   `json:"prompt"`
		Messages   []message `json:"messages"`
	}
	if err := decode(w, r, &b); err != nil {
		refuse(w, err)
		return
	}
	switch {
	case b.Content != nil && b.WithPieces:
		answerJSON(w, http.StatusOK, map[string]any{"tokens": pieces(*b.Content)})
	case b.Content != nil:
		answerJSON(w, http.StatusOK, map[string]any{"tokens": idsOf(*b.Content)})
	case b.Prompt != nil:
		ids := idsOf(*b.Prompt)
		answerJSON(w, http.StatusOK, map[string]any{"count": len(ids), "max_model_len": maxModel, "tokens": ids})
	case b.Messages != nil:
		texts := make([]string, len(b.Messages))
		for i, m := range b.Messages {
			texts[i] = string(m.Content)
		}
		p := chatPrompt(texts)
		// The template's own tokens stand behind the words, as zeros: their number is all that matters.
		ids := append(p.ids, make([]int, p.over)...)
		answerJSON(w, http.StatusOK, map[string]any{"count": len(ids), "max_model_len": maxModel, "tokens": ids})
	default:
		refuse(w, bad("content", "content, prompt or messages is missing"))
	}
}

func pieces(text string) []any {
	out := []any{}
	for _, w := range strings.Fields(text) {
		out = append(out, map[string]any{"id": idOf(w), "piece": w})
	}
	return out
}

// cache remembers prompts, for the fault that has one.
type cache struct {
	mu   sync.Mutex
	keys map[uint64]bool
}

const keptPrompts = 1 << 16

// met says whether the key was here before, and remembers it.
func (c *cache) met(key uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys[key] {
		return true
	}
	if c.keys == nil || len(c.keys) >= keptPrompts {
		c.keys = map[uint64]bool{}
	}
	c.keys[key] = true
	return false
}

// recall makes a repeated prompt cheap: all but its last token come from the cache.
func (s *Server) recall(a *answer) {
	key := a.prompt.key
	if s.fault.saltBlind {
		key = a.prompt.unsalted()
	}
	if !s.fault.caches || !s.seen.met(key) {
		return
	}
	a.cached, a.faster = a.prompt.tokens()-1, 0.1
	s.counts.cached.Add(int64(a.cached))
}
