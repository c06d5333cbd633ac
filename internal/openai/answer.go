package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// Bounds of one answer. Servers are hostile.
const (
	readSize      = 8 << 10  // of one read
	maxStream     = 64 << 20 // bytes of a stream, and
	maxPerToken   = 16 << 10 // more for each token that was asked for
	maxEvents     = 1 << 18
	maxText       = 4 << 20                // bytes of text kept
	tail          = 5 * time.Second        // from the finish reason to the end of the stream
	afterCount    = time.Second            // from the closing usage behind it to the end of the stream
	afterDone     = 100 * time.Millisecond // from [DONE] to the end of the stream
	runOnFactor   = 2                      // a server that writes this many times what was asked, and
	runOnTolerant = 16                     // this many chunks more, runs on and is cut off
)

// answer is the state of one request and its answer.
type answer struct {
	call       Call
	limits     Timeouts
	limitField string
	keepText   bool
	// completions: the answer is one of the completions endpoint.
	completions bool
	since       func() float64
	watch       *watch
	// The limits on silence: between tokens, and after the finish reason.
	silence, lastSilence *limitError
	req                  bench.Request

	parser parser
	held   share // of the client's memory, by what the parser holds
	chunk  chunk
	at     float64 // when the bytes at hand arrived
	inRead int     // token chunks in the read at hand
	bytes  int
	begun  bool // something other than white space has come
	events int

	usage     usage
	told      told
	usageAt   int    // how many token chunks had come with it
	usageOwn  bool   // it came in an event without tokens
	reasoning string // the field in which reasoning came
	finish    []byte
	text      []byte
	json      []byte   // the body, when it is no stream
	done      bool     // [DONE] came
	failed    *failure // what a chunk said or was
	end       float64  // when the stream ended
	kept      string   // what the server says it does with the connection
	compat    compat
}

// read reads a stream to its end; from dates what comes. A nil error is the end of the body.
func (a *answer) read(body io.Reader, from *dated, buf []byte) error {
	for reads := 0; ; {
		n, err := body.Read(buf)
		if from.reads != reads {
			reads, a.inRead = from.reads, 0
		}
		a.at = from.at
		a.end = a.at
		if n > 0 {
			a.take(buf[:n])
		}
		switch {
		case a.failed != nil:
			return nil
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case a.done:
			// The end is near: reading it lets the connection be used again.
			a.watch.enter(idleTimeout(afterDone), a.at)
			a.compat.ended(drain(body, buf))
			return nil
		}
	}
}

func drain(body io.Reader, buf []byte) error {
	for range 16 {
		if _, err := body.Read(buf); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) take(b []byte) {
	a.bytes += len(b)
	if len(a.json) > 0 || a.begins(b) == '{' {
		a.whole(b)
		return
	}
	events := a.events
	err := a.parser.feed(b, a.event)
	switch {
	case a.failed != nil:
	case err != nil:
		a.failed = &failure{bench.Malformed, err.Error()}
	case a.bytes > maxStream+maxPerToken*max(0, a.call.MaxTokens):
		a.failed = &failure{bench.Malformed, fmt.Sprintf("the stream is longer than %d MiB", a.bytes>>20)}
	case !a.held.hold(a.parser.holds()):
		a.failed = a.held.crowded()
	}
	if a.events > events && !a.done && a.failed == nil {
		a.heard()
	}
}

// begins is the first byte of the answer that is no white space, when it is in b; 0 otherwise.
func (a *answer) begins(b []byte) byte {
	if a.begun {
		return 0
	}
	b = bytes.TrimLeft(b, " \t\r\n")
	if a.begun = len(b) > 0; a.begun {
		return b[0]
	}
	return 0
}

// whole collects an answer that is one JSON text: it may say why.
func (a *answer) whole(b []byte) {
	a.json = append(a.json, b...)
	if len(a.json) > mostRead {
		a.failed = unstreamed(a.json)
	}
}

// heard moves the limit on silence: data has come.
func (a *answer) heard() {
	switch {
	case a.req.Chunks == 0: // the limit on the first token runs
	case len(a.finish) > 0 && a.counted() && a.usageOwn: // nothing is missing but [DONE]
		a.watch.enter(idleTimeout(min(a.limits.Idle, afterCount)), a.at)
	case len(a.finish) > 0:
		a.watch.enter(a.lastSilence, a.at)
	default:
		a.watch.enter(a.silence, a.at)
	}
}

// event takes one event of the stream. False ends the reading of events.
func (a *answer) event(e event) bool {
	a.events++
	data := bytes.TrimSpace(e.data)
	switch {
	case a.events > maxEvents+4*max(0, a.call.MaxTokens):
		a.failed = &failure{bench.Malformed, fmt.Sprintf("the stream has more than %d events", a.events-1)}
	case string(e.name) == "error":
		a.failed = &failure{bench.InBand, orNothing(said(data))}
	case len(data) == 0:
	case string(data) == "[DONE]":
		a.done = true
	default:
		chunks := a.req.Chunks
		if a.data(e.name, data) {
			a.compat.take(a, a.req.Chunks > chunks, e.dropped)
		}
	}
	return a.failed == nil && !a.done
}

// data takes one chunk. False: it is none.
func (a *answer) data(name, data []byte) bool {
	err := a.chunk.read(data)
	switch {
	case errors.Is(err, errNotJSON) && len(name) > 0 && string(name) != "message":
		return false // some other kind of event: a gateway's own ping
	case err != nil:
		a.failed = &failure{bench.Malformed, fmt.Sprintf("%v: %s", err, data)}
		return false
	case a.chunk.failure != nil:
		a.failed = &failure{bench.InBand, orNothing(said(a.chunk.failure))}
		return true
	}
	if a.chunk.told.source != "" {
		a.told = a.chunk.told
	}
	if a.chunk.token {
		a.token()
	}
	if a.chunk.usage.known {
		a.usage = a.chunk.usage.after(a.usage)
		a.usageAt, a.usageOwn = a.req.Chunks, !a.chunk.token
	}
	if len(a.chunk.finish) > 0 {
		a.finish = append(a.finish[:0], a.chunk.finish[:min(len(a.chunk.finish), 1000)]...)
	}
	return true
}

// token dates one chunk with tokens in it.
func (a *answer) token() {
	r := &a.req
	if r.Chunks == 0 {
		r.FirstToken = a.at
	} else {
		r.Gaps = append(r.Gaps, a.at-r.LastToken)
	}
	if a.inRead > 0 {
		r.Coalesced++
	}
	a.inRead++
	r.Chunks++
	r.LastToken = a.at
	if a.chunk.answer && r.FirstAnswer == 0 {
		r.FirstAnswer = a.at
	}
	if a.chunk.reasoning != "" {
		a.reasoning = a.chunk.reasoning
	}
	if a.keepText && len(a.chunk.text) > 0 && len(a.text) < maxText {
		a.text = append(a.text, plain(a.chunk.text)...)
	}
	if n := a.call.MaxTokens; n > 0 && r.Chunks > runOnFactor*n+runOnTolerant {
		a.failed = a.tooLong(fmt.Sprintf("more than %d tokens", r.Chunks-1))
	}
}

func (a *answer) tooLong(got string) *failure {
	return &failure{bench.TooLong, fmt.Sprintf("%s although %d were asked for: the server does not obey %s", got, a.call.MaxTokens, a.limitField)}
}

// verdict says how a stream went that was read until err; nil is success.
//
// An answer is complete with a finish reason, or with [DONE] after a count of its own behind the last token. [DONE] alone is
// not enough, nor beside counts that come with every token: gateways write it after an upstream that died. After a complete
// answer a broken connection does no harm, if the count has come too.
func (a *answer) verdict(err error) *failure {
	counted := a.done || a.counted()
	switch {
	case a.failed != nil:
		return a.failed
	case err == nil && len(a.json) > 0:
		return unstreamed(a.json)
	case err != nil && !(len(a.finish) > 0 && counted):
		return a.broken(err)
	case len(a.finish) == 0 && !(a.done && a.counted() && a.usageOwn && a.req.Chunks > 0):
		return a.truncated()
	case string(a.finish) == "error", string(a.finish) == "abort":
		return &failure{bench.InBand, fmt.Sprintf("the server gave up after %d chunks: finish_reason %q", a.req.Chunks, a.finish)}
	case a.req.Chunks == 0:
		return a.empty()
	}
	return a.length()
}

func (a *answer) broken(err error) *failure {
	f := classify(a.watch.why(), err)
	if f.class == bench.IdleTimeout && len(a.finish) > 0 {
		f.message += " behind the finish reason: neither a closing usage nor [DONE] came"
	}
	return f
}

func (a *answer) truncated() *failure {
	switch {
	case a.events == 0:
		return &failure{bench.Truncated, "the stream ended without a single event"}
	case a.done:
		return &failure{bench.Truncated, fmt.Sprintf("the stream ended after %d chunks with [DONE], but with neither finish_reason nor a closing usage", a.req.Chunks)}
	}
	return &failure{bench.Truncated, fmt.Sprintf("the stream ended after %d chunks without a finish_reason", a.req.Chunks)}
}

func (a *answer) empty() *failure {
	if a.usage.out > 0 {
		return &failure{bench.Empty, fmt.Sprintf("not one token came, although usage counts %d: are they hidden reasoning?", a.usage.out)}
	}
	return &failure{bench.Empty, fmt.Sprintf("finished (%s) without one token", a.finish)}
}

// length compares what came with what was asked. Counting chunks proves too many, but not too few: a chunk may hold
// several tokens, and only a server that stopped by itself must have written fewer.
func (a *answer) length() *failure {
	got, source := a.tokens()
	asked := a.call.MaxTokens
	switch {
	case asked <= 0:
	case got > asked && a.req.Chunks <= asked:
		return &failure{bench.TooLong, fmt.Sprintf("usage counts %d tokens, and %d chunks came, although %d were asked for: either the server does not obey %s, or usage counts wrongly", got, a.req.Chunks, asked, a.limitField)}
	case got > asked:
		return a.tooLong(fmt.Sprintf("%d tokens by %s (%d chunks)", got, source, a.req.Chunks))
	case got < asked && a.call.Exact && (source == fromUsage || string(a.finish) != "length"):
		return &failure{bench.TooShort, fmt.Sprintf("%d tokens although exactly %d were asked for (finish_reason %q)", got, asked, a.finish)}
	}
	return nil
}

// The values of Request.TokenSource.
const (
	fromUsage  = "usage"
	fromChunks = "chunks"
)

// counted reports whether the server's count covers all that was generated: whether no token came after it.
func (a *answer) counted() bool { return a.usage.known && a.usageAt == a.req.Chunks }

// tokens counts what was generated. A usage that denies what we saw is not believed.
func (a *answer) tokens() (n int, source string) {
	if a.counted() && a.usage.out > 0 {
		return a.usage.out, fromUsage
	}
	return a.req.Chunks, fromChunks
}

// count fills in the numbers of tokens.
func (a *answer) count() {
	if a.req.Chunks > 0 {
		a.req.OutputTokens, a.req.TokenSource = a.tokens()
	}
	if a.usage.known {
		a.req.InputTokens = max(0, a.usage.in)
	}
	// A cache cannot hold more of a prompt than there is.
	if cached := a.usage.cached; a.usage.known && cached >= 0 && cached <= a.req.InputTokens {
		a.req.CachedTokens = &cached
	}
	a.told.note(&a.req)
}

// unstreamed names an answer that is JSON and no events.
func unstreamed(body []byte) *failure {
	var c chunk
	if c.read(body) == nil && c.failure != nil {
		return &failure{bench.InBand, orNothing(said(body))}
	}
	if line, rest, _ := bytes.Cut(body, []byte{'\n'}); c.read(line) == nil && bytes.HasPrefix(bytes.TrimSpace(rest), []byte{'{'}) {
		return &failure{bench.Malformed, "lines of JSON instead of server-sent events: is target.base_url that of OpenAI's API?"}
	}
	return &failure{bench.NotStreaming, "one JSON body instead of a stream: the server, or a proxy before it, does not stream"}
}

func orNothing(message string) string {
	if message == "" {
		return "an error without a message"
	}
	return message
}
