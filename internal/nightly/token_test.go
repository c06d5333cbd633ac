package nightly

import (
	"encoding/base64"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// served serves a repository over HTTP to whoever brings the token.
func served(t *testing.T, o origin, token string) *httptest.Server {
	t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	o.at("config", "http.receivepack", "true")
	backend := &cgi.Handler{
		Path: strings.TrimSpace(string(path)) + "/git-http-backend", Dir: o.url,
		Env: []string{"GIT_PROJECT_ROOT=" + o.url, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=bot"},
	}
	want := "basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != want {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestTokenOpensTheRepository(t *testing.T) {
	o := newOrigin(t)
	r := o.repository()
	r.URL, r.Token = served(t, o, "ghs_secret").URL, "ghs_secret"
	if _, err := Keep(t.Context(), t.TempDir(), r, of(1, 1), acceptance()); err != nil {
		t.Fatal(err)
	}
	hold(t, "the pull request", o.sessions("benchgate-data-pull"), "1")
	r.Token = "ghs_wrong"
	_, err := Keep(t.Context(), t.TempDir(), r, of(2, 1), acceptance())
	if err == nil || !strings.Contains(err.Error(), "403") || strings.Contains(err.Error(), "ghs_") {
		t.Errorf("a wrong token: %v", err)
	}
}

func TestTokenGoesNowhereElse(t *testing.T) {
	o := newOrigin(t)
	var reached atomic.Bool
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(thief.Close)
	redirecting := httptest.NewServer(http.RedirectHandler(thief.URL+"/info/refs?service=git-upload-pack", http.StatusFound))
	t.Cleanup(redirecting.Close)
	r := o.repository()
	r.URL, r.Token = redirecting.URL, "ghs_secret"
	if _, err := Keep(t.Context(), t.TempDir(), r, of(1, 1), acceptance()); err == nil {
		t.Error("no error")
	}
	if reached.Load() {
		t.Error("the redirect was followed")
	}
}

func TestEnvironmentOfGitHoldsTheTokenOnceAndNoOther(t *testing.T) {
	r := Repository{URL: "https://github.com/acme/infer", Token: "ghs_secret"}
	env := r.environment([]string{
		"PATH=/bin", "GIT_TRACE_CURL=1", "GIT_CURL_VERBOSE=1", "BENCHGATE_TOKEN=ghs_secret", "GITHUB_TOKEN=ghs_secret", "ACTIONS_RUNTIME_TOKEN=x",
		"GIT_DIR=/elsewhere", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.proxy", "GIT_CONFIG_VALUE_0=http://proxy",
	})
	for _, want := range []string{"PATH=/bin", "GIT_CONFIG_KEY_0=http.proxy", "GIT_CONFIG_VALUE_0=http://proxy", "GIT_CONFIG_KEY_9=http.https://github.com/.extraheader", "GIT_CONFIG_COUNT=10"} {
		if !slices.Contains(env, want) {
			t.Errorf("lacks %s: %q", want, env)
		}
	}
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if strings.Contains(e, "ghs_secret") || strings.HasPrefix(name, "GIT_TRACE") || slices.Contains([]string{"GIT_CURL_VERBOSE", "GIT_DIR", "ACTIONS_RUNTIME_TOKEN"}, name) {
			t.Errorf("holds %s", e)
		}
	}
	for _, url := range []string{"/a/path", "git@github.com:acme/infer"} {
		r.URL = url
		if all := strings.Join(r.environment(nil), " "); strings.Contains(all, "extraheader") {
			t.Errorf("%s: a header: %s", url, all)
		}
	}
}
