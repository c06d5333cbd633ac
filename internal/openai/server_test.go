package openai

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// client makes a client of a server for a test.
func client(t testing.TB, url string, more ...func(*Options)) *Client {
	t.Helper()
	o := Options{BaseURL: url + "/v1", Model: "m", Timeouts: Timeouts{
		Connect: 20 * time.Second, FirstToken: 20 * time.Second, Idle: 20 * time.Second, Total: 40 * time.Second,
	}}
	for _, set := range more {
		set(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// clock is a run's clock that begins now.
func clock() func() float64 {
	start := time.Now()
	return func() float64 { return time.Since(start).Seconds() }
}

// streaming is a server that answers every request with a stream in the pieces set last.
type streaming struct {
	mu     sync.Mutex
	pieces [][]byte
}

func (s *streaming) set(pieces ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pieces = pieces
}

func (s *streaming) get() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pieces
}

func (s *streaming) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	for _, p := range s.get() {
		_, _ = w.Write(p) // the client may have left
		w.(http.Flusher).Flush()
	}
}

func serve(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// raw is a server below HTTP: each connection goes to handle after a request was read, again and again until it closes.
func raw(t testing.TB, handle func(c net.Conn, number int) (keep bool)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	rawOn(t, l, handle)
	return "http://" + l.Addr().String()
}

// rawOn is raw behind a listener.
func rawOn(t testing.TB, l net.Listener, handle func(c net.Conn, number int) (keep bool)) {
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for number := 1; ; number++ {
					if !readRequest(in) || !handle(c, number) {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
}

func readRequest(in *bufio.Reader) bool {
	r, err := http.ReadRequest(in)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}

// answering is a raw server that answers with the pieces set last and closes the connection.
func answering(t testing.TB) (*streaming, string) {
	var s streaming
	return &s, raw(t, func(c net.Conn, _ int) bool {
		for _, p := range s.get() {
			if _, err := c.Write(p); err != nil {
				break
			}
		}
		return false
	})
}

// quiet swallows what a server has to say about a client that it could not shake hands with.
var quiet = log.New(io.Discard, "", 0)
