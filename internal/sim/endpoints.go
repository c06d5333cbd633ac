package sim

import (
	"net/http"
	"strings"
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
