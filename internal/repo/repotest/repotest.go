// Package repotest makes git repositories for tests, away from any configuration of this machine.
package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// New is a repository of its own with one commit on the branch main, which holds the given files: texts by name. It lasts
// as long as the test.
func New(t testing.TB, files map[string]string) (folder, commit string) {
	t.Helper()
	folder = t.TempDir()
	Git(t, folder, "init", "-q", "-b", "main")
	for name, text := range files {
		Put(t, folder, name, text)
	}
	return folder, Commit(t, folder)
}

// Put writes a file of a folder, and the folders above it; nothing is committed yet.
func Put(t testing.TB, folder, name, text string) {
	t.Helper()
	full := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Commit commits all that lies in a repository, also where nothing changed.
func Commit(t testing.TB, folder string) (commit string) {
	t.Helper()
	Git(t, folder, "add", "-A")
	Git(t, folder, "commit", "-q", "--allow-empty", "-m", "state")
	return Git(t, folder, "rev-parse", "HEAD")
}

// Git runs git in a folder, "" for the working folder, and returns what it says without the white space around it.
func Git(t testing.TB, folder string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
