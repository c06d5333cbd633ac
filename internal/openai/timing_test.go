package openai

import (
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

const ms = time.Millisecond

func millis(n int) time.Duration { return time.Duration(n) * ms }

// milli is a time in milliseconds, to the millionth.
func milli(seconds float64) float64 { return math.Round(seconds*1e9) / 1e6 }

// act is one write of a scripted server, after a pause.
type act struct {
	after time.Duration
	write string
	hang  bool
}

// pipes is a network without a kernel, so that time can be virtual.
type pipes struct {
	ends   chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.ends:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.ends <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// onPipes gives use a client of the handler, in virtual time.
func onPipes(t *testing.T, h http.Handler, set func(*Options), use func(t *testing.T, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net := newPipes()
		server := &http.Server{Handler: h}
		served := make(chan struct{})
		go func() { defer close(served); _ = server.Serve(net) }()
		c := client(t, "http://pipe", set)
		c.wire.dialer.dial = net.dial
		use(t, c)
		c.Close()
		_ = server.Close()
		<-served
	})
}

// playActs writes the acts one after the other. One that hangs is the last: the server then waits until the client leaves.
func playActs(w http.ResponseWriter, r *http.Request, acts []act) {
	flush := func() { w.(http.Flusher).Flush() }
	_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that a client leaves
	for i, a := range acts {
		select {
		case <-time.After(a.after):
		case <-r.Context().Done():
			return
		}
		if i == 0 {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		if a.hang {
			flush()
			<-r.Context().Done()
			return
		}
		_, _ = w.Write([]byte(a.write))
		flush()
	}
}

func data(s string) string { return "data: " + s + "\n\n" }

var (
	word   = data(delta(`"content":"w"`))
	finish = data(`{"choices":[{"delta":{},"finish_reason":"length"}]}`)
	count3 = data(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}`)
	done   = data("[DONE]")
)

func TestConnectionThatNeverOpensIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nobody := newPipes()
		c := client(t, "http://pipe", func(o *Options) { o.Timeouts = Timeouts{Connect: 3 * time.Second} })
		c.wire.dialer.dial = nobody.dial
		r := c.Do(t.Context(), Call{Prompt: Prompt{Text: "hello"}}, clock())
		if r.Class != bench.ConnTimeout || r.End != 3 || r.Error != "no connection within 3s" {
			t.Errorf("%s after %v s: %s", r.Class, r.End, r.Error)
		}
	})
}

func TestInterruptedRequestIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nobody := newPipes()
		c := client(t, "http://pipe")
		c.wire.dialer.dial = nobody.dial
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		r := c.Do(ctx, Call{Index: 7, Scheduled: 0.5, Prompt: Prompt{Text: "hello"}}, clock())
		if r.Class != bench.Canceled || r.Index != 7 || r.Scheduled != 0.5 || r.End != 1 {
			t.Errorf("%+v", r)
		}
	})
}

// early is a context whose deadline has passed a while before it says so.
type early struct{ context.Context }

func (e early) Deadline() (time.Time, bool) {
	until, ok := e.Context.Deadline()
	return until.Add(-time.Millisecond), ok
}

// Package net may see that a deadline has passed before the context says so.
func TestADialThatEndsAtTheCallersDeadlineIsNoErrorOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ctx := early{inner}
		c := client(t, "http://pipe", func(o *Options) {
			o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
				until, _ := ctx.Deadline()
				time.Sleep(time.Until(until))
				return nil, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
			}
		})
		if r := c.Do(ctx, Call{Prompt: Prompt{Text: "hello"}}, clock()); r.Class != bench.Canceled {
			t.Errorf("%s: %s", r.Class, r.Error)
		}
	})
}
