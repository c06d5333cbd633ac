//go:build act

package acttest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/workflow"
)

// token is the one that the jobs of the workflows get. No log, file or commit may ever hold it.
const token = "ghs_0123456789abcdefghijABCDEFGHIJ012345"

// device is what the measurements of one process of tests take turns with.
var device = fmt.Sprintf("simulated-%d", os.Getpid())

// revision is the commit of the action that the user pins.
const revision = "0123456789abcdef0123456789abcdef01234567"

// world is what all cases share: the repository of a user, the program and the action that brings it.
type world struct {
	folder string // of this run, removed at its end
	act    string // the program that plays the runner
	path   string // PATH of the lab machine
	action string // the action of this checkout, with a release.json that pins the program
	commit map[string]commits
}

// commits are those of one change of the user's repository, and of a pull request of it.
type commits struct{ base, head, merge string }

// newWorld builds the program, and the repository with a baseline that the program itself measured.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{folder: t.TempDir(), act: os.Getenv("ACT"), commit: map[string]commits{}}
	if w.act == "" {
		t.Fatal("ACT names no program: make test-actions")
	}
	bin := filepath.Join(w.folder, "bin")
	w.path = bin + string(filepath.ListSeparator) + os.Getenv("PATH")
	write(t, filepath.Join(w.folder, "home", ".gitconfig"), []byte("[user]\nname = A Maintainer\nemail = maintainer@example.com\n"), 0o644)
	root := filepath.Join("..", "..")
	w.command(t, root, "go", "build", "-o", filepath.Join(bin, "benchgate"), "./cmd/benchgate")
	w.pin(t, root, filepath.Join(bin, "benchgate"))
	w.repository(t)
	return w
}

// environment is that of the lab machine's user: no variable of whoever runs the tests, no clock in a commit.
func (w *world) environment() []string {
	return []string{
		"PATH=" + w.path, "HOME=" + filepath.Join(w.folder, "home"), "TMPDIR=" + os.TempDir(),
		"XDG_STATE_HOME=" + filepath.Join(w.folder, "state"), "XDG_CACHE_HOME=" + filepath.Join(w.folder, "cache"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
	}
}

// command runs a program of the machine in a folder and returns what it says.
func (w *world) command(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = folder
	if name == "go" {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	} else {
		cmd.Env = w.environment()
		if path, err := exec.LookPath(filepath.Join(w.folder, "bin", name)); err == nil {
			cmd.Path, cmd.Err = path, nil
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s in %q: %v\n%s", name, strings.Join(args, " "), folder, err, out)
	}
	return strings.TrimSpace(string(out))
}

// pin makes the action's folder: that of this checkout, and a release.json as the release writes it. The program lies in
// the runner's cache already, so that nothing is downloaded.
func (w *world) pin(t *testing.T, root, program string) {
	t.Helper()
	w.action = filepath.Join(w.folder, "action")
	stand, err := os.ReadFile("testdata/stand-ins/benchgate.sh")
	if err != nil {
		t.Fatal(err)
	}
	released := []byte(strings.ReplaceAll(string(stand), "@PROGRAM@", cmp.Or(os.Getenv("FAKE_ACTION"), program)))
	sum := fmt.Sprintf("%x", sha256.Sum256(released))
	for _, name := range []string{"action.yml", "scripts/install-action.sh"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(w.action, name), data, 0o644)
	}
	write(t, filepath.Join(w.action, "release.json"), fmt.Appendf(nil,
		`{"schema":"benchgate.release/v1","version":"v0.0.0","files":[{"os":%q,"arch":%q,"name":"benchgate","sha256":%q}]}`+"\n",
		runtime.GOOS, runtime.GOARCH, sum), 0o644)
	write(t, filepath.Join(w.cache(), "tool_cache", "benchgate", "v0.0.0", sum, "benchgate"), released, 0o755)
}

func (w *world) cache() string { return filepath.Join(w.folder, "runner") }

// repository makes the user's repository: the main branch with an accepted baseline, and a pull request of every change
// under testdata/changes.
func (w *world) repository(t *testing.T) {
	t.Helper()
	work := filepath.Join(w.folder, "work")
	git := func(args ...string) string { return w.command(t, work, "git", args...) }
	copyFolder(t, "testdata/repository", work)
	workflows(t, work)
	git("init", "-q", "-b", "main", ".")
	git("add", "-A")
	git("commit", "-q", "-m", "a server")
	for _, config := range []string{"benchgate.yaml", "benchgate/h100-1x.yaml", "benchgate/m4-max.yaml"} {
		out := filepath.Join(w.folder, "first", config)
		w.command(t, work, "benchgate", "run", "-c", config, "--set", "campaign.design=committed", "--lock", device, "-o", out)
		w.command(t, work, "benchgate", "baseline", "accept", out, "--reason", "first session")
	}
	git("add", "-A")
	git("commit", "-q", "-m", "a baseline")
	base := git("rev-parse", "HEAD")
	changes, err := filepath.Glob("testdata/changes/*")
	if err != nil || len(changes) == 0 {
		t.Fatal("no changes", err)
	}
	for _, change := range changes {
		name := filepath.Base(change)
		git("checkout", "-q", "-b", name, "main")
		copyFolder(t, change, work)
		git("add", "-A")
		git("commit", "-q", "-m", "change: "+name)
		head := git("rev-parse", "HEAD")
		git("checkout", "-q", "-b", "merge-"+name, "main")
		git("merge", "-q", "--no-ff", "-m", "Merge "+head+" into "+base, name)
		w.commit[name] = commits{base, head, git("rev-parse", "HEAD")}
	}
	w.commit["main"] = commits{base, base, base}
	git("checkout", "-q", "main")
	bare := origin(filepath.Join(w.folder, "hub"))
	w.command(t, w.folder, "git", "clone", "-q", "--bare", work, bare)
	// GitHub gives any commit that belongs to the repository.
	w.command(t, bare, "git", "config", "uploadpack.allowAnySHA1InWant", "true")
	for name, c := range w.commit {
		if name != "main" {
			w.command(t, bare, "git", "branch", "-q", "-D", "merge-"+name)
			w.command(t, bare, "git", "update-ref", "refs/pull/merges/"+name, c.merge)
		}
	}
}

// workflows puts those that init writes into the user's repository: the gate on pull requests, and the gate on the merge
// queue in a file of its own.
func workflows(t *testing.T, work string) {
	t.Helper()
	put := func(file, name, gateOn string) {
		text, err := workflow.Text(name, workflow.Options{GateOn: gateOn, Revision: revision, Version: "v0.0.0"})
		if err != nil {
			t.Fatal(err)
		}
		// The simulated server takes no device of the machine: nobody's measurements are waited for but those of these tests.
		text = bytes.ReplaceAll(text, []byte("mode: run\n"), []byte("mode: run\n          lock: "+device+"\n"))
		write(t, filepath.Join(work, ".github", "workflows", file), text, 0o644)
	}
	for _, name := range workflow.Initial() {
		put(name, name, "pull_request")
	}
	put("merge-queue.yml", "benchgate.yml", "merge_group")
	put("several-runners.yml", "several-runners.yml", "pull_request")
}

func write(t *testing.T, name string, data []byte, mode os.FileMode) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, data, mode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copyFolder copies files over those that are there, and links as they are.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.Type()&os.ModeSymlink != 0 {
			leads, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(leads, filepath.Join(to, name))
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		write(t, filepath.Join(to, name), data, info.Mode().Perm())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
