//go:build unix

package scripts_test

import (
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
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
	a.release(`"version": "v1.2.3", "go": "go1.26.8"`, here(sha256))
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

func serving(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
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

// entry is a file of a release.
func entry(system, arch, sha256 string) string {
	return fmt.Sprintf(`{"os": %q, "arch": %q, "name": "benchgate_v1.2.3", "sha256": %q}`, system, arch, sha256)
}

// here is the entry of this machine.
func here(sha256 string) string { return entry(runtime.GOOS, runtime.GOARCH, sha256) }

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

// clear empties the folder of the job, as a runner does between two jobs.
func (a *action) clear() {
	a.t.Helper()
	if err := errors.Join(os.RemoveAll(a.path("temp")), os.Mkdir(a.path("temp"), 0o755)); err != nil {
		a.t.Fatal(err)
	}
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

// shells are bash, as the step is run, and a shell that knows only what the old bash of macOS is sure to know, too.
func shells() []string {
	if _, err := exec.LookPath("dash"); err == nil {
		return []string{"bash", "dash"}
	}
	return []string{"bash"}
}
