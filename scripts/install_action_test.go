//go:build unix

package scripts_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestReleaseIsDownloadedOnceAndHashedAtEveryUse(t *testing.T) {
	for _, shell := range shells() {
		t.Run(shell, func(t *testing.T) {
			var asked string
			a := newAction(t, sumOf(program), func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.Path
				fmt.Fprint(w, program)
			})
			a.installed(a.install(shell))
			if want := "/benchgate/benchgate/releases/download/v1.2.3/benchgate_v1.2.3"; asked != want {
				t.Errorf("asked for %q, want %q", asked, want)
			}
			os.Remove(a.path("output"))
			a.installed(a.install(shell))
			if a.fetched != 1 {
				t.Errorf("fetched %d times, want once", a.fetched)
			}
			cached := a.path("tools/benchgate/v1.2.3/" + sumOf(program) + "/benchgate")
			broken := []byte(program)
			broken[len(broken)-2] ^= 1
			if err := os.WriteFile(cached, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"output", "ran"} {
				os.Remove(a.path(name))
			}
			a.clear()
			code, said := a.install(shell)
			a.refused(code, said, "is not the file that this commit pins")
			if now, _ := os.ReadFile(cached); !bytes.Equal(now, broken) {
				t.Error("the file that shows what happened is gone")
			}
		})
	}
}

// refusal installs on a runner, and holds that it is refused and nothing is kept for the next job.
func (a *action) refusal(why string) {
	a.t.Helper()
	code, said := a.install("bash")
	a.refused(code, said, why)
	if cached, _ := filepath.Glob(a.path("tools/benchgate/*/*/*")); len(cached) > 0 {
		a.t.Errorf("kept for the next job: %q", cached)
	}
}

func TestReleaseIsRefused(t *testing.T) {
	plain := httptest.NewServer(serving(program))
	t.Cleanup(plain.Close)
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		why   string
	}{
		"another file":  {serving(program + "# and more\n"), "is not the file that this commit pins"},
		"an empty file": {serving(""), "is not the file that this commit pins"},
		"an error page": {http.NotFound, "could not be downloaded"},
		"download cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(program)))
			fmt.Fprint(w, program[:20])
		}, "could not be downloaded"},
		"download cut without a length": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, program[:20])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "could not be downloaded"},
		"sent on to plain http": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, plain.URL, http.StatusFound)
		}, "could not be downloaded"},
	} {
		t.Run(name, func(t *testing.T) { newAction(t, sumOf(program), c.serve).refusal(c.why) })
	}
}

func TestReleaseJSONIsRefused(t *testing.T) {
	const version = `"version": "v1.2.3"`
	sum := sumOf(program)
	local := t.TempDir()
	if err := os.WriteFile(filepath.Join(local, "benchgate_v1.2.3"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		keys  string
		files []string
		why   string
	}{
		"no hash":                   {version, []string{here("-")}, "no SHA-256"},
		"half a hash":               {version, []string{here(sum[:32])}, "no SHA-256"},
		"hash in capital":           {version, []string{here(strings.ToUpper(sum))}, "no SHA-256"},
		"a local file":              {version + `, "url": "file://` + local + `"`, []string{here(sum)}, "could not be downloaded"},
		"no release":                {`"version": ""`, nil, "belongs to no release"},
		"no such platform":          {version, []string{entry("plan9", "mips", sum)}, "has no file for"},
		"a version that climbs":     {`"version": "../../x"`, []string{here(sum)}, "no version"},
		"a name that climbs":        {version, []string{strings.ReplaceAll(here(sum), "benchgate_v1.2.3", "../x")}, "names no file"},
		"two files of one platform": {version, []string{here(sum), here(sum)}, "no SHA-256"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAction(t, sum, serving(program))
			a.release(c.keys, c.files...)
			a.refusal(c.why)
		})
	}
}

func TestRunnerThatCannotInstallSaysWhatItLacks(t *testing.T) {
	plain := httptest.NewServer(serving(program))
	t.Cleanup(plain.Close)
	for name, c := range map[string]struct {
		set func(*action)
		why string
	}{
		"plain http":      {func(a *action) { a.env["GITHUB_SERVER_URL"] = plain.URL }, "could not be downloaded"},
		"no release.json": {func(a *action) { os.Remove(a.path("action/release.json")) }, "release.json cannot be read"},
		"another schema": {func(a *action) {
			a.write("action/release.json", `{"schema": "benchgate.release/v2", "version": "v9"}`, 0o600)
		}, "not a benchgate.release/v1"},
		"no curl":               {func(a *action) { a.env["PATH"] = a.without("curl") }, "curl is not on this runner"},
		"nothing to hash with":  {func(a *action) { a.env["PATH"] = a.without("sha256sum", "shasum") }, "neither sha256sum nor shasum"},
		"a system of its own":   {func(a *action) { a.env["PATH"] = a.pretending("uname", "echo MINGW64_NT-10.0") }, "there is no benchgate for MINGW64_NT-10.0"},
		"a tool cache in a way": {func(a *action) { a.env["RUNNER_TOOL_CACHE"] = a.path("ca.pem") }, "cannot be made"},
		"a full disk":           {func(a *action) { a.env["PATH"] = a.pretending("mv", "exit 1") }, "cannot be written"},
		"another install":       {func(a *action) { a.env["BENCHGATE_INSTALL"] = "::set-env name=x::y" }, "neither release, source nor path"},
		"no runner":             {func(a *action) { delete(a.env, "GITHUB_OUTPUT") }, "this script is for action.yml"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAction(t, sumOf(program), serving(program))
			c.set(a)
			a.refusal(c.why)
		})
	}
}

func TestReleaseOfAnotherPlaceIsFetchedThere(t *testing.T) {
	a := newAction(t, sumOf(program), serving(program))
	a.release(fmt.Sprintf(`"version": "v1.2.3", "url": "%s/mirror"`, a.env["GITHUB_SERVER_URL"]), entry("plan9", "mips", sumOf(program)), here(sumOf(program)))
	a.env["GITHUB_SERVER_URL"] = "https://127.0.0.1:1"
	a.installed(a.install("bash"))
}

// TestTwoJobsInstallAtOnce starts eight: none sees another's half-written file.
func TestTwoJobsInstallAtOnce(t *testing.T) {
	const jobs = 8
	ready := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Add(jobs)
	a := newAction(t, sumOf(program), func(w http.ResponseWriter, _ *http.Request) {
		waiting.Done()
		<-ready
		fmt.Fprint(w, program)
	})
	go func() { waiting.Wait(); close(ready) }() // all of them found the cache empty
	var all sync.WaitGroup
	for range jobs {
		all.Go(func() {
			if code, said := a.install("bash"); code != 0 {
				t.Errorf("exit code %d:\n%s", code, said)
			}
		})
	}
	all.Wait()
	if left, _ := filepath.Glob(a.path("tools/benchgate/v1.2.3/*/.part*")); len(left) > 0 {
		t.Errorf("left in the cache: %q", left)
	}
	os.Remove(a.path("output"))
	a.installed(a.install("bash"))
	if a.fetched != jobs {
		t.Errorf("fetched %d times, want %d and then the cache", a.fetched, jobs)
	}
}

func TestProgramOnTheRunnerNeedsItsHash(t *testing.T) {
	const hostile = "it's; $(touch stray) `touch stray` -x/bench gate"
	for name, c := range map[string]struct {
		binary, sum, why string // why is empty where it is installed
	}{
		"its hash":              {hostile, sumOf(program), ""},
		"its hash in capitals":  {hostile, strings.ToUpper(sumOf(program)), ""},
		"a name like a flag":    {"-x", sumOf(program), ""},
		"another hash":          {hostile, sumOf("x"), "is another file"},
		"no hash":               {hostile, "", "needs binary-sha256"},
		"a hash and a command":  {hostile, sumOf(program) + "; touch stray", "needs binary-sha256"},
		"no binary":             {"", sumOf(program), "needs the input binary"},
		"a binary not there":    {"$(touch stray)", sumOf(program), "is no file on this runner"},
		"a folder":              {".", sumOf(program), "is no file on this runner"},
		"a name like a command": {"x\n::add-mask::y", sumOf(program), "is no file on this runner"},
		"a name like markup":    {"`x` 100%0A::add-mask::y ##[group]\xff", sumOf(program), "is no file on this runner"},
	} {
		for _, shell := range shells() {
			t.Run(name+" in "+shell, func(t *testing.T) {
				a := newAction(t, sumOf(program), http.NotFound)
				a.write("work/"+hostile, program, 0o600)
				a.write("work/-x", program, 0o600)
				a.env["BENCHGATE_INSTALL"], a.env["BENCHGATE_BINARY"], a.env["BENCHGATE_BINARY_SHA256"] = "path", c.binary, c.sum
				code, said := a.install(shell)
				if c.why != "" {
					a.refused(code, said, c.why)
				} else {
					a.installed(code, said)
					a.commands(said)
				}
			})
		}
	}
}

// TestSourceIsBuilt builds a program in the place of benchgate: the real one takes too long for a test of a script.
func TestSourceIsBuilt(t *testing.T) {
	a := newAction(t, "", http.NotFound)
	a.env["BENCHGATE_INSTALL"] = "source"
	for _, name := range []string{"HOME", "GOCACHE", "GOMODCACHE"} {
		a.env[name] = os.Getenv(name)
	}
	a.env["GOFLAGS"] = "-toolexec=false" // whoever can set it for the step would be run by the build
	a.write("action/go.mod", "module example.org/x\n\ngo 1.26\n", 0o600)
	a.write("action/cmd/benchgate/main.go", "package main\n\nfunc main() { print(\"benchgate built\") }\n", 0o600)
	if code, said := a.install("bash"); code != 0 || !strings.Contains(said, "benchgate built") {
		t.Errorf("exit code %d:\n%s", code, said)
	}
	os.Remove(a.path("output"))
	a.clear()
	a.write("action/cmd/benchgate/main.go", "package main\n\nfunc main() { x }\n", 0o600)
	code, said := a.install("bash")
	a.refused(code, said, "go build failed")
	a.env["PATH"] = a.without("go")
	code, said = a.install("bash")
	a.refused(code, said, "needs Go on the runner")
}
