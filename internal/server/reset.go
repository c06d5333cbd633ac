package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// resetWithin bounds a reset: emptying a cache is quick, and a server that hangs here would hang the campaign.
const resetWithin = time.Minute

// Reset posts to the target's reset path, such as /reset_prefix_cache of vLLM or /flush_cache of SGLang, so that a run does
// not meet what the run before left in a cache. The path belongs to the server's origin; the API key goes with it. Without
// a path it does nothing.
func (s *Server) Reset(ctx context.Context) error {
	path := s.o.Target.ResetPath
	if path == "" {
		return nil
	}
	u, err := url.Parse(s.BaseURL())
	if err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	u = u.ResolveReference(&url.URL{Path: path})
	ctx, cancel := context.WithTimeout(ctx, resetWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), nil)
	if err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	if s.o.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+s.o.APIKey)
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: s.o.Dial} // no proxy of the environment
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode >= 300 {
		return fmt.Errorf("reset: POST %s answered %s", path, resp.Status)
	}
	return nil
}
