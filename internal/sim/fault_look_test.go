package sim

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
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
