package openai

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what a server says about an error, in bytes: what is read of it, and what is kept.
const (
	mostRead   = 64 << 10
	maxMessage = 300
)

// redactor takes the API key out of everything that people get to see, also when the server says it.
type redactor struct{ key string }

const redacted = "[key]"

// keyLike finds keys that are not ours but look like one, or ours half masked by the server.
var keyLike = regexp.MustCompile(`(?i)\b(sk-[^\s"',;]{6,}|bearer\s+[^\s"',;]{6,})`)

// forms are the ways in which the key may be written.
func (r redactor) forms() []string {
	if r.key == "" {
		return nil
	}
	quoted, _ := json.Marshal(r.key) // a string always marshals
	literal := strconv.Quote(r.key)
	return []string{
		r.key, url.QueryEscape(r.key), url.PathEscape(r.key), html.EscapeString(r.key), string(quoted[1 : len(quoted)-1]),
		literal[1 : len(literal)-1],
	}
}

func (r redactor) hide(s string) string {
	for _, form := range r.forms() {
		s = strings.ReplaceAll(s, form, redacted)
	}
	return keyLike.ReplaceAllString(s, redacted)
}

// cut keeps the first 64 KiB of a text, without a key that the cut would leave half.
func (r redactor) cut(s string) string {
	if len(s) <= mostRead {
		return s
	}
	s = s[:mostRead]
	for _, form := range r.forms() {
		for n := min(len(form), len(s)); n > 0; n-- {
			if strings.HasSuffix(s, form[:n]) {
				return s[:len(s)-n]
			}
		}
	}
	return s
}

// clean makes a message fit for a file and a terminal: one line, no control characters, no key, at most 300 bytes.
func (r redactor) clean(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case c == utf8.RuneError, unicode.IsControl(c), unicode.Is(unicode.Cf, c):
			return -1
		}
		return c
	}, r.cut(s))
	return shorten(r.hide(strings.Join(strings.Fields(s), " ")), maxMessage)
}

// shorten cuts s to at most n bytes, between characters.
func shorten(s string, n int) string {
	const dots = "…"
	if len(s) <= n {
		return s
	}
	cut := n - len(dots)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + dots
}

// said is what a server says in the body of an error: the message in its JSON, the words of its HTML, or the text.
func said(body []byte) string {
	var v any
	if json.Unmarshal(body, &v) == nil {
		if m := messageIn(v, 0); m != "" {
			return m
		}
	}
	text := string(body)
	if strings.Contains(strings.ToLower(text), "<html") {
		return words(text)
	}
	return text
}

// messageIn looks for the message where servers put it: error.message (OpenAI, llama-server, vLLM), error (Ollama), message
// (vLLM before 0.10), detail and detail[].msg (FastAPI).
func messageIn(v any, depth int) string {
	if depth > 4 {
		return ""
	}
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var all []string
		for _, e := range v[:min(len(v), 3)] {
			if m := messageIn(e, depth+1); m != "" {
				all = append(all, m)
			}
		}
		return strings.Join(all, "; ")
	case map[string]any:
		for _, name := range []string{"error", "message", "detail", "msg", "errors"} {
			if m := messageIn(v[name], depth+1); m != "" {
				return withPlace(v, m)
			}
		}
	}
	return ""
}

// withPlace puts FastAPI's loc before its msg: "body.messages: Field required".
func withPlace(v map[string]any, message string) string {
	loc, _ := v["loc"].([]any)
	var parts []string
	for _, p := range loc {
		parts = append(parts, fmt.Sprint(p))
	}
	if len(parts) == 0 {
		return message
	}
	return strings.Join(parts, ".") + ": " + message
}

var (
	htmlHidden = regexp.MustCompile(`(?is)<(script|style|head)\b.*?</(script|style|head)>`)
	htmlTitle  = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	htmlTag    = regexp.MustCompile(`(?s)<[^>]*>`)
)

// words are the words of a web page, its title first.
func words(page string) string {
	title := ""
	if m := htmlTitle.FindStringSubmatch(page); m != nil {
		title = m[1]
	}
	text := htmlTag.ReplaceAllString(htmlHidden.ReplaceAllString(page, " "), " ")
	text = strings.Join(strings.Fields(html.UnescapeString(text)), " ")
	title = strings.Join(strings.Fields(html.UnescapeString(title)), " ")
	if strings.HasPrefix(text, title) {
		return text
	}
	return title + ": " + text
}
