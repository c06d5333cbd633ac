package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/benchgate/benchgate/internal/config"
)

// key is what no message may hold.
const key = `sk-"mine"-1234`

// rude dials a server that answers every request with these bytes, AUTH in them being what the request's Authorization said.
func rude(answer string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			if r, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
				fmt.Fprint(theirs, strings.ReplaceAll(answer, "AUTH", r.Header.Get("Authorization")))
			}
		}()
		return ours, nil
	}
}

// fit holds what is told against what a file and a terminal may get to see.
func fit(t *testing.T, told, want string) {
	t.Helper()
	if !strings.Contains(told, want) {
		t.Errorf("%q, want %q in it", told, want)
	}
	if strings.ContainsFunc(told, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("unprintable: %q", told)
	}
	if strings.Contains(told, "mine") {
		t.Errorf("the key is told: %q", told)
	}
}

// TestAServersWordsReachNoTerminal: a server writes escapes, or the key that it was sent, where net/http hands its words on.
func TestAServersWordsReachNoTerminal(t *testing.T) {
	const empty = "\r\nContent-Length: 0\r\n\r\n"
	for _, c := range []struct{ name, answer, metrics, reset, ready string }{
		{
			"escapes as a reason", "HTTP/1.1 500 \x1b]0;x\x07\x1b[2J" + empty,
			"answered 500 Internal Server Error", "answered 500 Internal Server Error", ": 500 Internal Server Error",
		},
		{
			"the key as a reason", "HTTP/1.1 503 AUTH" + empty,
			"answered 503 Service Unavailable", "answered 503 Service Unavailable", ": 503 Service Unavailable",
		},
		{"a number without a name", "HTTP/1.1 599 AUTH" + empty, "answered 599", "answered 599", ": 599"},
		{"no HTTP", "AUTH \x1b[2J\r\n\r\n", "malformed HTTP", "malformed HTTP", "malformed HTTP"},
		{"no header", "HTTP/1.1 500 no\r\nAUTH \x1b[2J\a\r\n\r\n", "malformed MIME header", "malformed MIME header", "malformed MIME header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := Options{
					Target: config.Target{
						BaseURL: "http://127.0.0.1:1/v1", Metrics: "/metrics", ResetPath: "/reset", ReadyPath: "/health", ReadyIn: time.Second,
					},
					APIKey: key, Dial: rude(c.answer), FirstToken: speaks,
				}
				s := &Server{o: o, address: address{base: o.Target.BaseURL}}
				_, _, err := s.Counters(t.Context())
				fit(t, fmt.Sprint(err), c.metrics)
				fit(t, fmt.Sprint(s.Reset(t.Context())), c.reset)
				var said string
				o.Progress = func(line string) { said = line }
				_, err = start(t.Context(), o, quick)
				fit(t, fmt.Sprint(err), c.ready)
				fit(t, said, c.ready)
			})
		})
	}
}

func TestMetricsThatEchoTheKeyDoNotTellIt(t *testing.T) {
	s := scraped("http://127.0.0.1:1/v1", "/metrics", rude("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nvllm:prompt_tokens_total AUTH\x1b[2J\n"))
	_, _, err := s.Counters(t.Context())
	fit(t, fmt.Sprint(err), "expected float")
}

func TestNamesInACertificateReachNoTerminal(t *testing.T) {
	at := strings.TrimPrefix(overTLS(time.Now().Add(time.Hour), "\x1b]0;x\x07\x1b[2J.example")(t), "https://")
	o := Options{
		Target: config.Target{BaseURL: "https://name.invalid/v1", ReadyPath: "/health", ReadyIn: time.Hour}, FirstToken: speaks,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, at)
		},
	}
	_, err := start(t.Context(), o, quick)
	fit(t, fmt.Sprint(err), "not name.invalid")
}

func TestHearsayKeepsItsCause(t *testing.T) {
	s := &Server{o: Options{APIKey: key}}
	err := s.hearsay(fmt.Errorf("two\r\nlines, \x1b[31msk-\x1b[0m\"mine\"-1234, and %q: %w", key, context.Canceled))
	if want := "two lines, [redacted], and \"[redacted]\": context canceled"; err.Error() != want || !errors.Is(err, context.Canceled) {
		t.Errorf("%q, want %q", err, want)
	}
	if n := len([]rune(s.heard(strings.Repeat("x", 5*lineRunes)))); n != lineRunes+1 {
		t.Errorf("%d characters of a long text", n)
	}
}
