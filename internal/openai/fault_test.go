package openai

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

func ask(c *Client) bench.Request {
	return c.Do(context.Background(), Call{Prompt: Prompt{Text: "hello"}, MaxTokens: 20}, clock())
}

// expect holds a request to a class and words of its message.
func expect(t *testing.T, r bench.Request, class bench.Class, words string) {
	t.Helper()
	if r.Class != class || !strings.Contains(r.Error, words) {
		t.Errorf("%s: %q, want %s: %q", r.Class, r.Error, class, words)
	}
	if r.End < r.Sent || r.End == 0 {
		t.Errorf("sent %v, ended %v", r.Sent, r.End)
	}
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// wrap makes one piece of a chunked body.
func wrap(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// whole is a complete answer of three tokens.
var whole = streamHead + wrap(word+word+word+finish+count3+done) + "0\r\n\r\n"

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	c := client(t, "http://"+l.Addr().String())
	expect(t, ask(c), bench.Refused, "connection refused")
	if err := c.Open(context.Background(), 3); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("open: %v", err)
	}
}

func TestConnectionReset(t *testing.T) {
	for _, tt := range []struct {
		name, sent string
		class      bench.Class
		chunks     int
	}{
		{"before the answer", "", bench.Reset, 0},
		{"in the headers", streamHead[:30], bench.Reset, 0},
		{"in the middle", streamHead + wrap(word+word), bench.Reset, 2},
		{"after the end", streamHead + wrap(word+word+word+finish+count3), bench.OK, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := make(chan struct{}, 1)
			url := raw(t, func(c net.Conn, _ int) bool {
				_, _ = c.Write([]byte(tt.sent))
				if tt.chunks > 0 {
					<-seen // the kernel may drop unread bytes at a reset
				}
				_ = c.(*net.TCPConn).SetLinger(0)
				return false
			})
			c := client(t, url)
			var reads atomic.Int32
			start := clock()
			r := c.Do(context.Background(), Call{Prompt: Prompt{Text: "hello"}, MaxTokens: 20}, func() float64 {
				if reads.Add(1) == 3 { // sent, headers, first read
					seen <- struct{}{}
				}
				return start()
			})
			expect(t, r, tt.class, "")
			if r.Chunks != tt.chunks || r.Reconnects != 0 {
				t.Errorf("%d chunks, %d reconnects", r.Chunks, r.Reconnects)
			}
		})
	}
}

func TestKeptConnectionThatTheServerClosedIsTheClientsMatter(t *testing.T) {
	for _, tt := range []struct {
		name       string
		open       int // connections opened ahead
		reset      bool
		second     bool // also the fresh connection dies
		class      bench.Class
		reconnects int
	}{
		{"kept between requests, closed", 0, false, false, bench.OK, 1},
		{"kept between requests, reset", 0, true, false, bench.OK, 1},
		{"opened ahead", 1, false, false, bench.OK, 1},
		{"the fresh one dies too", 0, false, true, bench.Reset, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var conns atomic.Int32
			url := raw(t, func(c net.Conn, number int) bool {
				if number == 1 {
					conns.Add(1)
				}
				first := conns.Load() == 1
				if first && (number == 2 || tt.open > 0) || !first && tt.second {
					if tt.reset {
						_ = c.(*net.TCPConn).SetLinger(0)
					}
					return false
				}
				_, err := c.Write([]byte(whole))
				return err == nil
			})
			c := client(t, url)
			if tt.open > 0 {
				if err := c.Open(context.Background(), tt.open); err != nil {
					t.Fatal(err)
				}
			} else {
				expect(t, ask(c), bench.OK, "")
			}
			r := ask(c)
			expect(t, r, tt.class, "")
			if r.Reconnects != tt.reconnects {
				t.Errorf("%d reconnects, want %d", r.Reconnects, tt.reconnects)
			}
		})
	}
}

func TestConnectionsAreOpenedBeforeTheRun(t *testing.T) {
	const n = 8
	var conns, busy atomic.Int32
	all := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if busy.Add(1) == n {
			close(all)
		}
		<-all
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, word+finish+done)
	}))
	opened := make(chan struct{}, 10*n)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
			opened <- struct{}{}
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := client(t, s.URL, func(o *Options) { o.Connections = n })
	if err := c.Open(context.Background(), n); err != nil {
		t.Fatal(err)
	}
	for range n {
		<-opened
	}
	if c.Address() != strings.TrimPrefix(s.URL, "http://") {
		t.Errorf("address %q", c.Address())
	}
	results := make(chan bench.Request, n)
	for range n {
		go func() { results <- ask(c) }()
	}
	for range n {
		expect(t, <-results, bench.OK, "")
	}
	for range n { // kept: still no new one
		expect(t, ask(c), bench.OK, "")
	}
	if got := conns.Load(); got != n {
		t.Errorf("%d connections, want %d", got, n)
	}
}

func TestBodiesWithoutEndAreCutOff(t *testing.T) {
	mib := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		name, head, piece string
		class             bench.Class
		words             string
	}{
		{"comments", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", ": " + mib + "\n\n", bench.Malformed, "the stream is longer than 64 MiB"},
		{"one event", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ", mib, bench.Malformed, "an event is longer than 16 MiB"},
		{"small events", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", strings.Repeat("data:{}\n\n", 1<<14), bench.Malformed, "the stream has more than"},
		{"tokens", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", strings.Repeat(word, 100), bench.TooLong, "more than 56 tokens"},
		{"JSON", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{", mib, bench.NotStreaming, ""},
		{"JSON as a stream", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n{", mib, bench.NotStreaming, ""},
		{"a refusal", "HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\n\r\n", mib, bench.HTTP5xx, "xxx…"},
		{"headers", "HTTP/1.1 200 OK\r\nX: ", mib, bench.Malformed, "response headers exceeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := raw(t, func(c net.Conn, _ int) bool {
				_, err := io.WriteString(c, tt.head)
				for sent := 0; err == nil && sent < 1<<30; sent += len(tt.piece) {
					_, err = io.WriteString(c, tt.piece)
				}
				return false
			})
			expect(t, ask(client(t, url)), tt.class, tt.words)
		})
	}
}

func TestTenThousandTokensInOneEvent(t *testing.T) {
	s := &streaming{}
	text := strings.Repeat(" word", 10_000)
	s.set([]byte(data(delta(`"content":"`+text+`"`)) + finish + data(`{"usage":{"prompt_tokens":9,"completion_tokens":10000}}`) + done))
	c := client(t, serve(t, s), func(o *Options) { o.KeepText = true })
	r := c.Do(context.Background(), Call{Prompt: Prompt{Text: "hello"}, MaxTokens: 10_000, Exact: true}, clock())
	expect(t, r, bench.OK, "")
	if r.OutputTokens != 10_000 || r.Chunks != 1 || r.Text != text {
		t.Errorf("%d tokens in %d chunks", r.OutputTokens, r.Chunks)
	}
}

// certificate makes a self-signed certificate for 127.0.0.1 that is good until an hour from or before now.
func certificate(t *testing.T, until time.Duration) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(until),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestTLS(t *testing.T) {
	for _, tt := range []struct {
		name    string
		until   time.Duration
		trusted bool
		class   bench.Class
		words   string
	}{
		{"good", time.Hour, true, bench.OK, ""},
		{"expired", -time.Hour, true, bench.TLS, "expired"},
		{"unknown authority", time.Hour, false, bench.TLS, "unknown authority: add its authority"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.ProtoMajor != 1 {
					t.Errorf("protocol %s", r.Proto)
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, word+finish+done)
			}))
			cert := certificate(t, tt.until)
			s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
			s.Config.ErrorLog = quiet
			s.EnableHTTP2 = true
			s.StartTLS()
			t.Cleanup(s.Close)
			c := client(t, s.URL)
			if tt.trusted {
				leaf, err := x509.ParseCertificate(cert.Certificate[0])
				if err != nil {
					t.Fatal(err)
				}
				c.wire.dialer.tls.RootCAs = x509.NewCertPool()
				c.wire.dialer.tls.RootCAs.AddCert(leaf)
			}
			expect(t, ask(c), tt.class, tt.words)
		})
	}
}

func TestPlainServerIsAskedForTLS(t *testing.T) {
	url := serve(t, &streaming{})
	expect(t, ask(client(t, "https"+strings.TrimPrefix(url, "http"))), bench.TLS, "the server does not speak TLS: try http://")
}

func TestErrorsOfTheNetworkHaveTheirClass(t *testing.T) {
	for _, tt := range []struct {
		name       string
		cause, err error
		want       bench.Class
	}{
		{"unknown name", nil, &stage{err: &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "nowhere"}}}, bench.DNS},
		{"no route", nil, &stage{err: syscall.EHOSTUNREACH}, bench.Refused},
		{"kernel gave up connecting", nil, &stage{err: syscall.ETIMEDOUT}, bench.ConnTimeout},
		{"handshake cut", nil, &stage{tls: true, err: io.EOF}, bench.TLS},
		{"reset", nil, fmt.Errorf("read: %w", syscall.ECONNRESET), bench.Reset},
		{"broken pipe", nil, fmt.Errorf("write: %w", syscall.EPIPE), bench.Reset},
		{"a limit of ours, seen as something else", idleTimeout(time.Second), io.ErrUnexpectedEOF, bench.IdleTimeout},
		{"interrupted", context.Canceled, io.ErrUnexpectedEOF, bench.Canceled},
		{"anything else", nil, errors.New("odd"), bench.Other},
	} {
		if got := classify(tt.cause, tt.err); got.class != tt.want || got.message == "" {
			t.Errorf("%s: %s (%s)", tt.name, got.class, got.message)
		}
	}
}

func TestRequestThatCannotBeMadeFails(t *testing.T) {
	c := client(t, "http://127.0.0.1:1")
	r := c.Do(context.Background(), Call{Prompt: Prompt{Tokens: []int{1}}}, clock())
	expect(t, r, bench.Other, "the chat endpoint takes no token ids")
	c = client(t, "http://127.0.0.1:1", func(o *Options) { o.API = Completions })
	r = c.Do(context.Background(), Call{Prompt: Prompt{Messages: []Message{{"user", "x"}}}}, clock())
	expect(t, r, bench.Other, "the completions endpoint takes no messages")
}

func TestBuffersAreSharedAndResultsAreNot(t *testing.T) {
	s := &streaming{}
	s.set(bytes.Repeat([]byte(word), 3), []byte(finish+count3+done))
	c := client(t, serve(t, s), func(o *Options) { o.KeepText = true })
	results := make(chan bench.Request, 64)
	for range 64 {
		go func() { results <- ask(c) }()
	}
	for range 64 {
		if r := <-results; r.Class != bench.OK || r.Text != "www" {
			t.Errorf("%s %q", r.Class, r.Text)
		}
	}
}
