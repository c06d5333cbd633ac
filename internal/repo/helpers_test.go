package repo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitIn runs git in a folder, away from any configuration of this machine.
func gitIn(t *testing.T, folder string, args ...string) string {
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

func put(t *testing.T, folder, name, text string) {
	t.Helper()
	full := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func save(t *testing.T, folder string) (commit string) {
	t.Helper()
	gitIn(t, folder, "add", "-A")
	gitIn(t, folder, "commit", "-q", "--allow-empty", "-m", "state")
	return gitIn(t, folder, "rev-parse", "HEAD")
}

// repository is a git repository with one commit.
func repository(t *testing.T) (folder, commit string) {
	t.Helper()
	folder = t.TempDir()
	gitIn(t, folder, "init", "-q", "-b", "main")
	put(t, folder, "benchgate.yaml", "version: 1\n")
	put(t, folder, "ci/benchgate.yaml", "version: 1 # of ci\n")
	return folder, save(t, folder)
}
