package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// metricsWithin bounds one look at the metrics: it stands between two runs, and a server that hangs here hangs them.
	metricsWithin = 5 * time.Second
	// mostMetrics bounds what is read of them, in bytes: vLLM with every model and every label sends some hundred KiB.
	mostMetrics = 16 << 20
)

// errNoMetrics says that a server has none: nothing is wrong with it.
var errNoMetrics = errors.New("the server has no metrics")

// Counters reads the server's metrics. False without an error: the target has metrics: off, or the server has none that
// this program knows. An error is a server that has some and could not be understood; neither is a reason to stop.
func (s *Server) Counters(ctx context.Context) (Counters, bool, error) {
	path := s.o.Target.Metrics
	if path == "" {
		return Counters{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, metricsWithin)
	defer cancel()
	c, err := s.scrape(ctx, path)
	switch {
	case errors.Is(err, errNoMetrics):
		return Counters{}, false, nil
	case err != nil:
		return Counters{}, false, fmt.Errorf("read %s: %w", path, s.hearsay(err))
	}
	return c, true, nil
}

func (s *Server) scrape(ctx context.Context, path string) (Counters, error) {
	resp, err := s.knock(ctx, http.MethodGet, path)
	if err != nil {
		return Counters{}, err
	}
	defer resp.Body.Close()
	switch kind := strings.ToLower(resp.Header.Get("Content-Type")); {
	case resp.StatusCode/100 == 5 && resp.StatusCode != http.StatusNotImplemented:
		return Counters{}, fmt.Errorf("the server answered %s", status(resp.StatusCode))
	case resp.StatusCode != http.StatusOK, strings.HasPrefix(kind, "application/json"), strings.HasPrefix(kind, "text/html"):
		return Counters{}, errNoMetrics
	}
	return readCounters(resp.Body, mostMetrics)
}

// knock sends one request without a body to a path of the server's origin, with the API key, on a connection of its own.
func (s *Server) knock(ctx context.Context, method, path string) (*http.Response, error) {
	base, err := url.Parse(s.BaseURL())
	if err != nil {
		return nil, errors.New("target.base_url is not a URL")
	}
	to, err := base.Parse(path)
	if err != nil || to.Host != base.Host || to.Scheme != base.Scheme {
		return nil, fmt.Errorf("%q is no path of the server", path)
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), nil)
	if err != nil {
		return nil, err
	}
	if s.o.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+s.o.APIKey)
	}
	// No proxy of the environment, no compression.
	t := &http.Transport{DisableKeepAlives: true, DisableCompression: true, DialContext: s.o.Dial}
	return t.RoundTrip(req)
}

// discard reads the rest of a short body, so that the server sees its answer taken.
func discard(body io.Reader) { _, _ = io.Copy(io.Discard, io.LimitReader(body, 1<<20)) }
