package openai

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchgate/benchgate/internal/bench"
)

const ms = time.Millisecond

// act is one write of a scripted server, after a pause.
type act struct {
	after time.Duration
	write string
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
		c.wire.kept, c.wire.fresh = newTransport(net.dial, 1), newTransport(net.dial, -1)
		c.wire.dialer.dial = net.dial
		use(t, c)
		c.Close()
		_ = server.Close()
		<-served
	})
}

// scripted plays the acts to one request in virtual time and returns what the client made of it. The last act hangs when
// its write is "hang": the server then says nothing until the client leaves.
func scripted(t *testing.T, call Call, limits Timeouts, acts []act) (r bench.Request) {
	t.Helper()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { playActs(w, r, acts) })
	onPipes(t, h, func(o *Options) { o.Timeouts = limits }, func(t *testing.T, c *Client) {
		r = c.Do(t.Context(), call, clock())
	})
	return r
}

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
		if a.write == "hang" {
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
	role   = data(delta(`"role":"assistant","content":""`))
	word   = data(delta(`"content":"w"`))
	think  = data(delta(`"reasoning_content":"w"`))
	finish = data(`{"choices":[{"delta":{},"finish_reason":"length"}]}`)
	count3 = data(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}`)
	done   = data("[DONE]")
)

// moments are the times of a request, in milliseconds.
type moments struct {
	Class                                            bench.Class
	Headers, FirstToken, FirstAnswer, LastToken, End float64
	Gaps                                             []float64
	TTFT, TTFOT, TPOT, E2EL                          float64
	Chunks, Coalesced, Tokens                        int
	Error                                            string
}

func momentsOf(r bench.Request) moments {
	in := func(s float64) float64 { return s * 1000 }
	of := func(f func() (float64, bool)) float64 { v, _ := f(); return in(v) }
	m := moments{
		Class: r.Class, Headers: in(r.Headers), FirstToken: in(r.FirstToken), FirstAnswer: in(r.FirstAnswer), LastToken: in(r.LastToken),
		End: in(r.End), TTFT: of(r.TTFT), TTFOT: of(r.TTFOT), TPOT: of(r.TPOT), E2EL: of(r.E2EL),
		Chunks: r.Chunks, Coalesced: r.Coalesced, Tokens: r.OutputTokens, Error: r.Error,
	}
	for _, g := range r.Gaps {
		m.Gaps = append(m.Gaps, in(g))
	}
	return m
}

func TestTimesAreThoseOfTheBytes(t *testing.T) {
	for _, tt := range []struct {
		name string
		acts []act
		want moments
	}{
		{
			"a role alone is no token; a late usage is no token either",
			[]act{{5 * ms, role}, {209 * ms, word}, {20 * ms, word}, {20 * ms, word}, {10 * ms, finish}, {300 * ms, count3 + done}},
			moments{
				Class: bench.OK, Headers: 5, FirstToken: 214, FirstAnswer: 214, LastToken: 254, End: 564, Gaps: []float64{20, 20},
				TTFT: 214, TTFOT: 214, TPOT: 20, E2EL: 254, Chunks: 3, Tokens: 3,
			},
		},
		{
			"comments are no token",
			[]act{{5 * ms, ":\n\n"}, {95 * ms, ": ping\n" + word}, {50 * ms, ":\n\n"}, {50 * ms, word}, {100 * ms, word + finish + count3 + done}},
			moments{
				Class: bench.OK, Headers: 5, FirstToken: 100, FirstAnswer: 100, LastToken: 300, End: 300, Gaps: []float64{100, 100},
				TTFT: 100, TTFOT: 100, TPOT: 100, E2EL: 300, Chunks: 3, Tokens: 3,
			},
		},
		{
			"reasoning is the first token, but not the first of the answer",
			[]act{{100 * ms, think}, {400 * ms, think}, {400 * ms, word}, {0, finish + count3}},
			moments{
				Class: bench.OK, Headers: 100, FirstToken: 100, FirstAnswer: 900, LastToken: 900, End: 900, Gaps: []float64{400, 400},
				TTFT: 100, TTFOT: 900, TPOT: 400, E2EL: 900, Chunks: 3, Tokens: 3,
			},
		},
		{
			"an event is dated by its blank line",
			[]act{{100 * ms, word[:20]}, {100 * ms, word[20 : len(word)-1]}, {100 * ms, "\n"}, {100 * ms, word + word}, {0, finish + count3}},
			moments{
				Class: bench.OK, Headers: 100, FirstToken: 300, FirstAnswer: 300, LastToken: 400, End: 400, Gaps: []float64{100, 0},
				TTFT: 300, TTFOT: 300, TPOT: 50, E2EL: 400, Chunks: 3, Coalesced: 1, Tokens: 3,
			},
		},
		{
			"a carriage return ends it without waiting for what follows",
			[]act{{100 * ms, strings.ReplaceAll(word, "\n", "\r")}, {100 * ms, "\n" + word}, {100 * ms, word}, {0, finish + count3}},
			moments{
				Class: bench.OK, Headers: 100, FirstToken: 100, FirstAnswer: 100, LastToken: 300, End: 300, Gaps: []float64{100, 100},
				TTFT: 100, TTFOT: 100, TPOT: 100, E2EL: 300, Chunks: 3, Tokens: 3,
			},
		},
		{
			"a connection left open after [DONE] is not waited for",
			[]act{{100 * ms, word}, {100 * ms, word}, {100 * ms, word + finish + count3 + done}, {0, "hang"}},
			moments{
				Class: bench.OK, Headers: 100, FirstToken: 100, FirstAnswer: 100, LastToken: 300, End: 300, Gaps: []float64{100, 100},
				TTFT: 100, TTFOT: 100, TPOT: 100, E2EL: 300, Chunks: 3, Tokens: 3,
			},
		},
		{
			"a connection left open after finish reason and usage does no harm",
			[]act{{100 * ms, word + word + word + finish + count3}, {0, "hang"}},
			moments{
				Class: bench.OK, Headers: 100, FirstToken: 100, FirstAnswer: 100, LastToken: 100, End: 5100, Gaps: []float64{0, 0},
				TTFT: 100, TTFOT: 100, E2EL: 100, Chunks: 3, Coalesced: 2, Tokens: 3,
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := scripted(t, Call{Prompt: Prompt{Text: "hello"}, MaxTokens: 3, Exact: true}, Timeouts{}, tt.acts)
			if diff := cmp.Diff(tt.want, momentsOf(r), cmpopts.EquateApprox(0, 1e-6)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFiftyThoughtsAndFiveWords(t *testing.T) {
	acts := []act{{100 * ms, think}}
	acts = append(acts, slices.Repeat([]act{{10 * ms, think}}, 49)...)
	acts = append(acts, act{310 * ms, word})
	acts = append(acts, slices.Repeat([]act{{10 * ms, word}}, 4)...)
	acts = append(acts, act{0, finish + data(`{"usage":{"prompt_tokens":9,"completion_tokens":55}}`) + done})
	m := momentsOf(scripted(t, Call{Prompt: Prompt{Text: "hello"}, MaxTokens: 55, Exact: true}, Timeouts{}, acts))
	want := moments{Class: bench.OK, TTFT: 100, TTFOT: 900, TPOT: 840.0 / 54, E2EL: 940, Chunks: 55, Tokens: 55}
	got := moments{Class: m.Class, TTFT: m.TTFT, TTFOT: m.TTFOT, TPOT: m.TPOT, E2EL: m.E2EL, Chunks: m.Chunks, Tokens: m.Tokens}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEveryPhaseHasItsLimit(t *testing.T) {
	limits := Timeouts{Connect: time.Second, FirstToken: 10 * time.Second, Idle: 4 * time.Second, Total: time.Minute}
	pings := slices.Repeat([]act{{time.Second, ":\n\n"}}, 100)
	words := slices.Repeat([]act{{3500 * ms, word}}, 100)
	for _, tt := range []struct {
		name string
		acts []act
		want moments
	}{
		{"nothing comes", []act{{time.Hour, "hang"}}, moments{Class: bench.FirstTimeout, End: 10_000, Error: "no token within 10s"}},
		{"headers come, and nothing more", []act{{time.Second, "hang"}}, moments{Class: bench.FirstTimeout, End: 10_000, Error: "no token within 10s"}},
		{"comments for ever", pings, moments{Class: bench.FirstTimeout, End: 10_000, Error: "no token within 10s"}},
		{"roles for ever", slices.Repeat([]act{{time.Second, role}}, 100), moments{Class: bench.FirstTimeout, End: 10_000, Error: "no token within 10s"}},
		{"a token, and silence", []act{{time.Second, word}, {0, "hang"}}, moments{Class: bench.IdleTimeout, End: 5000, Chunks: 1, Error: "the stream fell silent for 4s"}},
		{"a token, and comments for ever", append([]act{{time.Second, word}}, pings...), moments{Class: bench.IdleTimeout, End: 5000, Chunks: 1, Error: "the stream fell silent for 4s"}},
		{"tokens for ever", words, moments{Class: bench.TooSlow, End: 60_000, Chunks: 17, Error: "not done within 1m0s"}},
		{"a finish reason, and silence before the usage", []act{{time.Second, word + finish}, {0, "hang"}}, moments{Class: bench.IdleTimeout, End: 5000, Chunks: 1, Error: "the stream fell silent for 4s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := momentsOf(scripted(t, Call{Prompt: Prompt{Text: "hello"}, MaxTokens: 200}, limits, tt.acts))
			got := moments{Class: r.Class, End: r.End, Chunks: r.Chunks, Error: r.Error}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestConnectionThatNeverOpensIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nobody := newPipes()
		c := client(t, "http://pipe", func(o *Options) { o.Timeouts = Timeouts{Connect: 3 * time.Second} })
		c.wire.kept = newTransport(nobody.dial, 1)
		c.wire.fresh = c.wire.kept
		ctx, cancel := context.WithCancel(t.Context())
		c.wire.kept.DialContext = func(context.Context, string, string) (net.Conn, error) { return nobody.dial(ctx, "", "") }
		r := c.Do(t.Context(), Call{Prompt: Prompt{Text: "hello"}}, clock())
		if r.Class != bench.ConnTimeout || r.End != 3 || r.Error != "no connection within 3s" {
			t.Errorf("%s after %v s: %s", r.Class, r.End, r.Error)
		}
		cancel()
	})
}

func TestInterruptedRequestIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nobody := newPipes()
		c := client(t, "http://pipe")
		c.wire.kept = newTransport(nobody.dial, 1)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		r := c.Do(ctx, Call{Index: 7, Scheduled: 0.5, Prompt: Prompt{Text: "hello"}}, clock())
		if r.Class != bench.Canceled || r.Index != 7 || r.Scheduled != 0.5 || r.End != 1 {
			t.Errorf("%+v", r)
		}
	})
}
