package server

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// resetWithin bounds a reset: emptying a cache is quick, and a server that hangs here would hang the campaign.
const resetWithin = time.Minute

// hintNoReset is what to do about a server that has nothing at the path.
const hintNoReset = "vLLM has /reset_prefix_cache only when it is started with VLLM_SERVER_DEV_MODE=1 in target.env, SGLang has /flush_cache, " +
	"llama-server and Ollama have none: remove target.reset, since every run has prompts of its own"

// Reset posts to the target's reset path, such as /reset_prefix_cache of vLLM or /flush_cache of SGLang, so that a run does
// not meet what the run before left in a cache. The path belongs to the server's origin; the API key goes with it. Without
// a path it does nothing.
func (s *Server) Reset(ctx context.Context) error {
	path := s.o.Target.ResetPath
	if path == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, resetWithin)
	defer cancel()
	resp, err := s.knock(ctx, http.MethodPost, path)
	if err != nil {
		return fmt.Errorf("reset: %w", s.hearsay(err))
	}
	defer resp.Body.Close()
	discard(resp.Body)
	if resp.StatusCode < 300 {
		return nil
	}
	err = fmt.Errorf("reset: POST %s answered %s", path, status(resp.StatusCode))
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		err = &Error{err: err, hint: hintNoReset}
	}
	return err
}
