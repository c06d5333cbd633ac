package sim

import (
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
