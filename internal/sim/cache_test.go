package sim

import (
	"net/http"
	"strings"
	"testing"
)

// An emptied cache serves nothing: a prompt sent twice is warm, and cold again after a reset.
func TestAResetMakesARepeatedPromptColdAgain(t *testing.T) {
	for _, fault := range []string{"warm-cache", "salt-blind-cache"} {
		for _, reset := range []string{"POST /reset_prefix_cache", "POST /flush_cache", "GET /flush_cache"} {
			t.Run(fault+" "+reset, func(t *testing.T) {
				r := loopback(t, Options{Fault: fault})
				for i, want := range []int{0, 1, 0, 1} { // of two tokens, all but the last
					if i == 2 {
						method, path, _ := strings.Cut(reset, " ")
						knock(t, r, method, path)
					}
					if _, got := ask(t, r.URL()+"/v1/completions", `{"prompt":"one two"}`); got.Usage.Details.Cached != want {
						t.Errorf("answer %d: %d cached tokens, want %d", i+1, got.Usage.Details.Cached, want)
					}
				}
			})
		}
	}
}

func knock(t *testing.T, r *Running, method, path string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, r.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("%s %s: status %d", method, path, res.StatusCode)
	}
}
