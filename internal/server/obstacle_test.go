package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/openai"
)

// TestWhatStandsBeforeReadinessIsNamed: a server that is there and never ready is told with the cause and the way out.
func TestWhatStandsBeforeReadinessIsNamed(t *testing.T) {
	says := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/login?ticket=s3cret")
			w.WriteHeader(status)
		}
	}
	for _, c := range []struct {
		name    string
		address func(t *testing.T) string
		said    string
		hint    string
		lasting bool // it is not waited for what waiting does not mend
	}{
		{"redirect", plainly(says(302)), "302 Found", "target.base_url, or target.ready.path, to where it leads", false},
		{"key", plainly(says(401)), "401 Unauthorized", "target.api_key_env", false},
		{"another path", plainly(says(404)), "404 Not Found", "is target.ready.path a path of this server?", false},
		{"loading", plainly(says(503)), "503 Service Unavailable", "raise target.ready.within", false},
		{"expired certificate", overTLS(time.Now().Add(-time.Hour)), "expired", "the certificate must be valid today", true},
		{"unknown authority", overTLS(time.Now().Add(time.Hour)), "unknown authority", "the certificate must be valid today", true},
		{"nobody started it", func(t *testing.T) string {
			s := httptest.NewServer(http.NotFoundHandler())
			s.Close()
			return s.URL
		}, "nobody listens yet", "target.command is not set, so benchgate starts no server", false},
		{"no TLS", func(t *testing.T) string {
			return strings.Replace(plainly(says(200))(t), "http://", "https://", 1)
		}, "does not speak TLS", "write http:// in target.base_url", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Target: target("", "1"), FirstToken: speaks}
			o.Target.Command, o.Target.BaseURL = nil, c.address(t)+"/v1"
			o.Target.ReadyIn = 200 * time.Millisecond
			if c.lasting {
				o.Target.ReadyIn = time.Hour
			}
			_, err := start(t.Context(), o, quick)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.said) || !strings.Contains(e.Hint(), c.hint) {
				t.Errorf("error %v, hint %q; want %q and %q", err, e.Hint(), c.said, c.hint)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the ticket of a redirect is told: %v", err)
			}
		})
	}
}

func plainly(h http.Handler) func(*testing.T) string {
	return func(t *testing.T) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL
	}
}

// overTLS is a server with a certificate that it signed itself, for its address or for these names.
func overTLS(until time.Time, names ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		paper := &x509.Certificate{
			SerialNumber: big.NewInt(1), NotBefore: until.Add(-24 * time.Hour), NotAfter: until, DNSNames: names,
		}
		if len(names) == 0 {
			paper.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
		}
		raw, err := x509.CreateCertificate(rand.Reader, paper, paper, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL
	}
}

// TestTheWaitForAFirstTokenTellsItsHint: what a request met last is told with its own way out when the time is over.
func TestTheWaitForAFirstTokenTellsItsHint(t *testing.T) {
	o := Options{Target: target("", "1")}
	o.Target.Command, o.Target.BaseURL, o.Target.ReadyPath = nil, plainly(http.NotFoundHandler())(t)+"/v1", ""
	o.Target.ReadyIn = 50 * time.Millisecond
	var asked atomic.Int64
	o.FirstToken = func(context.Context, string) error {
		asked.Add(1)
		return &openai.Error{Doing: "ask", Class: "overloaded", Said: "busy", Hint: "let it rest"}
	}
	_, err := start(t.Context(), o, quick)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "waiting for a first token: ask: busy") || e.Hint() != "let it rest" || asked.Load() == 0 {
		t.Errorf("error %v after %d requests", err, asked.Load())
	}
}
