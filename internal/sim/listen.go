package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Running is a server that listens.
type Running struct {
	server   *Server
	http     *http.Server
	listener net.Listener
	done     chan struct{}
	close    func() error
}

// Listen starts a server on a TCP address such as "127.0.0.1:0".
func Listen(o Options, addr string) (*Running, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("simulated server: %w", err)
	}
	return Serve(New(o), l), nil
}

// Serve lets a server answer on a listener, which it closes in the end.
func Serve(s *Server, l net.Listener) *Running {
	if s.fault.paper != nil {
		l = s.fault.paper.listen(l)
	}
	if s.fault.late > 0 {
		l = lateListener{l, s.fault.late}
	}
	r := &Running{server: s, listener: l, done: make(chan struct{})}
	life, end := context.WithCancel(context.Background())
	r.http = &http.Server{
		Handler: s, ReadHeaderTimeout: 30 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return life }, ConnContext: withCaller,
	}
	r.close = sync.OnceValue(r.end)
	var open sync.WaitGroup // connections
	r.http.ConnState = func(_ net.Conn, c http.ConnState) {
		switch c {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed, http.StateHijacked:
			open.Done()
		}
	}
	served := make(chan error, 1)
	go func() { served <- r.http.Serve(l) }()
	go func() {
		defer close(r.done)
		select {
		case <-s.dead:
			end()
			_ = r.http.Close()
			<-served
		case <-served:
			s.die()
			end()
		}
		open.Wait()
	}()
	return r
}

// end closes and waits for everything to be over.
func (r *Running) end() error {
	r.server.die()
	err := r.http.Close()
	<-r.done
	if errors.Is(err, net.ErrClosed) { // a fault had closed it
		return nil
	}
	return err
}

// URL is the origin, such as "http://127.0.0.1:8000", or https:// with a fault of TLS.
func (r *Running) URL() string {
	if r.server.fault.paper != nil {
		return "https://" + r.listener.Addr().String()
	}
	return "http://" + r.listener.Addr().String()
}

// BaseURL is what an OpenAI client wants: the origin and "/v1".
func (r *Running) BaseURL() string { return r.URL() + "/v1" }

// Server is the server behind the listener; it holds the records.
func (r *Running) Server() *Server { return r.server }

// Done is closed when nothing is served any more, by Close or by the fault of dying.
func (r *Running) Done() <-chan struct{} { return r.done }

// Close stops listening, breaks every connection and waits for the requests in hand.
func (r *Running) Close() error { return r.close() }

// caller is a connection and how many requests came on it.
type caller struct {
	conn     net.Conn
	requests atomic.Int64
}

type callerKey struct{}

func withCaller(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, callerKey{}, &caller{conn: c})
}

// callerOf is nil where the server is not behind Serve.
func callerOf(r *http.Request) *caller {
	c, _ := r.Context().Value(callerKey{}).(*caller)
	return c
}

// kept says that the request is not the first on its connection. It counts, so it is asked once a request.
func kept(r *http.Request) bool {
	c := callerOf(r)
	return c != nil && c.requests.Add(1) > 1
}
