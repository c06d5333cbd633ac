package openai

import (
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"sync"
	"time"
)

// keepAlive is what the head of an answer says of the connection after it: see Capabilities.KeepAlive.
func keepAlive(resp *http.Response) string {
	switch told := resp.Header.Get("Keep-Alive"); {
	case resp.Close:
		return "closed after each answer"
	case told != "":
		return told
	}
	return "kept"
}

// sample is a line of Prometheus' text format with a value.
var sample = regexp.MustCompile(`(?m)^[a-zA-Z_:][a-zA-Z0-9_:]*(\{.*\})?[ \t]+(\+Inf|-Inf|NaN|[-+0-9.eE]+)([ \t]+[0-9]+)?[ \t]*$`)

// scrape finds whether the server has metrics.
func (p *probe) scrape(ctx context.Context) {
	path := p.c.options.Metrics
	if path == "" || p.mute {
		return
	}
	at, err := p.c.base.Parse(path)
	if err != nil {
		return
	}
	status, _, body, err := p.c.plain(ctx, http.MethodGet, at.String(), nil)
	p.caps.Metrics = err == nil && status == http.StatusOK && sample.Match(body)
}

// Idle finds how long the server keeps a connection that nothing is asked on: it puts one question, waits for up to the
// given time, and says after how long the server closed. False: it was still open in the end. An error is an *Error unless
// the context is over.
func (c *Client) Idle(ctx context.Context, wait time.Duration) (after time.Duration, closed bool, err error) {
	limited, cancel := context.WithTimeout(ctx, wait+10*time.Second)
	defer cancel()
	w := &watched{closed: make(chan struct{})}
	t := newTransport(func(ctx context.Context, network, address string) (_ net.Conn, err error) {
		w.Conn, err = c.wire.dialer.dialed(ctx, network, address)
		return w, err
	}, 1)
	t.IdleConnTimeout = 0
	defer t.CloseIdleConnections()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, c.under("models"), nil)
	if err != nil {
		return 0, false, err
	}
	c.sign(req)
	resp, err := t.RoundTrip(req)
	if err != nil {
		return 0, false, c.unwatched(limited, err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxFact)); err != nil {
		return 0, false, c.unwatched(limited, err)
	}
	answered := time.Now()
	rest := time.NewTimer(wait)
	defer rest.Stop()
	select {
	case <-w.closed:
		return time.Since(answered), true, nil
	case <-rest.C:
		return 0, false, nil
	case <-ctx.Done():
		return 0, false, ctx.Err()
	}
}

func (c *Client) unwatched(limited context.Context, err error) error {
	f := classify(context.Cause(limited), err)
	return &Error{Doing: "watch an idle connection", Class: f.class, Said: c.redact.clean(f.message)}
}

// watched is a connection that tells when the transport closes it, as it does once the server has.
type watched struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (w *watched) Close() error {
	w.once.Do(func() { close(w.closed) })
	return w.Conn.Close()
}
