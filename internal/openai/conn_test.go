package openai

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// unread is a server below HTTP that reads no request: each connection goes to handle at once.
func unread(t *testing.T, handle func(c net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			handle(c)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return "http://" + l.Addr().String()
}

func long() Call { return Call{Prompt: Prompt{Text: strings.Repeat("word ", 4<<20)}, MaxTokens: 20} }

func TestAServerMayAnswerBeforeItHasReadARequest(t *testing.T) {
	refusal := "HTTP/1.1 413 Too Large\r\nContent-Length: 8\r\nConnection: close\r\n\r\ntoo long"
	t.Run("and keep the connection open", func(t *testing.T) {
		url := unread(t, func(c net.Conn) {
			_, _ = io.WriteString(c, refusal)
			_, _ = io.ReadFull(c, make([]byte, 1<<20)) // far from all of it: it never reads on
		})
		r := client(t, url).Do(context.Background(), long(), clock())
		expect(t, r, bench.HTTP4xx, "too long")
		if r.Reconnects != 0 {
			t.Errorf("%d reconnects", r.Reconnects)
		}
	})
	t.Run("and stream", func(t *testing.T) {
		url := unread(t, func(c net.Conn) {
			_, _ = io.WriteString(c, whole)
			_, _ = io.ReadFull(c, make([]byte, 1<<20))
		})
		r := client(t, url).Do(context.Background(), long(), clock())
		expect(t, r, bench.OK, "")
	})
}

func TestALongRequestArrivesWhole(t *testing.T) {
	var got atomic.Int64
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		got.Store(n)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, word+finish+done)
	}))
	c := client(t, url)
	for range 2 { // the connection is used again
		expect(t, c.Do(context.Background(), long(), clock()), bench.OK, "")
		if body, err := c.body(long()); err != nil || got.Load() != int64(len(body)) {
			t.Errorf("%d bytes came, %d were sent: %v", got.Load(), len(body), err)
		}
	}
}

// The head is put together from pieces: it must be what net/http itself would write.
func TestARequestIsWhatNetHTTPWouldWrite(t *testing.T) {
	for _, api := range []string{Chat, Completions} {
		c := client(t, "http://example.test:81/some%20where", func(o *Options) { o.API, o.APIKey = api, "secret" })
		call := Call{Prompt: Prompt{Text: "hello"}, MaxTokens: 7, Exact: true}
		got, err := c.request(call)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(got)))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		want, err := http.NewRequest(http.MethodPost, "http://example.test:81"+r.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Accept", "Content-Type", "Authorization", "User-Agent"} {
			want.Header.Set(name, r.Header.Get(name))
		}
		var wrote bytes.Buffer
		if err := want.Write(&wrote); err != nil {
			t.Fatal(err)
		}
		if wrote.String() != string(got) {
			t.Errorf("%s\nwant\n%s", got, wrote.String())
		}
		if own, err := c.body(call); err != nil || string(own) != string(body) {
			t.Errorf("body %s, want %s: %v", body, own, err)
		}
	}
}

// What one arrival brought has one date, however many pieces of the body it holds and however late they are read.
func TestArrivalsAreDatedWhenTheyComeAndNotWhenTheyAreRead(t *testing.T) {
	now := 0.0
	from := &dated{in: strings.NewReader(streamHead + wrap(word) + wrap(word) + wrap(word)), since: func() float64 { now++; return now }, left: -1}
	resp, err := http.ReadResponse(bufio.NewReader(from), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &answer{held: share{room: &room{most: mostHeld}}, call: Call{MaxTokens: 3}, since: from.since, silence: idleTimeout(time.Hour), lastSilence: idleTimeout(time.Hour)}
	a.watch = newWatch(context.Background(), from.since, time.Hour)
	defer a.watch.stop()
	if err := a.read(resp.Body, from, make([]byte, len(word))); err == nil {
		t.Error("the cut was not seen")
	}
	if q := a.req; q.Chunks != 3 || q.FirstToken != 1 || q.LastToken != 1 || q.Coalesced != 2 {
		t.Errorf("%d chunks from %v to %v, %d coalesced", q.Chunks, q.FirstToken, q.LastToken, q.Coalesced)
	}
}

func TestConnectionsAreNotUsedOnceTheyAreOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int32
		pipe := newPipes()
		served := make(chan struct{})
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			playActs(w, r, []act{{write: word + finish + done}})
		}), ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				opened.Add(1)
			}
		}}
		go func() { defer close(served); _ = server.Serve(pipe) }()
		c := client(t, "http://pipe")
		c.wire.dialer.dial = pipe.dial
		for i, pause := range []time.Duration{0, keepFor - time.Second, keepFor, keepFor - time.Second} {
			time.Sleep(pause)
			if r := ask(c); r.Class != bench.OK || r.Reconnects != 0 {
				t.Errorf("request %d: %s after %d reconnects: %s", i, r.Class, r.Reconnects, r.Error)
			}
		}
		if n := opened.Load(); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
		time.Sleep(2 * keepFor)
		c.wire.spare.mu.Lock()
		if n := len(c.wire.spare.used); n > 0 || c.wire.spare.expire != nil {
			t.Errorf("%d connections lie about", n)
		}
		c.wire.spare.mu.Unlock()
		c.Close()
		_ = server.Close()
		<-served
	})
}

func TestAtMostSoManyConnectionsAreKept(t *testing.T) {
	s := &spare{most: 2}
	var ends []net.Conn
	for range 3 {
		near, far := net.Pipe()
		ends = append(ends, far)
		s.put(newConn(near))
	}
	if len(s.used) != 2 {
		t.Errorf("%d are kept", len(s.used))
	}
	if _, err := ends[2].Write([]byte("x")); err == nil {
		t.Error("the third is open")
	}
	s.drop()
	for i, c := range ends {
		if _, err := c.Write([]byte("x")); err == nil {
			t.Errorf("connection %d is open", i)
		}
	}
}

// A kept connection on which the end or something unasked waits is not used: no request is lost to it, none takes what was
// said for its answer, and none is sent twice.
func TestIdleConnectionsAreLookedAtBeforeTheyAreUsed(t *testing.T) {
	const unasked = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"
	for _, tt := range []struct {
		name         string
		same, later  string // said with the end of the answer, and once that was read
		close, again bool   // the server closes; the connection may be used again
	}{
		{name: "quiet", again: true},
		{name: "closed", close: true},
		{name: "words behind the answer", same: unasked},
		{name: "words", later: unasked},
		{name: "words, then closed", later: unasked, close: true},
	} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, TLS %v", tt.name, secure), func(t *testing.T) {
				read, said := make(chan struct{}), make(chan struct{}, 3)
				defer close(read)
				var conns atomic.Int32
				c := idle(t, secure, func(c net.Conn, number int) bool {
					if number == 1 {
						conns.Add(1)
					}
					_, _ = io.WriteString(c, whole+tt.same)
					<-read
					_, _ = io.WriteString(c, tt.later)
					if tt.close {
						c.Close()
					}
					said <- struct{}{}
					return !tt.close
				})
				for i := range 3 {
					r := ask(c)
					if r.Class != bench.OK || r.Reconnects != 0 {
						t.Fatalf("request %d: %s after %d reconnects: %s", i, r.Class, r.Reconnects, r.Error)
					}
					read <- struct{}{}
					<-said
				}
				if want := map[bool]int32{true: 1, false: 3}[tt.again]; conns.Load() != want {
					t.Errorf("%d connections, want %d", conns.Load(), want)
				}
			})
		}
	}
}

// idle is a client of a raw server, over TLS or not.
func idle(t *testing.T, secure bool, handle func(c net.Conn, number int) bool) *Client {
	t.Helper()
	if !secure {
		return client(t, raw(t, handle))
	}
	own := certificate(t, time.Hour)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{own}})
	if err != nil {
		t.Fatal(err)
	}
	rawOn(t, l, handle)
	c := client(t, "https://"+l.Addr().String())
	leaf, err := x509.ParseCertificate(own.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	c.wire.dialer.tls.RootCAs = x509.NewCertPool()
	c.wire.dialer.tls.RootCAs.AddCert(leaf)
	return c
}

// The connection of a long request is used again once it was read, and only then.
func TestConnectionsOfLongRequestsAreKept(t *testing.T) {
	var conns atomic.Int32
	url := raw(t, func(c net.Conn, number int) bool {
		if number == 1 {
			conns.Add(1)
		}
		_, err := io.WriteString(c, whole)
		return err == nil
	})
	c := client(t, url)
	for range 50 {
		r := c.Do(context.Background(), Call{Prompt: Prompt{Text: strings.Repeat("word ", 5<<10)}, MaxTokens: 20}, clock())
		expect(t, r, bench.OK, "")
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestAConnectionIsNotKeptWhileItsRequestIsBeingWritten(t *testing.T) {
	leave := make(chan struct{})
	url := unread(t, func(c net.Conn) {
		_, _ = io.WriteString(c, whole)
		<-leave
	})
	c := client(t, url)
	expect(t, c.Do(context.Background(), long(), clock()), bench.OK, "")
	if c.wire.spare.next() != nil {
		t.Error("the connection is kept")
	}
	close(leave)
}

// With TLS 1.3 a server refuses a client that it does not know after the handshake.
func TestAClientThatTheServerDoesNotKnowIsToldSo(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = quiet
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	s.StartTLS()
	defer s.Close()
	c := client(t, s.URL)
	c.wire.dialer.tls.RootCAs = s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	expect(t, ask(c), bench.TLS, "certificate required")
}

// deaf is a connection whose other side reads no more from some moment on: a write then waits until it is closed.
type deaf struct {
	net.Conn
	full   *atomic.Bool
	closed chan struct{}
	once   sync.Once
}

func (d *deaf) Write(b []byte) (int, error) {
	if d.full.Load() {
		<-d.closed
		return 0, net.ErrClosed
	}
	return d.Conn.Write(b)
}

func (d *deaf) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.Conn.Close()
}

func TestALimitDoesNotWaitForAServerThatReadsNoMore(t *testing.T) {
	own := certificate(t, time.Hour)
	leaf, err := x509.ParseCertificate(own.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		pipe := newPipes()
		served := make(chan struct{})
		go func() {
			defer close(served)
			c, err := pipe.Accept()
			if err != nil {
				return
			}
			secure := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{own}, Time: func() time.Time { return leaf.NotAfter.Add(-time.Minute) }})
			readRequest(bufio.NewReader(secure))
			full.Store(true)
			_, _ = io.Copy(io.Discard, c)
		}()
		c := client(t, "https://127.0.0.1", func(o *Options) {
			o.Timeouts = Timeouts{FirstToken: time.Second}
			o.Dial = func(ctx context.Context, network, address string) (_ net.Conn, err error) {
				d := &deaf{full: &full, closed: make(chan struct{})}
				d.Conn, err = pipe.dial(ctx, network, address)
				return d, err
			}
		})
		c.wire.dialer.tls.RootCAs = x509.NewCertPool()
		c.wire.dialer.tls.RootCAs.AddCert(leaf)
		c.wire.dialer.tls.Time = func() time.Time { return leaf.NotAfter.Add(-time.Minute) }
		if r := ask(c); r.Class != bench.FirstTimeout || r.End != 1 {
			t.Errorf("%s after %v s: %s", r.Class, r.End, r.Error)
		}
		<-served
	})
}

// replayed reads an answer off what dates it.
func replayed(t *testing.T, from *dated) bench.Request {
	t.Helper()
	c := &conn{in: bufio.NewReader(from)}
	resp, err := c.head()
	if err != nil {
		t.Fatal(err)
	}
	a := &answer{
		held: share{room: &room{most: mostHeld}}, call: Call{MaxTokens: 3}, since: from.since,
		silence: idleTimeout(time.Hour), lastSilence: idleTimeout(time.Hour), limits: Timeouts{Idle: time.Hour},
	}
	a.watch = newWatch(context.Background(), from.since, time.Hour)
	defer a.watch.stop()
	if err := a.read(resp.Body, from, make([]byte, 64)); err != nil {
		t.Error(err)
	}
	return a.req
}
