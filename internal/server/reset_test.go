package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/sim"
)

// there is a server that is taken as running, with the given way to it.
func there(base, path, key string, dial func(ctx context.Context, network, address string) (net.Conn, error)) *Server {
	return &Server{
		o:       Options{Target: config.Target{ResetPath: path}, APIKey: key, Dial: dial},
		address: address{base: base},
	}
}

func TestResetPostsToTheOrigin(t *testing.T) {
	var asked []string
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer h.Close()
	for _, c := range []struct{ path, want string }{
		{"", ""},
		{"/reset_prefix_cache", ""},
		{"/broken", "POST /broken answered 500"},
	} {
		err := there(h.URL+"/v1", c.path, "", nil).Reset(t.Context())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.path, err, c.want)
		}
	}
	if diff := cmp.Diff([]string{"POST /reset_prefix_cache", "POST /broken"}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	h.Close()
	if err := there(h.URL, "/reset", "", nil).Reset(t.Context()); err == nil {
		t.Error("no error from a server that is gone")
	}
}

func TestResetCarriesTheKey(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sk-mine" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer h.Close()
	if err := there(h.URL, "/reset", "sk-mine", nil).Reset(t.Context()); err != nil {
		t.Error(err)
	}
	if err := there(h.URL, "/reset", "", nil).Reset(t.Context()); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without a key: %v", err)
	}
}

func TestResetDialsAsTold(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer h.Close()
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, h.Listener.Addr().String())
	}
	if err := there("http://nowhere.invalid/v1", "/reset", "", dial).Reset(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAResetThatIsNotThereSaysWhatToDo(t *testing.T) {
	h := httptest.NewServer(http.NotFoundHandler())
	defer h.Close()
	err := there(h.URL, "/reset_prefix_cache", "", nil).Reset(t.Context())
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint(), "VLLM_SERVER_DEV_MODE=1") || !strings.Contains(err.Error(), "answered 404") {
		t.Errorf("%v, hint %q", err, hintFor(err))
	}
}

// Both engines' paths empty the simulated cache: what was sent before is cold after a reset.
func TestAResetEmptiesTheSimulatedCache(t *testing.T) {
	for _, path := range []string{"/reset_prefix_cache", "/flush_cache"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, s := simulation(sim.Options{Fault: "warm-cache"}, config.Target{Metrics: "/metrics", ResetPath: path})
				for i, want := range []float64{0, 2, 2, 4} {
					if i == 2 {
						if err := s.Reset(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					generate(t, s, "three words again", 2)
					c, _, err := s.Counters(t.Context())
					if got, _ := c.Of(Cached); err != nil || got != want {
						t.Errorf("after answer %d: %v cached tokens, want %v (%v)", i+1, got, want, err)
					}
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
