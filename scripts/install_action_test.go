//go:build unix

package scripts_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program stands in for benchgate: that it ran at all can be seen in the file ran.
const program = "#!/bin/sh\necho \"benchgate $1\"\n: >\"$ran\"\n"

func sumOf(data string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(data))) }

// action is a copy of what action.yml brings along, a runner to use it on, and the server of its releases.
type action struct {
	t       *testing.T
	folder  string            // of all the others; its name is one that a shell would take apart
	env     map[string]string // of the step
	fetched int
	mu      sync.Mutex
}

// newAction has a release.json with one file, for this machine, of the given hash; its server answers with serve.
func newAction(t *testing.T, sha256 string, serve http.HandlerFunc) *action {
	t.Helper()
	a := &action{t: t, folder: filepath.Join(t.TempDir(), "a b; $(touch stray) 'c'")}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.fetched++
		a.mu.Unlock()
		serve(w, r)
	}))
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	script, err := os.ReadFile("install-action.sh")
	if err != nil {
		t.Fatal(err)
	}
	a.write("action/scripts/install-action.sh", string(script), 0o755)
	a.write("ca.pem", string(authority), 0o600)
	a.release(`"version": "v1.2.3", "go": "go1.26.8"`, fmt.Sprintf(`{"os": %q, "arch": %q, "name": "benchgate_v1.2.3", "sha256": %q}`, runtime.GOOS, runtime.GOARCH, sha256))
	for _, d := range []string{"temp", "tools", "work"} {
		if err := os.MkdirAll(filepath.Join(a.folder, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	a.env = map[string]string{
		"PATH":                os.Getenv("PATH"),
		"RUNNER_TEMP":         a.path("temp"),
		"RUNNER_TOOL_CACHE":   a.path("tools"),
		"GITHUB_OUTPUT":       a.path("output"),
		"GITHUB_STEP_SUMMARY": a.path("summary"),
		"GITHUB_SERVER_URL":   server.URL,
		"CURL_CA_BUNDLE":      a.path("ca.pem"),
		"ran":                 a.path("ran"),

		"BENCHGATE_INSTALL":           "release",
		"BENCHGATE_ACTION_REPOSITORY": "benchgate/benchgate",
	}
	return a
}

func (a *action) path(name string) string { return filepath.Join(a.folder, name) }

func (a *action) write(name, text string, mode os.FileMode) {
	a.t.Helper()
	path := a.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		a.t.Fatal(err)
	}
}

// release writes release.json with more keys before its files.
func (a *action) release(keys string, files ...string) {
	a.t.Helper()
	a.write("action/release.json", "{\n  \"schema\": \"benchgate.release/v1\",\n  "+keys+",\n  \"files\": [\n    "+strings.Join(files, ",\n    ")+"\n  ]\n}\n", 0o600)
}

// install runs the step and returns its exit code and what it said.
func (a *action) install(shell string) (code int, said string) {
	a.t.Helper()
	step := exec.Command(shell, a.path("action/scripts/install-action.sh"))
	step.Dir = a.path("work")
	for k, v := range a.env {
		step.Env = append(step.Env, k+"="+v)
	}
	out, err := step.CombinedOutput()
	if step.ProcessState == nil {
		a.t.Fatal(err)
	}
	return step.ProcessState.ExitCode(), string(out)
}

// installed holds that one program was installed, that it is this one, and that it runs from the folder of the job.
func (a *action) installed(code int, said string) {
	a.t.Helper()
	output, _ := os.ReadFile(a.path("output"))
	bin, ok := strings.CutPrefix(strings.TrimSuffix(string(output), "\n"), "bin=")
	if code != 0 || !ok || !strings.HasPrefix(bin, a.path("temp")+"/") {
		a.t.Fatalf("exit code %d, output %q\n%s", code, output, said)
	}
	got, err := os.ReadFile(bin)
	if diff := cmp.Diff(program, string(got)); diff != "" || err != nil {
		a.t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if !strings.Contains(said, "benchgate version") {
		a.t.Errorf("it does not say what it installed:\n%s", said)
	}
}

// refused holds that nothing was run, named or left behind, and that the sentence says why.
func (a *action) refused(code int, said, why string) {
	a.t.Helper()
	if code != 2 || !strings.Contains(said, why) {
		a.t.Errorf("exit code %d, want 2 and %q:\n%s", code, why, said)
	}
	a.commands(said, "::error title=benchgate is not installed::install benchgate: ")
	summary, _ := os.ReadFile(a.path("summary"))
	os.Remove(a.path("summary")) // each refusal is told once
	if s := string(summary); !strings.HasPrefix(s, "**benchgate** is not installed: ` ") || !strings.Contains(s, why) || strings.Count(s, "\n") != 1 || strings.Count(s, "`") != 2 {
		a.t.Errorf("the summary is %q", s)
	}
	for _, name := range []string{"ran", "output", "work/stray", "stray"} {
		if _, err := os.Stat(a.path(name)); err == nil {
			a.t.Errorf("%q is there", name)
		}
	}
	left, _ := filepath.Glob(filepath.Join(a.path("temp"), "*"))
	if len(left) > 0 {
		a.t.Errorf("left behind: %q", left)
	}
}

// commands holds that these are the workflow commands that were said, by how they begin: a foreign name is none.
func (a *action) commands(said string, want ...string) {
	a.t.Helper()
	var got []string
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "::") || strings.Contains(line, "##[") {
			got = append(got, line)
		}
	}
	if len(got) != len(want) || len(want) > 0 && !strings.HasPrefix(got[0], want[0]) {
		a.t.Errorf("workflow commands: %q", got)
	}
}

func serving(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// shells are bash, as the step is run, and a shell that knows only what the old bash of macOS is sure to know, too.
func shells() []string {
	if _, err := exec.LookPath("dash"); err == nil {
		return []string{"bash", "dash"}
	}
	return []string{"bash"}
}

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

// clear empties the folder of the job, as a runner does between two jobs.
func (a *action) clear() {
	a.t.Helper()
	if err := errors.Join(os.RemoveAll(a.path("temp")), os.Mkdir(a.path("temp"), 0o755)); err != nil {
		a.t.Fatal(err)
	}
}

func TestReleaseIsRefused(t *testing.T) {
	plain := httptest.NewServer(serving(program))
	t.Cleanup(plain.Close)
	local := t.TempDir()
	if err := os.WriteFile(filepath.Join(local, "benchgate_v1.2.3"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		sum   string
		set   func(*action)
		why   string
	}{
		"another file":    {serve: serving(program + "# and more\n"), why: "is not the file that this commit pins"},
		"an empty file":   {serve: serving(""), why: "is not the file that this commit pins"},
		"an error page":   {serve: http.NotFound, why: "could not be downloaded"},
		"no hash":         {sum: "-", why: "no SHA-256"},
		"half a hash":     {sum: sumOf(program)[:32], why: "no SHA-256"},
		"hash in capital": {sum: strings.ToUpper(sumOf(program)), why: "no SHA-256"},
		"download cut": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(program)))
			fmt.Fprint(w, program[:20])
		}, why: "could not be downloaded"},
		"download cut without a length": {serve: func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, program[:20])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, why: "could not be downloaded"},
		"sent on to plain http": {serve: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, plain.URL, http.StatusFound)
		}, why: "could not be downloaded"},
		"plain http": {set: func(a *action) { a.env["GITHUB_SERVER_URL"] = plain.URL }, why: "could not be downloaded"},
		"a local file": {set: func(a *action) {
			a.release(`"version": "v1.2.3", "url": "file://`+local+`"`, entry(runtime.GOOS, runtime.GOARCH))
		}, why: "could not be downloaded"},
		"no release":       {set: func(a *action) { a.release(`"version": ""`) }, why: "belongs to no release"},
		"no such platform": {set: func(a *action) { a.release(`"version": "v1.2.3"`, entry("plan9", "mips")) }, why: "has no file for"},
		"no release.json":  {set: func(a *action) { os.Remove(a.path("action/release.json")) }, why: "release.json cannot be read"},
		"another schema": {set: func(a *action) {
			a.write("action/release.json", `{"schema": "benchgate.release/v2", "version": "v9"}`, 0o600)
		}, why: "not a benchgate.release/v1"},
		"a version that climbs": {set: func(a *action) { a.release(`"version": "../../x"`, entry(runtime.GOOS, runtime.GOARCH)) }, why: "no version"},
		"a name that climbs": {set: func(a *action) {
			a.release(`"version": "v1"`, strings.ReplaceAll(entry(runtime.GOOS, runtime.GOARCH), "benchgate_v1.2.3", "../x"))
		}, why: "names no file"},
		"two files of one platform": {set: func(a *action) {
			a.release(`"version": "v1"`, entry(runtime.GOOS, runtime.GOARCH), entry(runtime.GOOS, runtime.GOARCH))
		}, why: "no SHA-256"},
		"no curl":               {set: func(a *action) { a.env["PATH"] = a.without("curl") }, why: "curl is not on this runner"},
		"nothing to hash with":  {set: func(a *action) { a.env["PATH"] = a.without("sha256sum", "shasum") }, why: "neither sha256sum nor shasum"},
		"a system of its own":   {set: func(a *action) { a.env["PATH"] = a.pretending("uname", "echo MINGW64_NT-10.0") }, why: "there is no benchgate for MINGW64_NT-10.0"},
		"a tool cache in a way": {set: func(a *action) { a.env["RUNNER_TOOL_CACHE"] = a.path("ca.pem") }, why: "cannot be made"},
		"a full disk":           {set: func(a *action) { a.env["PATH"] = a.pretending("mv", "exit 1") }, why: "cannot be written"},
		"another install":       {set: func(a *action) { a.env["BENCHGATE_INSTALL"] = "::set-env name=x::y" }, why: "neither release, source nor path"},
		"no runner":             {set: func(a *action) { delete(a.env, "GITHUB_OUTPUT") }, why: "this script is for action.yml"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.serve == nil {
				c.serve = serving(program)
			}
			if c.sum == "" {
				c.sum = sumOf(program)
			}
			a := newAction(t, c.sum, c.serve)
			if c.set != nil {
				c.set(a)
			}
			code, said := a.install("bash")
			a.refused(code, said, c.why)
			if cached, _ := filepath.Glob(a.path("tools/benchgate/*/*/*")); len(cached) > 0 {
				t.Errorf("kept for the next job: %q", cached)
			}
		})
	}
}

func entry(system, arch string) string {
	return fmt.Sprintf(`{"os": %q, "arch": %q, "name": "benchgate_v1.2.3", "sha256": %q}`, system, arch, sumOf(program))
}

func TestReleaseOfAnotherPlaceIsFetchedThere(t *testing.T) {
	a := newAction(t, sumOf(program), serving(program))
	a.release(fmt.Sprintf(`"version": "v1.2.3", "url": "%s/mirror"`, a.env["GITHUB_SERVER_URL"]), entry("plan9", "mips"), entry(runtime.GOOS, runtime.GOARCH))
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

// without is a PATH of what the script uses but for the given commands.
func (a *action) without(missing ...string) string {
	a.t.Helper()
	folder := a.t.TempDir()
	for _, name := range strings.Fields("bash sh dirname tr sed sha256sum shasum cp cat uname grep mkdir mktemp mv rm chmod curl env go") {
		path, err := exec.LookPath(name)
		if err != nil || strings.Contains(" "+strings.Join(missing, " ")+" ", " "+name+" ") {
			continue
		}
		if err := os.Symlink(path, filepath.Join(folder, name)); err != nil {
			a.t.Fatal(err)
		}
	}
	return folder
}

// pretending is a PATH with a command that does something else.
func (a *action) pretending(name, does string) string {
	a.t.Helper()
	a.write("bin/"+name, "#!/bin/sh\n"+does+"\n", 0o755)
	return a.path("bin") + ":" + os.Getenv("PATH")
}

// TestCancelReachesTheProgram: a runner that cancels a job signals the first process of the step, and nobody else.
func TestCancelReachesTheProgram(t *testing.T) {
	action, err := os.ReadFile("../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^ +run: (.*BENCHGATE_BIN.*)$`).FindSubmatch(action)
	if line == nil {
		t.Fatal("no step of action.yml runs the program")
	}
	folder := t.TempDir()
	step, bin := filepath.Join(folder, "step.sh"), filepath.Join(folder, "bench gate")
	server := "#!/bin/sh\ntrap 'kill $!; echo \"stopped $1\"; exit 130' INT\nsleep 60 &\necho ready\nwait\n"
	if err := errors.Join(os.WriteFile(step, line[1], 0o600), os.WriteFile(bin, []byte(server), 0o755)); err != nil {
		t.Fatal(err)
	}
	// As the runner starts what has `shell: bash`.
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", step)
	cmd.Env = append(os.Environ(), "BENCHGATE_BIN="+bin)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	if got, err := said.ReadString('\n'); got != "ready\n" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(said)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 || string(got) != "stopped action\n" {
		t.Errorf("%q, %v", got, err)
	}
}
