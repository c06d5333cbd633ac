package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// secret holds every character that some escaping touches.
const secret = `abc/d+e&f"g<h>i\j'k%20l=m`

func withKey(o *Options) { o.APIKey, o.KeepText = secret, true }

// leaks looks for the key, or half of it, in everything that a value shows.
func leaks(t *testing.T, what string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(b, &plain); err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprint(plain) + string(b) + fmt.Sprintf("%+v", v)
	for _, part := range []string{secret, secret[:12], url.QueryEscape(secret)[:14], "/secret", base64.StdEncoding.EncodeToString([]byte(secret))} {
		if strings.Contains(shown, part) {
			t.Errorf("%s shows %q: %s", what, part, shown)
		}
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always marshals
	return string(b)
}

func TestKeyIsSentAndNeverShown(t *testing.T) {
	key := quoted(secret)
	in := key[1 : len(key)-1]
	for name, answer := range map[string]func(w http.ResponseWriter){
		"401 in JSON": func(w http.ResponseWriter) {
			status(w, 401, "application/json", `{"error":{"message":"bad key `+in+`"}}`)
		},
		"401 in words":     func(w http.ResponseWriter) { status(w, 401, "text/plain", "bad key "+secret) },
		"401, query form":  func(w http.ResponseWriter) { status(w, 401, "text/plain", "bad key "+url.QueryEscape(secret)) },
		"401, control":     func(w http.ResponseWriter) { status(w, 401, "text/plain", "bad key "+secret[:5]+"\x00"+secret[5:]) },
		"401 on a page":    func(w http.ResponseWriter) { status(w, 401, "text/html", "<html><body>"+html.EscapeString(secret)) },
		"401, cut":         func(w http.ResponseWriter) { status(w, 401, "text/plain", strings.Repeat(" ", mostRead-13)+secret) },
		"401, other JSON":  func(w http.ResponseWriter) { status(w, 401, "application/json", `{"hint":"`+in+`"}`) },
		"401, in headers":  func(w http.ResponseWriter) { w.Header().Set("X-Key", secret); status(w, 401, "text/plain", "") },
		"401, retry after": func(w http.ResponseWriter) { w.Header().Set("Retry-After", secret); status(w, 429, "text/plain", "") },
		"redirect": func(w http.ResponseWriter) {
			w.Header().Set("Location", "/secret?"+url.QueryEscape(secret))
			status(w, 307, "", "")
		},
		"in band": func(w http.ResponseWriter) {
			status(w, 200, "text/event-stream", data(`{"error":{"message":"bad key `+in+`"}}`))
		},
		"not JSON": func(w http.ResponseWriter) { status(w, 200, "text/event-stream", data(secret)) },
		"finish reason": func(w http.ResponseWriter) {
			status(w, 200, "text/event-stream", word+data(`{"choices":[{"finish_reason":`+key+`}]}`))
		},
		"answer": func(w http.ResponseWriter) { status(w, 200, "text/event-stream", data(delta(`"content":`+key))+finish) },
		"answer in pieces": func(w http.ResponseWriter) {
			status(w, 200, "text/event-stream", data(delta(`"content":`+quoted(secret[:9])))+data(delta(`"content":`+quoted(secret[9:])))+finish)
		},
		"type": func(w http.ResponseWriter) { status(w, 200, secret, "") },
	} {
		t.Run(name, func(t *testing.T) {
			sent := ""
			url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent = r.Header.Get("Authorization")
				body, _ := io.ReadAll(r.Body)
				if strings.Contains(string(body), secret[:5]) {
					t.Error("the key is in the body")
				}
				answer(w)
			}))
			r := ask(client(t, url, withKey))
			if sent != "Bearer "+secret {
				t.Errorf("sent %q", sent)
			}
			leaks(t, "request", r)
			if len(r.Error) > maxMessage {
				t.Errorf("%d bytes", len(r.Error))
			}
		})
	}
}

func status(w http.ResponseWriter, code int, kind, body string) {
	if kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body)
}

func TestProbesDoNotShowTheKey(t *testing.T) {
	key := quoted(secret)
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", secret)
		switch r.URL.Path {
		case "/v1/models":
			status(w, 200, "application/json", `{"data":[{"id":`+key+`,"owned_by":`+key+`}]}`)
		case "/version":
			status(w, 200, "application/json", `{"version":`+key+`}`)
		case "/props":
			status(w, 200, "application/json", `{"build_info":`+key+`,"model_path":`+key+`}`)
		case "/tokenize":
			status(w, 500, "application/json", `{"error":`+key+`}`)
		default:
			status(w, 200, "text/event-stream", word+word+word+word+finish+done)
		}
	}))
	c := client(t, url, withKey)
	caps, err := c.Preflight(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	leaks(t, "capabilities", caps)
	leaks(t, "summary", caps.Summary())
	_, _, err = c.Tokenize(context.Background(), "hello")
	leaks(t, "tokenize", fmt.Sprint(err))
}

func TestForeignKeysAreHiddenToo(t *testing.T) {
	for _, s := range []string{"Incorrect API key provided: sk-proj-abcdef**********wxyz.", "header was Bearer abcdefghijklmnop", "authorization: bearer abcdefghijklmnop"} {
		got := redactor{}.clean(s)
		if !strings.Contains(got, redacted) || strings.Contains(got, "abcdef") {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestMessagesAreFitForATerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[a-z]{6,12}`).Draw(t, "key")
		parts := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.Just(key), rapid.StringN(0, 400, -1), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))).Draw(t, "parts")
		got := redactor{key}.clean(strings.Join(parts, " "))
		if len(got) > maxMessage || !utf8.ValidString(got) || strings.Contains(got, key) {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || r == '\u202e' || r == '\u2028' {
				t.Fatalf("%q in %q", r, got)
			}
		}
	})
}

// FuzzRefusal reads whatever a server may say about an error.
func FuzzRefusal(f *testing.F) {
	for _, s := range []string{
		`{"error":{"message":"m"}}`, `{"error":"m"}`, `{"detail":[{"loc":["body",1],"msg":"m"}]}`, `{"message":null}`, `[]`, `"m"`, "m", "",
		"<html><title>t</title><body>b", "<HTML", "<html><script>x</script", `{"error":{"error":{"error":{"error":{"error":{"error":"deep"}}}}}}`, "\xff\xfe",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got := redactor{secret}.clean(said(append(body, secret...)))
		if len(got) > maxMessage || !utf8.ValidString(got) || strings.Contains(got, secret) {
			t.Fatalf("%q", got)
		}
	})
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	good := Options{BaseURL: "http://127.0.0.1:1/v1", Model: "m"}
	for _, tt := range []struct {
		name  string
		set   func(*Options)
		words string
	}{
		{"no URL", func(o *Options) { o.BaseURL = "" }, "want http://HOST:PORT/v1"},
		{"no scheme", func(o *Options) { o.BaseURL = "127.0.0.1:8000/v1" }, "not a URL"},
		{"another scheme", func(o *Options) { o.BaseURL = "ftp://h/v1" }, "want http://"},
		{"no host", func(o *Options) { o.BaseURL = "http:///v1" }, "want http://"},
		{"a password", func(o *Options) { o.BaseURL = "http://me:" + "hunter2hunter2" + "@h/v1" }, "user name or password"},
		{"a broken password", func(o *Options) { o.BaseURL = "http://me:hunter2%zz@h/v1" }, "not a URL"},
		{"no model", func(o *Options) { o.Model = "" }, "no model named"},
		{"unknown api", func(o *Options) { o.API = "responses" }, `unknown api "responses"`},
		{"unknown limit", func(o *Options) { o.LimitField = "n_predict" }, `unknown limit field "n_predict"`},
		{"key with a line break", func(o *Options) { o.APIKey = "hunter2\n" }, "line break"},
		{"stream in extra_body", func(o *Options) { o.ExtraBody = map[string]any{"stream": false} }, `"stream" is set by the measurement`},
		{"limit in extra_body", func(o *Options) { o.ExtraBody = map[string]any{"max_tokens": 1} }, `"max_tokens" is set by`},
		{"extra_body beyond JSON", func(o *Options) { o.ExtraBody = map[string]any{"f": func() {}} }, "extra_body"},
	} {
		o := good
		tt.set(&o)
		_, err := New(o)
		if err == nil || !strings.Contains(err.Error(), tt.words) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
