package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/ghfake"
)

func TestCallsAndWhatIsKeptAreWritten(t *testing.T) {
	calls, kept := filepath.Join(t.TempDir(), "calls"), filepath.Join(t.TempDir(), "kept")
	sha := strings.Repeat("a", 40)
	args := []string{"-state", calls, "-kept", kept, "-pull", "7=" + sha, "-fault", "503@status"}
	s, err := start(args, io.Discard, func(p string) { t.Error(p) })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for path, want := range map[string]int{"/issues/7/comments": 201, "/statuses/" + sha: 503} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/repos/example/server"+path, strings.NewReader(`{"body":"x","state":"success"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer ghs_secret")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		if a.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, a.StatusCode, want)
		}
	}
	b, err := os.ReadFile(calls)
	if err != nil || strings.Count(string(b), "\n") != 2 || strings.Contains(string(b), "ghs_secret") {
		t.Errorf("calls are %s (%v)", b, err)
	}
	var state ghfake.State
	if err := read(kept, &state); err != nil || len(state.Comments) != 1 || state.Comments[0].Body != "x" {
		t.Errorf("kept is %+v (%v)", state, err)
	}
	var c ghfake.Call
	if err := json.Unmarshal(b[:strings.IndexByte(string(b), '\n')], &c); err != nil || c.Method != "POST" {
		t.Errorf("the first call is %+v (%v)", c, err)
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-fault", "no such"}, {"-fault", "503@nowhere"}, {"-pull", "7"}, {"-seed", "/no/such/file"}, {"-addr", "nowhere"}} {
		if code := run(args, io.Discard, io.Discard); code != 2 {
			t.Errorf("%q: exit %d, want 2", args, code)
		}
	}
}
