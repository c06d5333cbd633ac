package sim

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Behind Serve chunks go past the buffers of net/http. A client reads the same as when they go through, and the connection
// carries the next answer.
func TestChunksReadTheSamePastTheBuffersAsThrough(t *testing.T) {
	for _, f := range slices.Concat([]fault{{}}, framings(), manners(), lies()) {
		t.Run("fault "+f.Name, func(t *testing.T) {
			o := Options{TTFT: 10 * time.Millisecond, TPOT: time.Millisecond, Fault: f.Name}
			var through, past []string
			synctest.Test(t, func(t *testing.T) {
				l := NewMemory()
				plain := &http.Server{Handler: New(o)}
				go func() { _ = plain.Serve(l) }()
				defer plain.Close()
				through = twoAnswers(t, l)
			})
			synctest.Test(t, func(t *testing.T) {
				l := NewMemory()
				served := Serve(New(o), l)
				defer served.Close()
				past = twoAnswers(t, l)
			})
			if diff := cmp.Diff(through, past); diff != "" {
				t.Errorf("two answers (-through +past):\n%s", diff)
			}
		})
	}
}

// twoAnswers asks twice on one connection and returns the bodies, gzip and all.
func twoAnswers(t *testing.T, l *Memory) []string {
	t.Helper()
	dials := 0
	transport := &http.Transport{DisableCompression: true, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials++
		return l.Dial(ctx, network, addr)
	}}
	defer transport.CloseIdleConnections()
	var bodies []string
	for range 2 {
		res, err := post(t.Context(), &http.Client{Transport: transport}, "http://sim"+chat, chatBody("one two", 6))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Errorf("read the body: %v", err)
		}
		res.Body.Close()
		bodies = append(bodies, string(body))
	}
	if dials != 1 {
		t.Errorf("%d connections for two answers, want one", dials)
	}
	return bodies
}

func TestAnOldClientGetsNoChunks(t *testing.T) {
	r := loopback(t, Options{})
	c, err := net.Dial("tcp", r.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := chatBody("one two", 4)
	fmt.Fprintf(c, "POST %s HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", chat, len(body), body)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil || !strings.HasPrefix(string(got), "data: {") || !strings.HasSuffix(string(got), "}\n\ndata: [DONE]\n\n") {
		t.Errorf("HTTP/1.0 got %q, %v; want events alone", got, err)
	}
}
