package sim

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Whatever arrives is answered: by a generation, or by an error that says something.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		`{"prompt":"one two","max_tokens":3,"stream":true}`, `{"messages":[{"content":[{"type":"text","text":"a"}]}],"max_completion_tokens":2}`,
		`{"prompt":[1,2,3]}`, `{"prompt":[[1],[2]]}`, `{"content":"a","with_pieces":true}`, `{"prompt":"a","max_tokens":1e9}`, `{"prompt":"\ud800","n":1}`,
		``, `null`, `[]`, `"`, `{"messages":null,"prompt":null}`, `{"messages":[null]}`, strings.Repeat(`{"a":`, 1000),
	} {
		f.Add(0, body)
		f.Add(1, body)
		f.Add(2, body)
	}
	paths := []string{"/v1/completions", "/v1/chat/completions", "/tokenize"}
	s := New(Options{})
	f.Fuzz(func(t *testing.T, which int, body string) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, paths[uint(which)%3], strings.NewReader(body)))
		if w.Code == http.StatusOK {
			if w.Body.Len() == 0 {
				t.Error("an empty answer")
			}
			return
		}
		var got reply
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Error == nil || got.Error.Message == "" {
			t.Errorf("status %d without a message: %s", w.Code, w.Body)
		}
	})
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	r, err := Listen(Options{Fault: "stall"}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	res, err := open(t.Context(), r, chat)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	<-r.Done()
}
