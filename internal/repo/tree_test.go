package repo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/repo/repotest"
)

func TestATreeIsTheCheckoutThatAFolderLiesIn(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repotest.Git(t, folder, "init", "-q", "-b", "main", "outer")
	outer := filepath.Join(folder, "outer")
	repotest.Put(t, outer, "server/run.sh", "true\n")
	repotest.Commit(t, outer)
	repotest.Git(t, outer, "worktree", "add", "-q", "--detach", "base")
	repotest.Git(t, outer, "init", "-q", "engine")
	repotest.Put(t, outer, "build/server", "built")
	for dir, want := range map[string]string{
		"outer": "outer", "outer/server": "outer", "outer/build": "outer", "outer/base": "outer/base", "outer/base/server": "outer/base",
		"outer/engine": "outer/engine", ".": "", "outer/.git": "", "outer/.git/refs": "",
	} {
		got, err := Tree(t.Context(), filepath.Join(folder, dir))
		if want != "" {
			want = filepath.Join(folder, want)
		}
		if got != want || err != nil {
			t.Errorf("%s: %q, error %v, want %q", dir, got, err, want)
		}
	}
	if got, err := Tree(t.Context(), filepath.Join(folder, "nowhere")); err == nil {
		t.Errorf("a folder that is not there lies in %q", got)
	}
}

// editsOf holds what is edited in a repository against what a test wants.
func editsOf(t *testing.T, folder string) func(want ...string) {
	return func(want ...string) {
		t.Helper()
		got, err := Edited(t.Context(), filepath.Join(folder, "ci"))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	}
}

func TestEditedIsWhatGitTracksAndTheCommitHasOtherwise(t *testing.T) {
	folder, _ := repository(t)
	edited := editsOf(t, folder)
	edited()
	repotest.Put(t, folder, "build/server", "built")
	repotest.Put(t, folder, "ci/benchgate.yaml", "version: 1 # of ci\n") // the same, written again
	edited()
	repotest.Put(t, folder, "ci/benchgate.yaml", "version: 2\n")
	repotest.Put(t, folder, "ci/new.yaml", "version: 1\n")
	repotest.Git(t, folder, "add", "ci/new.yaml")
	if err := os.Remove(filepath.Join(folder, "benchgate.yaml")); err != nil {
		t.Fatal(err)
	}
	edited("benchgate.yaml", "ci/benchgate.yaml", "ci/new.yaml")
	if got, err := Edited(t.Context(), t.TempDir()); err == nil {
		t.Errorf("outside of a repository %q are edited", got)
	}
}

func TestWhatTheIndexHidesIsEditedAllTheSame(t *testing.T) {
	folder, _ := repository(t)
	edited := editsOf(t, folder)
	for _, flag := range []string{"assume-unchanged", "skip-worktree"} {
		repotest.Git(t, folder, "update-index", "--"+flag, "ci/benchgate.yaml")
		edited()
		repotest.Put(t, folder, "ci/benchgate.yaml", "version: 2\n")
		edited("ci/benchgate.yaml")
		repotest.Git(t, folder, "update-index", "--no-"+flag, "ci/benchgate.yaml")
		repotest.Git(t, folder, "checkout", "-q", ".")
	}
	repotest.Git(t, folder, "update-index", "--assume-unchanged", "benchgate.yaml")
	if err := os.Remove(filepath.Join(folder, "benchgate.yaml")); err != nil {
		t.Fatal(err)
	}
	edited("benchgate.yaml")
	repotest.Git(t, folder, "config", "core.ignoreStat", "true")
	repotest.Git(t, folder, "config", "diff.autoRefreshIndex", "false")
	edited("benchgate.yaml")
}

func TestASparseCheckoutIsAsItsCommitHasIt(t *testing.T) {
	folder, _ := repository(t)
	repotest.Git(t, folder, "sparse-checkout", "set", "--cone", "docs")
	if _, err := os.Stat(filepath.Join(folder, "ci")); err == nil {
		t.Fatal("the checkout is not sparse")
	}
	if got, err := Edited(t.Context(), folder); len(got) > 0 || err != nil {
		t.Errorf("edited %q, error %v", got, err)
	}
	repotest.Put(t, folder, "ci/benchgate.yaml", "version: 2\n")
	if got, err := Edited(t.Context(), folder); cmp.Diff([]string{"ci/benchgate.yaml"}, got) != "" || err != nil {
		t.Errorf("edited %q, error %v", got, err)
	}
}

func TestSubmodulesModesAndLinksAreComparedAsGitDoes(t *testing.T) {
	engine, _ := repotest.New(t, map[string]string{"serve": "true\n"})
	folder, _ := repository(t)
	repotest.Put(t, folder, "lines.txt", "a\r\nb\r\n")
	repotest.Put(t, folder, ".gitattributes", "*.txt text=auto\n")
	repotest.Put(t, folder, "serve.sh", "true\n")
	if err := os.Symlink("serve.sh", filepath.Join(folder, "serve")); err != nil {
		t.Fatal(err)
	}
	repotest.Git(t, folder, "-c", "protocol.file.allow=always", "submodule", "add", "-q", engine, "engine")
	repotest.Commit(t, folder)
	edited := func(want ...string) {
		t.Helper()
		got, err := Edited(t.Context(), folder)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	}
	edited()
	repotest.Put(t, folder, "engine/built", "built")
	edited()
	repotest.Put(t, folder, "engine/serve", "false\n")
	edited("engine")
	repotest.Git(t, folder, "submodule", "deinit", "-q", "--force", "engine")
	edited()
	if err := os.Chmod(filepath.Join(folder, "serve.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	edited("serve.sh")
}
