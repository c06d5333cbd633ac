package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"

	"github.com/benchgate/benchgate/internal/config"
)

// The whole of it: a free port, a server that speaks, a first token by the client that measures, a gentle stop.
func TestACommandIsStartedAwaitedAndStopped(t *testing.T) {
	o := options(t, "simulated")
	o.FirstToken = nil
	s := begin(t, o)
	if strings.Contains(s.BaseURL(), portMark) || get(t, s.address.origin+"/health") == "" {
		t.Errorf("base URL %q does not answer", s.BaseURL())
	}
	if s.process.group == syscall.Getpgrp() || !groupAlive(s.process.group) {
		t.Errorf("group %d is ours, or empty", s.process.group)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
	gone(t, s)
	select {
	case <-s.Died():
		t.Error("a stop counts as a death")
	default:
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("second stop: %v", err)
	}
}

func TestTheCommandRunsInItsFolderWithItsEnvironment(t *testing.T) {
	t.Setenv("HF_TOKEN", "hf_secret")
	o := options(t, "plain")
	o.Target.Dir = "build"
	o.Target.Env["GIVEN"] = "port=" + portMark
	if err := os.Mkdir(filepath.Join(o.Folder, "build"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := begin(t, o)
	want := fmt.Sprintf("listening on %[1]s in build with port=%[1]s and token", s.address.port)
	eventually(t, "the log says "+want, func() bool { return s.LastWords() == want })
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAPortInUseIsRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, p, _ := net.SplitHostPort(l.Addr().String())
	o := options(t, "plain")
	o.Target = target("plain", p)
	_, err = start(t.Context(), o, quick)
	var e *Error
	if !errors.As(err, &e) || e.Error() != "port "+p+" is already served by another process" || !strings.Contains(e.Hint(), portMark) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(o.Log); err == nil {
		t.Error("the command was started all the same")
	}
}

func TestADeathAtTheStartIsToldAtOnce(t *testing.T) {
	o := options(t, "fails", "sk-topsecret")
	o.APIKey = "sk-topsecret"
	_, err := start(t.Context(), o, quick)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "exit status 3") {
		t.Fatalf("error %v, want one with the exit status", err)
	}
	var want []string
	for i := 20; i < 40; i++ {
		want = append(want, fmt.Sprintf("line %d key [redacted]", i))
	}
	if diff := cmp.Diff(want, strings.Split(e.LastWords(), "\n")); diff != "" {
		t.Errorf("last words (-want +got):\n%s", diff)
	}
}

func TestWhatCannotRunIsNamed(t *testing.T) {
	o := options(t, "plain")
	o.Target.Command = []string{"no-such-server", portMark}
	_, err := start(t.Context(), o, quick)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), `"no-such-server"`) || !strings.Contains(e.Hint(), "PATH") {
		t.Errorf("error %v", err)
	}
	o = options(t, "plain")
	o.Target.Dir = "no-such-folder"
	if _, err = start(t.Context(), o, quick); !errors.As(err, &e) || !strings.Contains(err.Error(), "no-such-folder") || !strings.Contains(e.Hint(), "git worktree") {
		t.Errorf("error %v", err)
	}
	o = options(t, "plain")
	o.Log = ""
	if _, err := start(t.Context(), o, quick); err == nil {
		t.Error("started without a log")
	}
}

func TestTheCommandIsFoundByItsOwnPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "my-server")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"my-server": filepath.Join(dir, "my-server"), "other": "other", "./my-server": "./my-server"} {
		if got := program(name, "/nowhere:"+dir); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestTheProgramOfATargetIsTheFileThatIsStarted(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "my-server")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for name, c := range map[string]struct {
		t    config.Target
		want string
	}{
		"beside the config":      {config.Target{Command: []string{"./serve", "x"}}, "ci/serve"},
		"in the target's folder": {config.Target{Dir: "engine", Command: []string{"bin/serve"}}, "ci/engine/bin/serve"},
		"in a folder elsewhere":  {config.Target{Dir: "/srv", Command: []string{"bin/serve"}}, "/srv/bin/serve"},
		"named in full":          {config.Target{Dir: "engine", Command: []string{"/srv/serve"}}, "/srv/serve"},
		"by its own PATH":        {config.Target{Command: []string{"my-server"}, Env: map[string]string{"PATH": "/nowhere:" + dir}}, filepath.Join(dir, "my-server")},
		"by the job's PATH":      {config.Target{Command: []string{"my-server"}}, filepath.Join(dir, "my-server")},
		"nowhere":                {config.Target{Command: []string{"no-such-server"}}, ""},
		"no command":             {config.Target{}, ""},
	} {
		if got := Program(c.t, "ci"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestADeathLaterIsNoticed(t *testing.T) {
	s := begin(t, options(t, "plain"))
	get(t, s.address.origin+"/exit")
	<-s.Died()
	if words := s.LastWords(); !strings.HasPrefix(words, "the process ended after ") || !strings.Contains(words, "exit status 5\n") ||
		!strings.HasSuffix(words, "asked to exit") {
		t.Errorf("last words %q", words)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("stop of the dead: %v", err)
	}
	gone(t, s)
}

func TestARunningServerIsLeftAlone(t *testing.T) {
	var key string
	h := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { key = r.Header.Get("Authorization") }))
	defer h.Close()
	t.Setenv("MY_KEY", "sk-mine")
	o := Options{Target: target("", "1"), FirstToken: speaks}
	o.Target.Command = nil
	o.Target.BaseURL = h.URL + "/v1"
	o.Target.APIKeyEnv = "MY_KEY"
	s, err := start(t.Context(), o, quick)
	if err != nil {
		t.Fatal(err)
	}
	if s.BaseURL() != h.URL+"/v1" || len(s.Facts()) != 0 || s.LastWords() != "" {
		t.Errorf("base %q, facts %v, words %q", s.BaseURL(), s.Facts(), s.LastWords())
	}
	if key != "Bearer sk-mine" {
		t.Errorf("asked with %q", key)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if res, err := h.Client().Get(h.URL); err != nil {
		t.Error("it was stopped")
	} else {
		res.Body.Close()
	}
}

func TestFactsHoldTheCommandAsWritten(t *testing.T) {
	s := &Server{o: Options{}, process: &process{}}
	s.o.Target.Command = []string{"vllm", "serve", "m", "--port", portMark}
	if diff := cmp.Diff(map[string]string{bench.KeyCommand: "vllm serve m --port {port}"}, s.Facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}
