package sim

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// seen is what a client sees of one stream: the bytes, and how they ended.
type seen struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

// open asks for a stream of 8 tokens.
func open(ctx context.Context, r *Running, path string) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL()+path, strings.NewReader(
		`{"messages":[{"content":"hello"}],"prompt":"hello","max_tokens":8,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer sk-simulated")
	plainly := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	return plainly.RoundTrip(q)
}

func look(t *testing.T, r *Running, path string) seen {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	res, err := open(ctx, r, path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	s := seen{status: res.StatusCode, header: res.Header}
	var all []byte
	for buf := make([]byte, 64<<10); ; {
		n, err := res.Body.Read(buf)
		all = append(all, buf[:n]...)
		if err != nil {
			s.body = string(all)
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
			return s
		}
	}
}

func (s seen) tokens() int {
	return len(regexp.MustCompile(`"content":"[^"]`).FindAllString(s.body, -1))
}

func (s seen) finished() bool { return strings.Contains(s.body, `"finish_reason":"`) }

func (s seen) done() bool { return strings.Contains(s.body, "[DONE]") }

const chat = "/v1/chat/completions"

// cases holds for every fault a test of its signature on the wire.
var cases = map[string]func(*testing.T, *Running){
	"refuse-stream": status(400, "streaming is not supported"),
	"error-500":     status(500, "<h1>500 Internal Server Error</h1>"),
	"error-503":     status(503, "<html>"),
	"error-429":     status(429, `"error":{`),
	"echo-key":      status(401, "Bearer sk-simulated"),
	"redirect":      status(307, "moved"),
	"loading":       status(503, "Loading model"),

	"needs-max-tokens":            rejects("max_completion_tokens", "max_tokens"),
	"needs-max-completion-tokens": rejects("max_tokens", "max_completion_tokens"),
	"chat-only":                   serves(chat, "/v1/completions"),
	"completions-only":            serves("/v1/completions", chat),

	"not-streaming": sees(func(s seen) bool {
		return strings.HasPrefix(s.header.Get("Content-Type"), "application/json") && strings.Contains(s.body, `"object":"chat.completion"`)
	}),
	"error-first": sees(func(s seen) bool {
		return s.tokens() == 0 && strings.HasPrefix(s.body, `data: {"error"`) && s.err == nil
	}),
	"error-midstream": sees(func(s seen) bool {
		return s.tokens() == 4 && !s.finished() && strings.Contains(s.body, `data: {"error"`) && s.done() && s.err == nil
	}),
	"truncate":     sees(func(s seen) bool { return s.tokens() == 4 && !s.finished() && !s.done() && s.err == nil }),
	"cut":          sees(func(s seen) bool { return s.tokens() == 4 && errors.Is(s.err, io.ErrUnexpectedEOF) }),
	"cut-in-event": sees(func(s seen) bool { return strings.HasSuffix(s.body, `"del`) && errors.Is(s.err, io.ErrUnexpectedEOF) }),
	"reset":        sees(func(s seen) bool { return !s.finished() && errors.Is(s.err, syscall.ECONNRESET) }),
	"empty": sees(func(s seen) bool {
		return s.tokens() == 0 && s.finished() && s.done() && strings.Contains(s.body, `"completion_tokens":0`)
	}),
	"not-json": sees(func(s seen) bool {
		return strings.Contains(s.body, "data: {\"choices\":[{\"index\":0,\n\n") && s.tokens() == 8
	}),
	"endless-line": neverEnds,

	"ignores-limit":                 sees(func(s seen) bool { return s.tokens() == 4*8+16 && s.finished() }),
	"ignores-max-completion-tokens": ignoresNewLimit,
	"ends-early": sees(func(s seen) bool {
		return s.tokens() >= 3 && s.tokens() <= 8 && strings.Contains(s.body, fmt.Sprintf(`"completion_tokens":%d`, s.tokens()))
	}),
	"no-usage": sees(func(s seen) bool {
		return s.tokens() == 8 && s.done() && !strings.Contains(s.body, "completion_tokens")
	}),
	"usage-in-last": sees(func(s seen) bool {
		return regexp.MustCompile(`"finish_reason":"length"}\],"usage":\{`).MatchString(s.body)
	}),
	"late-usage":     lateByUsage,
	"wrong-usage":    sees(func(s seen) bool { return s.tokens() == 8 && strings.Contains(s.body, `"completion_tokens":16`) }),
	"negative-usage": sees(func(s seen) bool { return strings.Contains(s.body, `"completion_tokens":-1`) }),
	"warm-cache":     warms,

	"salt-blind-cache": warmsUnderAnotherSalt,

	"one-byte-writes": writesBytes,
	"crlf": sees(func(s seen) bool {
		return ends(s, "\r\n") && !strings.Contains(strings.ReplaceAll(s.body, "\r\n", ""), "\n")
	}),
	"cr": sees(func(s seen) bool { return ends(s, "\r") && !strings.Contains(s.body, "\n") }),
	"no-space": sees(func(s seen) bool {
		return strings.HasPrefix(s.body, "data:{") && strings.Contains(s.body, "data:[DONE]")
	}),
	"fields":           sees(func(s seen) bool { return strings.HasPrefix(s.body, "event: message\nid: 7\nretry: 1000\ndata: {") }),
	"multiline":        sees(func(s seen) bool { return strings.Contains(s.body, ",\ndata: \"object\"") && s.tokens() == 8 }),
	"comment-in-event": sees(func(s seen) bool { return strings.HasPrefix(s.body, ": keep-alive\ndata: {") }),
	"huge-events":      sees(func(s seen) bool { return len(s.body) > 8*(128<<10) && s.tokens() == 8 }),
	"buffered":         holds,
	"gzip":             unzips,
	"no-done":          sees(func(s seen) bool { return s.tokens() == 8 && s.finished() && !s.done() && s.err == nil }),
	"late-finish": sees(func(s seen) bool {
		return strings.Contains(s.body, `"delta":{},"finish_reason":"length"`) && s.tokens() == 8
	}),
	"text-plain": sees(func(s seen) bool { return s.header.Get("Content-Type") == "text/plain" && s.tokens() == 8 }),
	"pings": sees(func(s seen) bool {
		return strings.HasPrefix(s.body, ":\n\n") && strings.Count(s.body, ": ping\n\n") == 8
	}),

	"role-only-first": sees(func(s seen) bool {
		return strings.Contains(s.body[:300], `"role":"assistant","content":""`) && s.tokens() == 8
	}),
	"reasoning": sees(func(s seen) bool {
		return strings.Count(s.body, `"reasoning_content":"`) == 4 && s.tokens() == 4 && strings.Contains(s.body, `"reasoning_tokens":4`)
	}),
	"reasoning-field": sees(func(s seen) bool { return strings.Count(s.body, `"reasoning":"`) == 4 && s.tokens() == 4 }),
	"tool-call": sees(func(s seen) bool {
		return strings.Count(s.body, `"tool_calls":[`) == 8 && s.tokens() == 0 && s.finished()
	}),
	"two-per-chunk": sees(func(s seen) bool { return s.tokens() == 4 && strings.Contains(s.body, `"completion_tokens":8`) }),
	"utf8":          sees(func(s seen) bool { return utf8.ValidString(s.body) && strings.Count(s.body, "🌊") == 8 }),
	"odd-chunks": sees(func(s seen) bool {
		return strings.Contains(s.body, `"choices":[]`) && strings.Contains(s.body, `"delta":null`) && strings.Contains(s.body, `"content":null`) && s.tokens() == 8
	}),

	"error-200":      status(200, `"error":{`),
	"web-page":       status(200, "<h1>200 Welcome</h1>"),
	"error-429-date": status(429, "Rate limit reached"),
	"limit-after-3":  limits,
	"error-words": sees(func(s seen) bool {
		return s.tokens() == 4 && strings.HasSuffix(s.body, "event: error\ndata: simulated failure in words\n\n") && s.err == nil
	}),
	"gives-up": sees(func(s seen) bool {
		return s.tokens() == 4 && strings.Contains(s.body, `"finish_reason":"abort"`) && s.done() && s.err == nil
	}),
	"done-early":   sees(func(s seen) bool { return s.tokens() == 4 && s.done() && !s.finished() && s.err == nil }),
	"wrong-length": sees(func(s seen) bool { return s.tokens() == 4 && errors.Is(s.err, io.ErrUnexpectedEOF) }),
	"usage-fewer":  sees(func(s seen) bool { return s.tokens() == 8 && strings.Contains(s.body, `"completion_tokens":4`) }),
	"usage-each": sees(func(s seen) bool {
		return s.tokens() == 8 && strings.Count(s.body, `"completion_tokens":`) == 9 && strings.Contains(s.body, `"completion_tokens":3`)
	}),
	"usage-first": sees(func(s seen) bool {
		return strings.Contains(s.body[:300], `"completion_tokens":8`) && strings.Count(s.body, "completion_tokens") == 1 && s.tokens() == 8
	}),
	"usage-before-finish": sees(func(s seen) bool {
		return before(s, `"completion_tokens":8`, `"finish_reason":"length"`) && s.tokens() == 8 && s.done()
	}),
	"hidden-answer": sees(func(s seen) bool {
		return s.tokens() == 0 && strings.Contains(s.body, `"completion_tokens":8`) && s.finished() && s.done()
	}),
	"hidden-reasoning": sees(func(s seen) bool { return s.tokens() == 4 && strings.Contains(s.body, `"completion_tokens":8`) }),
	"two-choices": sees(func(s seen) bool {
		return s.tokens() == 16 && strings.Count(s.body, `"index":1`) == 8 && strings.Contains(s.body, `"completion_tokens":16`)
	}),
	"mixed-eol": sees(func(s seen) bool {
		return strings.Contains(s.body, "}\r\n\r\ndata") && strings.Contains(s.body, "}\r\rdata") && strings.Contains(s.body, "}\n\ndata") && s.tokens() == 8
	}),
	"bursts": sees(func(s seen) bool { return s.tokens() == 8 && s.done() }),
	"json-lines": sees(func(s seen) bool {
		return strings.HasPrefix(s.body, "{") && !strings.Contains(s.body, "data:") && s.tokens() == 8
	}),
	"finish-early": sees(func(s seen) bool {
		return strings.Contains(s.body[:300], `"finish_reason":"length"`) && s.tokens() == 8 && s.done()
	}),
	"bom":          sees(func(s seen) bool { return strings.HasPrefix(s.body, "\xEF\xBB\xBFdata: {") }),
	"empty-data":   sees(func(s seen) bool { return strings.Count(s.body, "data:\n\n") == 8 && s.tokens() == 8 }),
	"other-events": sees(func(s seen) bool { return strings.Count(s.body, "event: ping\n") == 8 && s.tokens() == 8 }),
	"reasoning-late": sees(func(s seen) bool {
		return before(s, `"content":"`, `"reasoning_content":"`) && s.tokens() == 4 && strings.Count(s.body, `"reasoning_content":"`) == 4
	}),
	"text-and-tool": sees(func(s seen) bool {
		return before(s, `"content":"`, `"tool_calls":[`) && s.tokens() == 4 && strings.Count(s.body, `"tool_calls":[`) == 4
	}),
	"role-each":  sees(func(s seen) bool { return strings.Count(s.body, `"role":"assistant"`) == 8 && s.tokens() == 8 }),
	"one-event":  sees(func(s seen) bool { return s.tokens() == 1 && strings.Contains(s.body, `"completion_tokens":8`) }),
	"bad-utf8":   sees(func(s seen) bool { return !utf8.ValidString(s.body) && s.tokens() == 8 }),
	"cold-start": startsCold,
	"one-slot":   queues,

	"stays-open":        staysOpen,
	"finish-hangs":      falls(8),
	"no-answer":         neverAnswers,
	"drip":              drips("d", "a", "t", "a", ":", " ", "x", "x"),
	"endless-pings":     drips(": ping\n\n", ": ping\n\n", ": ping\n\n"),
	"crawl":             crawlsOn,
	"endless-reasoning": floodsWith(1<<20, `"reasoning_content":"`),
	"garbage":           floodsWith(64<<20, ""),
	"endless-error":     endlessly(func(res *http.Response) bool { return res.StatusCode == 500 }),
	"endless-headers":   headless,

	"expired-certificate": untrusted("expired"),
	"unknown-certificate": untrusted("unknown authority"),
	"other-certificate":   untrusted("doesn't contain any IP SANs"),

	"slow-network":    delivers,
	"timings":         tells(timings, false),
	"request-metrics": tells(requestMetrics, true),
	"metrics-lie":     countsTwice,

	"stall":        falls(4),
	"hang":         falls(0),
	"bare":         isBare,
	"fail-every-3": failsEvery,
	"die-after-3":  dies,
	"drop-kept":    dropsKept,
}

func TestEveryFaultShowsOnTheWire(t *testing.T) {
	var names []string
	for name := range cases {
		names = append(names, strings.Replace(name, "-3", "-N", 1))
	}
	for _, f := range Faults() {
		if !slices.Contains(names, f.Name) {
			t.Errorf("fault %q has no test", f.Name)
		}
		if f.Does == "" {
			t.Errorf("fault %q does not say what it does", f.Name)
		}
	}
	if len(names) != len(Faults()) {
		t.Errorf("%d tests for %d faults", len(names), len(Faults()))
	}
	for name, check := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, loopback(t, Options{Fault: name}))
		})
	}
}

func sees(is func(seen) bool) func(*testing.T, *Running) {
	return func(t *testing.T, r *Running) {
		s := look(t, r, chat)
		if s.status != 200 || !is(s) {
			t.Errorf("status %d, %d tokens, error %v, %d bytes:\n%.1000s", s.status, s.tokens(), s.err, len(s.body), s.body)
		}
	}
}

func status(code int, says string) func(*testing.T, *Running) {
	return func(t *testing.T, r *Running) {
		s := look(t, r, chat)
		if s.status != code || !strings.Contains(s.body, says) {
			t.Errorf("status %d, want %d:\n%s", s.status, code, s.body)
		}
		if code == 429 && s.header.Get("Retry-After") != "2" && !strings.HasSuffix(s.header.Get("Retry-After"), " GMT") {
			t.Error("no Retry-After")
		}
		if code == 307 && s.header.Get("Location") == "" {
			t.Error("no Location")
		}
	}
}

func rejects(field, not string) func(*testing.T, *Running) {
	return func(t *testing.T, r *Running) {
		if code, _ := ask(t, r.URL()+chat, `{"messages":[{"content":"a"}],"`+field+`":4}`); code != 400 {
			t.Errorf("%s: status %d, want 400", field, code)
		}
		if code, got := ask(t, r.URL()+chat, `{"messages":[{"content":"a"}],"`+not+`":4}`); code != 200 || got.Usage.Completion != 4 {
			t.Errorf("%s: status %d, %d tokens", not, code, got.Usage.Completion)
		}
	}
}

func serves(path, not string) func(*testing.T, *Running) {
	return func(t *testing.T, r *Running) {
		if s := look(t, r, path); s.status != 200 {
			t.Errorf("%s: status %d", path, s.status)
		}
		if s := look(t, r, not); s.status != 404 {
			t.Errorf("%s: status %d, want 404", not, s.status)
		}
	}
}

func ignoresNewLimit(t *testing.T, r *Running) {
	if _, got := ask(t, r.URL()+chat, `{"messages":[{"content":"a"}],"max_completion_tokens":4}`); got.Usage.Completion != 4*4+16 {
		t.Errorf("max_completion_tokens: %d tokens", got.Usage.Completion)
	}
	if _, got := ask(t, r.URL()+chat, `{"messages":[{"content":"a"}],"max_tokens":4}`); got.Usage.Completion != 4 {
		t.Errorf("max_tokens: %d tokens", got.Usage.Completion)
	}
}

func lateByUsage(t *testing.T, r *Running) {
	sent := time.Now()
	s := look(t, r, chat)
	if took := time.Since(sent); took < lateUsage || !strings.Contains(s.body, `"completion_tokens":8`) {
		t.Errorf("over after %v:\n%s", took, s.body)
	}
	if x := r.Server().Drain()[0]; x.Last.Sub(sent) >= lateUsage {
		t.Error("the last token was late, not usage")
	}
}

// writesBytes counts reads where one write is one read: on a pipe in memory.
func writesBytes(t *testing.T, _ *Running) {
	s := New(Options{Fault: "one-byte-writes"})
	l := NewMemory()
	r := Serve(s, l)
	defer r.Close()
	memory := &http.Client{Transport: &http.Transport{DialContext: l.Dial}}
	res, err := post(t.Context(), memory, "http://sim"+chat, chatBody("hello", 8))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body := ""
	for buf := make([]byte, 4096); ; {
		n, err := res.Body.Read(buf)
		if n > 1 {
			t.Fatalf("%d bytes in one write: %q", n, buf[:n])
		}
		if body += string(buf[:n]); err != nil {
			break
		}
	}
	if got := (seen{body: body}); got.tokens() != 8 || !got.done() {
		t.Errorf("%d tokens:\n%s", got.tokens(), body)
	}
}

func neverEnds(t *testing.T, r *Running) {
	res, err := open(t.Context(), r, chat)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	total, buf := 0, make([]byte, 1<<20)
	for {
		n, err := res.Body.Read(buf)
		if bytes.IndexByte(buf[:n], '\n') >= 0 {
			t.Fatal("the line ended")
		}
		if total += n; err != nil {
			break
		}
	}
	if total < 32<<20 {
		t.Errorf("%d bytes", total)
	}
}

func warms(t *testing.T, r *Running) {
	for _, want := range []int{0, 1} { // of two tokens, all but the last
		if _, got := ask(t, r.URL()+"/v1/completions", `{"prompt":"one two"}`); got.Usage.Details.Cached != want {
			t.Errorf("%d cached tokens, want %d", got.Usage.Details.Cached, want)
		}
	}
}

func warmsUnderAnotherSalt(t *testing.T, r *Running) {
	for i, want := range []int{0, 2, 0} { // of three tokens, all but the last
		text := []string{"#00000001 one two", "#00000002 one two", "#00000003 one three"}[i]
		if _, got := ask(t, r.URL()+"/v1/completions", `{"prompt":"`+text+`"}`); got.Usage.Details.Cached != want {
			t.Errorf("%q: %d cached tokens, want %d", text, got.Usage.Details.Cached, want)
		}
	}
}

func ends(s seen, eol string) bool {
	return s.tokens() == 8 && strings.HasSuffix(s.body, "data: [DONE]"+eol+eol)
}

func holds(t *testing.T, _ *Running) {
	r := loopback(t, Options{Fault: "buffered", TPOT: 5 * time.Millisecond})
	res, err := open(t.Context(), r, chat)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	// The head of the answer comes with the body, after the last token was ready.
	got := time.Now()
	if x := r.Server().Drain()[0]; x.Tokens != 8 || got.Before(x.Last) {
		t.Errorf("answered at token %d of 8", x.Tokens)
	}
	if body, err := io.ReadAll(res.Body); err != nil || strings.Count(string(body), "data: {") != 9 {
		t.Errorf("%v:\n%s", err, body)
	}
}

func unzips(t *testing.T, r *Running) {
	s := look(t, r, chat)
	z, err := gzip.NewReader(strings.NewReader(s.body))
	if err != nil || s.header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("not gzip: %v", err)
	}
	body, err := io.ReadAll(z)
	if err != nil || !strings.HasSuffix(string(body), "data: [DONE]\n\n") {
		t.Errorf("%v:\n%s", err, body)
	}
}

// falls reads until the server falls silent, then leaves; the server must notice.
func falls(tokens int) func(*testing.T, *Running) {
	return func(t *testing.T, r *Running) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		res, err := open(ctx, r, chat)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		got, buf := "", make([]byte, 4096)
		for strings.Count(got, "data: {") < tokens {
			n, err := res.Body.Read(buf)
			if got += string(buf[:n]); err != nil {
				t.Fatalf("%v after %q", err, got)
			}
		}
		silent := make(chan error, 1)
		go func() { _, err := res.Body.Read(buf); silent <- err }()
		select {
		case err := <-silent:
			t.Errorf("not silent after %d tokens: %v", tokens, err)
		case <-time.After(50 * time.Millisecond):
		}
		cancel()
		if err := <-silent; err == nil {
			t.Error("more bytes after the client left")
		}
	}
}

func isBare(t *testing.T, r *Running) {
	for path, want := range map[string]int{"/health": 404, "/metrics": 404, "/version": 404, "/tokenize": 404, "/v1/models": 200} {
		res, err := http.Get(r.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, res.StatusCode, want)
		}
	}
	if s := look(t, r, chat); s.tokens() != 8 {
		t.Errorf("%d tokens", s.tokens())
	}
}

func failsEvery(t *testing.T, r *Running) {
	for _, want := range []int{200, 200, 500, 200, 200, 500} {
		if s := look(t, r, chat); s.status != want {
			t.Errorf("status %d, want %d", s.status, want)
		}
	}
}

func dies(t *testing.T, r *Running) {
	for range 3 {
		if s := look(t, r, chat); s.tokens() != 8 {
			t.Errorf("%d tokens before the end", s.tokens())
		}
	}
	if _, err := open(t.Context(), r, chat); err == nil {
		t.Error("a fourth answer")
	}
	<-r.Done()
	if _, err := open(t.Context(), r, chat); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("error %v after the end, want a refused connection", err)
	}
}

func dropsKept(t *testing.T, r *Running) {
	keeping := &http.Transport{}
	defer keeping.CloseIdleConnections()
	client := &http.Client{Transport: keeping}
	say := func() error {
		res, err := post(t.Context(), client, r.URL()+chat, chatBody("hello", 4))
		if err != nil {
			return err
		}
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, res.Body)
		return err
	}
	if err := say(); err != nil {
		t.Errorf("first request: %v", err)
	}
	if err := say(); err == nil {
		t.Error("the kept connection was served")
	}
	if err := say(); err != nil {
		t.Errorf("request on a fresh connection: %v", err)
	}
}

// A death breaks the streams under way too, and Close of a dead server is in order.
func TestDeathBreaksStreamsUnderWay(t *testing.T) {
	r := loopback(t, Options{Fault: "die-after-1", TPOT: time.Hour})
	res, err := open(t.Context(), r, chat)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := open(t.Context(), r, chat); err == nil {
		t.Error("the second request was answered")
	}
	if _, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("first stream ended with %v, want a broken connection", err)
	}
	<-r.Done()
}

func TestAServerWithBadOptionsSaysSo(t *testing.T) {
	r := Serve(New(Options{Fault: "no-such"}), listener(t))
	defer r.Close()
	if code, got := ask(t, r.URL()+chat, `{}`); code != 500 || !strings.Contains(got.Error.Message, "no-such") {
		t.Errorf("status %d, %+v", code, got)
	}
}
