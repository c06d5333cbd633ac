package openai

import (
	"net/http"
	"testing"
	"time"
)

func TestIdleConnectionIsWatched(t *testing.T) {
	for name, tt := range map[string]struct {
		keep  string
		close bool
	}{"stays open": {}, "is closed with the answer": {"Connection: close", true}} {
		t.Run(name, func(t *testing.T) {
			onPipes(t, &fake{keeps: tt.keep}, func(*Options) {}, func(t *testing.T, c *Client) {
				after, closed, err := c.Idle(t.Context(), 4*time.Second)
				if err != nil || closed != tt.close || after > time.Second {
					t.Errorf("closed %v after %s, %v", closed, after, err)
				}
			})
		})
	}
}

func TestMetricsAreLookedForAtTheWholePath(t *testing.T) {
	const text = "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 0.0\n"
	for path, want := range map[string]bool{"/metrics": false, "/metrics?format=text": true} {
		f := &fake{natural: 3, obeys: []string{MaxTokens}}
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/metrics" && r.URL.Query().Get("format") == "text" {
				status(w, http.StatusOK, "text/plain", text)
				return
			}
			f.ServeHTTP(w, r)
		})
		onPipes(t, h, func(o *Options) { o.Metrics = path }, func(t *testing.T, c *Client) {
			if caps, err := c.Preflight(t.Context()); err != nil || caps.Metrics != want {
				t.Errorf("%q: metrics %v, want %v; %v", path, caps.Metrics, want, err)
			}
		})
	}
}
