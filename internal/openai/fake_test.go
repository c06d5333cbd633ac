package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// fake is a server with a character. Its model would answer with natural tokens, were it not for limits.
type fake struct {
	natural  int
	obeys    []string // limit fields
	rejects  []string // members that are an error
	ignores  bool     // ignore_eos and min_tokens have no effect
	noUsage  bool
	cached   bool
	thinks   string // field of reasoning
	buffered bool
	tokenize string            // body of POST /tokenize
	tells    map[string]string // answers to GET, by path
	header   string            // Server
	mumbles  bool              // what is rejected is not named
	slow     time.Duration     // between tokens; 0 is 1 ms
	counts   int               // what usage claims; 0: the truth
	keeps    string            // the header that says how long a connection is kept, and its value after a colon
	refuses  func(w http.ResponseWriter) bool

	asked []map[string]any
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Server", f.header)
	if name, value, ok := strings.Cut(f.keeps, ": "); ok {
		w.Header().Set(name, value)
	}
	switch {
	case r.Method == http.MethodGet:
		if body := f.tells[r.URL.Path]; body != "" {
			status(w, 200, "application/json", body)
			return
		}
		status(w, 404, "application/json", `{"detail":"Not Found"}`)
	case r.URL.Path == "/tokenize" && f.tokenize != "":
		status(w, 200, "application/json", f.tokenize)
	case strings.HasSuffix(r.URL.Path, "/completions"):
		f.complete(w, r)
	default:
		status(w, 404, "application/json", `{"detail":"Not Found"}`)
	}
}

func (f *fake) complete(w http.ResponseWriter, r *http.Request) {
	var ask map[string]any
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &ask); err != nil {
		status(w, 400, "text/plain", err.Error())
		return
	}
	f.asked = append(f.asked, ask)
	if f.refuses != nil && f.refuses(w) {
		return
	}
	for _, name := range f.rejects {
		if _, has := ask[name]; has {
			if f.mumbles {
				name = "something"
			}
			status(w, 400, "application/json", fmt.Sprintf(`{"error":{"message":"Unsupported parameter: '%s'"}}`, name))
			return
		}
	}
	f.stream(w, r, ask)
}

func (f *fake) stream(w http.ResponseWriter, r *http.Request, ask map[string]any) {
	limit := 1 << 30
	for _, name := range f.obeys {
		if v, has := ask[name].(float64); has {
			limit = int(v)
		}
	}
	n := min(f.natural, limit)
	if ask["ignore_eos"] == true && !f.ignores {
		n = limit
	}
	w.Header().Set("Content-Type", "text/event-stream")
	<-time.After(30 * ms)
	for i := range n {
		_, err := io.WriteString(w, f.word(r, i))
		if err != nil {
			return // the client cut us off
		}
		if !f.buffered {
			w.(http.Flusher).Flush()
			select {
			case <-time.After(max(ms, f.slow)):
			case <-r.Context().Done():
				return
			}
		}
	}
	reason := "stop"
	if n == limit {
		reason = "length"
	}
	_, _ = io.WriteString(w, data(`{"choices":[{"delta":{},"text":"","finish_reason":"`+reason+`"}]}`))
	if !f.noUsage {
		_, _ = io.WriteString(w, data(f.usage(ask, n)))
	}
	_, _ = io.WriteString(w, done)
}

func (f *fake) word(r *http.Request, i int) string {
	switch {
	case !strings.Contains(r.URL.Path, "chat"):
		return data(`{"choices":[{"text":"w"}]}`)
	case f.thinks != "" && i < 4:
		return data(delta(`"` + f.thinks + `":"w"`))
	}
	return word
}

func (f *fake) usage(ask map[string]any, n int) string {
	in := 7
	if f.counts != 0 {
		n = f.counts
	}
	if ids, is := ask["prompt"].([]any); is {
		in = len(ids)
	}
	details := ""
	if f.cached {
		details = `,"prompt_tokens_details":{"cached_tokens":0}`
	}
	return fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d%s}}`, in, n, details)
}

// recorded is the body of a recorded answer.
func recorded(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(b), "\r\n\r\n")
	return body
}
