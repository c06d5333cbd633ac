package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// keepFor is how long an idle connection is kept: below the 5 s after which uvicorn and llama-server close theirs, since
// a request sent into a closing connection is lost.
const keepFor = 4 * time.Second

// maxHeader bounds the headers of an answer, in bytes.
const maxHeader = 256 << 10

// wire owns the connections to one target. There is no environment proxy, no compression, no HTTP/2 and no redirect.
type wire struct {
	dialer *dialer
	spare  *spare
	plain  *http.Transport // for what is not measured: it opens a connection for every request
}

func newWire(base *url.URL, o Options) *wire {
	d := newDialer(base, o.Timeouts.Connect)
	if o.Dial != nil {
		d.dial = o.Dial
	}
	return &wire{dialer: d, spare: &spare{most: o.Connections}, plain: newTransport(d.dialed, -1)}
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// newTransport makes a transport over dial, which does the TLS handshake itself: that is how its errors are told apart.
func newTransport(dial dialFunc, keep int) *http.Transport {
	return &http.Transport{
		DialContext:            dial,
		DialTLSContext:         dial,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // no HTTP/2
		DisableCompression:     true,
		MaxIdleConns:           max(keep, 0),
		MaxIdleConnsPerHost:    keep,
		IdleConnTimeout:        keepFor,
		MaxResponseHeaderBytes: maxHeader,
		ReadBufferSize:         16 << 10,
		WriteBufferSize:        16 << 10,
	}
}

func (w *wire) close() {
	w.spare.drop()
	w.plain.CloseIdleConnections()
}

// Open opens n connections, so that no request of the run to come waits for one, and closes those of the run before.
// Requests take them in the order they were opened; what is not taken within 4 s is closed.
func (c *Client) Open(ctx context.Context, n int) error {
	c.wire.close()
	errs := make([]error, n)
	var all sync.WaitGroup
	places := make(chan struct{}, 32) // at once: small servers have short queues
	for i := range n {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			errs[i] = c.wire.prepare(ctx)
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			f := classify(context.Cause(ctx), err)
			return fmt.Errorf("open %d connections to %q: %s", n, c.base.Host, c.redact.clean(f.message))
		}
	}
	return nil
}

// prepare opens a connection ahead.
func (w *wire) prepare(ctx context.Context) error {
	c, err := w.dialer.open(ctx)
	if err == nil {
		w.spare.ahead(c)
	}
	return err
}

// stage says what opening a connection was doing when it failed.
type stage struct {
	tls bool
	err error
}

func (s *stage) Error() string { return s.err.Error() }
func (s *stage) Unwrap() error { return s.err }

// dialer opens connections to one address. A name is resolved once; its address is asked again only when it fails.
type dialer struct {
	hostPort string
	tls      *tls.Config // nil for plain HTTP
	limit    time.Duration
	dial     dialFunc

	mu   sync.Mutex
	addr string // what hostPort stood for
}

func newDialer(base *url.URL, limit time.Duration) *dialer {
	port := base.Port()
	d := &dialer{limit: limit, dial: new(net.Dialer).DialContext}
	if base.Scheme == "https" {
		d.tls = &tls.Config{ServerName: base.Hostname(), NextProtos: []string{"http/1.1"}}
		if port == "" {
			port = "443"
		}
	} else if port == "" {
		port = "80"
	}
	d.hostPort = net.JoinHostPort(base.Hostname(), port)
	return d
}

func (d *dialer) address() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.addr
}

// dialed is open for a transport. Network and address are those of the target, whatever is given.
func (d *dialer) dialed(ctx context.Context, _, _ string) (net.Conn, error) { return d.secured(ctx) }

// open opens a connection that requests can be sent on.
func (d *dialer) open(ctx context.Context) (*conn, error) {
	nc, err := d.secured(ctx)
	if err != nil {
		return nil, err
	}
	return newConn(nc), nil
}

// secured opens a connection, TLS handshake included.
func (d *dialer) secured(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.limit, connectTimeout(d.limit))
	defer cancel()
	nc, err := d.connect(ctx)
	if err != nil {
		return nil, inTime(ctx, &stage{err: err})
	}
	if d.tls == nil {
		return nc, nil
	}
	secure := tls.Client(&sock{Conn: nc}, d.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, inTime(ctx, &stage{tls: true, err: err})
	}
	return secure, nil
}

// inTime replaces an error that came of the connect limit by that limit.
func inTime(ctx context.Context, err error) error {
	settle(ctx)
	var limit *limitError
	if errors.As(context.Cause(ctx), &limit) {
		return limit
	}
	return err
}

// settle waits until a context whose deadline has passed says so: package net looks at the clock, and may see it earlier.
func settle(ctx context.Context) {
	if until, ok := ctx.Deadline(); ok && !time.Now().Before(until) {
		<-ctx.Done()
	}
}

func (d *dialer) connect(ctx context.Context) (net.Conn, error) {
	if known := d.address(); known != "" {
		nc, err := d.dial(ctx, "tcp", known)
		settle(ctx)
		if err == nil || known == d.hostPort || ctx.Err() != nil {
			return nc, err
		}
	}
	nc, err := d.dial(ctx, "tcp", d.hostPort)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.addr = nc.RemoteAddr().String()
	d.mu.Unlock()
	return nc, nil
}
