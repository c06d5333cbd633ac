package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/config"
)

func TestSecretsOfTheJobAreWithheld(t *testing.T) {
	ours := []string{
		"PATH=/bin", "HOME=/home/u", "CUDA_VISIBLE_DEVICES=0", "HTTP_PROXY=http://p", "GITHUB_SHA=abc", "RUNNER_TEMP=/t", "TOKENIZERS_PARALLELISM=false",
		"MAX_TOKENS=5", "MONKEY=1", "ALREADY=old",
		"GITHUB_TOKEN=s", "GH_TOKEN=s", "ACTIONS_RUNTIME_TOKEN=s", "ACTIONS_ID_TOKEN_REQUEST_URL=s", "AWS_PROFILE=s", "AWS_SECRET_ACCESS_KEY=s",
		"HF_TOKEN=s", "OPENAI_API_KEY=s", "NPM_TOKEN=s", "DB_PASSWORD=s", "github_token=s", "GITHUB_OUTPUT=s", "GITHUB_ENV=s", "SSH_AUTH_SOCK=s",
		"CLIENT_SECRET=s", "AZURE_CLIENT_ID=s", "TOKEN=s", "MY_BENCH=s", "GOOGLE_APPLICATION_CREDENTIALS=s", "NOT_ADMITTED_PAT=s",
	}
	target := config.Target{
		APIKeyEnv: "MY_BENCH", PassEnv: []string{"HF_TOKEN", "NPM_TOKEN", "ABSENT"},
		Env: map[string]string{"ALREADY": "new", "NPM_TOKEN": "given", "LISTEN": "127.0.0.1:{port}"},
	}
	want := []string{
		"ALREADY=new", "CUDA_VISIBLE_DEVICES=0", "GITHUB_SHA=abc", "HF_TOKEN=s", "HOME=/home/u", "HTTP_PROXY=http://p", "LISTEN=127.0.0.1:8123",
		"MAX_TOKENS=5", "MONKEY=1", "NPM_TOKEN=given", "PATH=/bin", "RUNNER_TEMP=/t", "TOKENIZERS_PARALLELISM=false",
	}
	if diff := cmp.Diff(want, environment(ours, target, "8123")); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

// A pull request writes target, and with it pass_env: what is the job's own stays with the job.
func TestNoConfigPassesWhatIsTheJobsOwn(t *testing.T) {
	names := []string{
		"BENCHGATE_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY",
		"ACTIONS_RUNTIME_TOKEN", "ACTIONS_RUNTIME_URL", "ACTIONS_RESULTS_URL", "ACTIONS_CACHE_URL", "ACTIONS_ID_TOKEN_REQUEST_URL",
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN", "INPUT_TOKEN", "github_env", "Actions_Runtime_Token",
	}
	var ours []string
	for _, name := range names {
		ours = append(ours, name+"=s")
	}
	for _, passed := range [][]string{nil, names} {
		if got := environment(ours, config.Target{PassEnv: passed}, ""); len(got) > 0 {
			t.Errorf("pass_env %v lets through %v", passed, got)
		}
	}
}

func TestTheKeysOwnVariableMayBePassed(t *testing.T) {
	target := config.Target{APIKeyEnv: "MY_KEY", PassEnv: []string{"MY_KEY"}}
	if got := environment([]string{"MY_KEY=s"}, target, ""); len(got) != 1 {
		t.Errorf("environment %v", got)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct{ base, origin, port string }{
		{"http://127.0.0.1:8000/v1", "http://127.0.0.1:8000", "8000"},
		{"http://localhost/v1", "http://localhost", "80"},
		{"https://api.example.com/v1", "https://api.example.com", "443"},
		{"http://[::1]:9/v1", "http://[::1]:9", "9"},
	} {
		a, err := resolve(config.Target{BaseURL: c.base})
		if err != nil || a.base != c.base || a.origin != c.origin || a.port != c.port {
			t.Errorf("%s: %+v, %v", c.base, a, err)
		}
	}
	a, err := resolve(config.Target{BaseURL: "http://localhost:{port}/v1"})
	if err != nil || a.base != "http://localhost:"+a.port+"/v1" || a.port == "0" {
		t.Errorf("%+v, %v", a, err)
	}
	if err := a.free(t.Context()); err != nil {
		t.Errorf("the chosen port is not free: %v", err)
	}
	for _, bad := range []string{"", "/v1", "http://user:secret@/v1", "http://u:secret@h:port/v1"} {
		if _, err := resolve(config.Target{BaseURL: bad}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestTheTailIsShortAndPrintable(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	f, _, err := openLog(name)
	if err != nil {
		t.Fatal(err)
	}
	write := func(s string) {
		if _, err := f.WriteString(s); err != nil {
			t.Fatal(err)
		}
	}
	write("an earlier start\n")
	f.Close()
	f, l, err := openLog(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := l.tail(nil); got != "" {
		t.Errorf("tail %q of a silent start", got)
	}
	write("\x1b]0;title\x07one\x1b[2J\u009b31m\x00\n\n 10%\r 50%\r100% loaded\r\nbad \xff utf8\tkey sk-abc and sk-\x1b[1mabc and tok\xffen\nunfinished")
	if diff := cmp.Diff("one\n100% loaded\nbad � utf8 key [redacted] and [redacted] and [redacted]\nunfinished", l.tail([]string{"sk-abc", "tok\xffen"})); diff != "" {
		t.Errorf("tail (-want +got):\n%s", diff)
	}
	write("\n" + strings.Repeat("x", 3*tailBytes))
	if got := l.tail([]string{"secret"}); got != strings.Repeat("x", lineRunes)+"…" {
		t.Errorf("tail of a long line has %d bytes", len(got))
	}
	write("\n" + strings.Repeat("line\n", 10000))
	if got := l.tail(nil); got != strings.TrimSuffix(strings.Repeat("line\n", tailLines), "\n") {
		t.Errorf("tail of many lines: %q", got)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if got := l.tail(nil); got != "" {
		t.Errorf("tail %q of no file", got)
	}
}

func FuzzLastLines(f *testing.F) {
	for _, s := range []string{"", "a\nb\n", "\x1b[31mred\x1b[0m", "a\rb\r\n", "\xff\xfe\x00", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "\u202eevil", strings.Repeat("é", 500)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := lastLines(s)
		if n := strings.Count(got, "\n"); n >= tailLines {
			t.Errorf("%d lines", n+1)
		}
		if !utf8.ValidString(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		for _, r := range got {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("unprintable %U in %q", r, got)
			}
		}
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(line); n > lineRunes+2 {
				t.Errorf("a line of %d characters", n)
			}
		}
	})
}
