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
	kept   *http.Transport // keeps its connections
	fresh  *http.Transport // opens one for every request: for those that a kept one lost
}

func newWire(base *url.URL, o Options) *wire {
	d := newDialer(base, o.Timeouts.Connect)
	if o.Dial != nil {
		d.dial = o.Dial
	}
	fresh := newTransport(d.open, -1)
	return &wire{dialer: d, kept: newTransport(d.spareOrOpen, o.Connections), fresh: fresh}
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
	w.dialer.drop()
	w.kept.CloseIdleConnections()
	w.fresh.CloseIdleConnections()
}

// Open opens n connections, so that no request of the run to come waits for one, and closes those of the run before.
// Requests take them in the order they were opened; what is not taken within 4 s is closed.
func (c *Client) Open(ctx context.Context, n int) error {
	d := c.wire.dialer
	c.wire.close()
	errs := make([]error, n)
	var all sync.WaitGroup
	places := make(chan struct{}, 32) // at once: small servers have short queues
	for i := range n {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			errs[i] = d.prepare(ctx)
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			f := classify(ctx, err)
			return fmt.Errorf("open %d connections to %q: %s", n, c.base.Host, c.redact.clean(f.message))
		}
	}
	return nil
}

// stage says what opening a connection was doing when it failed.
type stage struct {
	tls bool
	err error
}

func (s *stage) Error() string { return s.err.Error() }
func (s *stage) Unwrap() error { return s.err }

// conn is a connection that knows whether it was opened ahead of its request, so that the server may have closed it.
type conn struct {
	net.Conn
	early  bool
	opened time.Time
}

// dialer opens connections to one address. A name is resolved once; its address is asked again only when it fails.
type dialer struct {
	hostPort string
	tls      *tls.Config // nil for plain HTTP
	limit    time.Duration
	dial     dialFunc

	mu     sync.Mutex
	addr   string // what hostPort stood for
	spare  []*conn
	expire *time.Timer
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

// spareOrOpen takes the oldest connection that was opened ahead, or opens one.
func (d *dialer) spareOrOpen(ctx context.Context, network, address string) (net.Conn, error) {
	if c := d.take(); c != nil {
		return c, nil
	}
	return d.open(ctx, network, address)
}

func (d *dialer) take() *conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.spare) > 0 {
		c := d.spare[0]
		d.spare = d.spare[1:]
		if time.Since(c.opened) < keepFor {
			return c
		}
		c.Close()
	}
	return nil
}

// prepare opens a connection ahead.
func (d *dialer) prepare(ctx context.Context) error {
	nc, err := d.open(ctx, "tcp", d.hostPort)
	if err != nil {
		return err
	}
	c := nc.(*conn)
	c.early = true
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spare = append(d.spare, c)
	if d.expire == nil {
		d.expire = time.AfterFunc(keepFor, d.drop)
	} else {
		d.expire.Reset(keepFor)
	}
	return nil
}

// drop closes what was opened ahead and not used.
func (d *dialer) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.spare {
		c.Close()
	}
	d.spare = nil
	if d.expire != nil {
		d.expire.Stop()
	}
}

// open opens a connection, TLS handshake included. Network and address are those of the target, whatever is given.
func (d *dialer) open(ctx context.Context, _, _ string) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.limit, connectTimeout(d.limit))
	defer cancel()
	nc, err := d.connect(ctx)
	if err != nil {
		return nil, inTime(ctx, &stage{err: err})
	}
	if d.tls != nil {
		secure := tls.Client(nc, d.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			nc.Close()
			return nil, inTime(ctx, &stage{tls: true, err: err})
		}
		nc = secure
	}
	return &conn{Conn: nc, opened: time.Now()}, nil
}

// inTime replaces an error that came of the connect limit by that limit.
func inTime(ctx context.Context, err error) error {
	var limit *limitError
	if errors.As(context.Cause(ctx), &limit) {
		return limit
	}
	return err
}

func (d *dialer) connect(ctx context.Context) (net.Conn, error) {
	if known := d.address(); known != "" {
		if nc, err := d.dial(ctx, "tcp", known); err == nil || known == d.hostPort {
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
