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

// Reset posts to a path of the server's origin, such as /reset_prefix_cache of vLLM or /flush_cache of SGLang, so that a
// run does not meet what the run before left in a cache. An empty path does nothing.
func Reset(ctx context.Context, baseURL, path string) error {
	if path == "" {
		return nil
	}
	u, err := url.Parse(baseURL)
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
	transport := &http.Transport{DisableKeepAlives: true} // no proxy of the environment
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
