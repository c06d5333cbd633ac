package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestResetPostsToTheOrigin(t *testing.T) {
	var asked []string
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer h.Close()
	for path, want := range map[string]string{"": "", "/reset_prefix_cache": "", "/broken": "POST /broken answered 500"} {
		err := Reset(t.Context(), h.URL+"/v1", path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", path, err, want)
		}
	}
	if len(asked) != 2 || !strings.HasPrefix(asked[0], "POST /") || strings.Contains(strings.Join(asked, " "), "/v1") {
		t.Errorf("asked %v", asked)
	}
	h.Close()
	if err := Reset(t.Context(), h.URL, "/reset"); err == nil {
		t.Error("no error from a server that is gone")
	}
}
