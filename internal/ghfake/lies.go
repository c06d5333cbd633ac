package ghfake

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"time"
)

// hugeBytes is how much a huge answer has: more than anybody should read.
const hugeBytes = 256 << 20

// lies are faults of answers to calls that GitHub did obey.
func lies() map[string]kind {
	return map[string]kind{
		"cut":   {breaks: cut},
		"slow":  {breaks: slow},
		"huge":  {breaks: huge},
		"types": {answer: func(_ *Server, _ visit, a answer) answer { return a.as(swap) }},
		"shape": {answer: func(_ *Server, _ visit, a answer) answer { return a.as(reshape) }},
		"other": {answer: func(_ *Server, _ visit, a answer) answer { return a.as(another) }},
	}
}

// reset ends the connection without a word.
func reset(w http.ResponseWriter, _ *http.Request, _ answer) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // a reset, and not an orderly end
	}
	_ = c.Close()
}

// hang keeps the connection open for as long as the caller does.
func hang(_ http.ResponseWriter, r *http.Request, _ answer) { <-r.Context().Done() }

// cut promises the whole answer and sends half of it.
func cut(w http.ResponseWriter, _ *http.Request, a answer) {
	a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
	a.body = a.body[:len(a.body)/2]
	a.write(w)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// slow takes three seconds to the first byte, and as long again to the last.
func slow(w http.ResponseWriter, r *http.Request, a answer) {
	pause(r, 3*time.Second)
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.WriteHeader(a.status)
	for i := range 6 {
		pause(r, time.Second/2)
		_, _ = w.Write(a.body[len(a.body)*i/6 : len(a.body)*(i+1)/6])
		_ = http.NewResponseController(w).Flush()
	}
}

func pause(r *http.Request, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	}
}

// huge sends a list with one comment that has no end, as far as the caller can tell.
func huge(w http.ResponseWriter, _ *http.Request, a answer) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.status)
	start, end := `{"id":1,"body":"`, `"}`
	if bytes.HasPrefix(a.body, []byte("[")) {
		start, end = "["+start, end+"]"
	}
	_, _ = w.Write([]byte(start))
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range hugeBytes >> 20 {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
	_, _ = w.Write([]byte(end))
}

// as rewrites the JSON of an answer.
func (a answer) as(rewrite func(any) any) answer {
	var v any
	if json.Unmarshal(a.body, &v) != nil {
		return a
	}
	b := reply(a.status, rewrite(v))
	b.header = a.header
	return b
}

// swap makes a text of each number and a number of each text.
func swap(v any) any {
	switch v := v.(type) {
	case string:
		return 7
	case float64:
		return "seven"
	case map[string]any:
		for k := range v {
			v[k] = swap(v[k])
		}
	case []any:
		for i := range v {
			v[i] = swap(v[i])
		}
	}
	return v
}

// reshape makes an object of a list and a list of an object.
func reshape(v any) any {
	if _, ok := v.([]any); ok {
		return map[string]any{"items": v}
	}
	return []any{v}
}

// another answers with somebody else's comment.
func another(v any) any {
	if m, ok := v.(map[string]any); ok {
		m["id"], m["body"], m["html_url"] = 9, "a cached answer to somebody else", "https://github.invalid/"
	}
	return v
}
