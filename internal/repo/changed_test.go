package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/repo/repotest"
)

// history is main with two commits, and a branch that left it after the first: it edits, moves and deletes.
func history(t *testing.T) (folder string, commits map[string]string) {
	t.Helper()
	folder, _ = repository(t)
	repotest.Put(t, folder, "engine/a.go", strings.Repeat("a line that moves\n", 20))
	repotest.Put(t, folder, "gone.txt", "x")
	fork := repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "-b", "side")
	repotest.Git(t, folder, "mv", "engine/a.go", "engine/b.go")
	repotest.Git(t, folder, "rm", "-q", "gone.txt")
	repotest.Put(t, folder, "odd/a\nb", "x")
	repotest.Put(t, folder, "odd/$(id)", "x")
	repotest.Put(t, folder, "-flag", "x")
	side := repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "main")
	repotest.Put(t, folder, "only/on-main.txt", "x")
	tip := repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "-b", "queue")
	repotest.Git(t, folder, "merge", "-q", "--no-ff", "-m", "merge", "side")
	return folder, map[string]string{"fork": fork, "side": side, "main": tip, "merge": repotest.Git(t, folder, "rev-parse", "HEAD")}
}

var sideChanges = []string{"-flag", "engine/a.go", "engine/b.go", "gone.txt", "odd/$(id)", "odd/a\nb"}

func TestChangedIsWhatHeadDidSinceItLeftBase(t *testing.T) {
	folder, commits := history(t)
	for _, c := range []struct {
		base, head string
		want       []string
	}{
		{"main", "side", sideChanges},
		{"main", "merge", sideChanges},
		{"fork", "side", sideChanges},
		{"side", "main", []string{"only/on-main.txt"}},
		{"side", "side", nil},
		{"merge", "main", nil},
	} {
		got, err := Changed(t.Context(), folder, commits[c.base], commits[c.head])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, paths(got)); diff != "" {
			t.Errorf("%s to %s (-want +got):\n%s", c.base, c.head, diff)
		}
	}
}

func paths(all []Change) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.Path)
	}
	return out
}

func TestChangesTellLinksSubmodulesAndModes(t *testing.T) {
	folder, _ := repository(t)
	repotest.Put(t, folder, "file", "x")
	repotest.Put(t, folder, "becomes-link", "x")
	repotest.Put(t, folder, "becomes-program", "x")
	repotest.Put(t, folder, "gone", "x")
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("one", "link")
	link("one", "link-gone")
	submodule := func(digit, name string) {
		repotest.Git(t, folder, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(digit, 40)+","+name)
	}
	submodule("1", "sub")
	repotest.Git(t, folder, "add", ".")
	submodule("1", "sub")
	repotest.Git(t, folder, "commit", "-q", "-m", "base")
	base := repotest.Git(t, folder, "rev-parse", "HEAD")
	repotest.Put(t, folder, "file", "y")
	repotest.Put(t, folder, "new", "y")
	for _, name := range []string{"becomes-link", "link", "link-gone", "gone"} {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("two", "becomes-link")
	link("two", "link")
	repotest.Git(t, folder, "add", "-A", ".")
	repotest.Git(t, folder, "update-index", "--chmod=+x", "becomes-program")
	submodule("2", "sub")
	repotest.Git(t, folder, "commit", "-q", "-m", "head")
	got, err := Changed(t.Context(), folder, base, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{
		{"becomes-link", "100644", "120000"},
		{"becomes-program", "100644", "100755"},
		{"file", "100644", "100644"},
		{"gone", "100644", ""},
		{"link", "120000", "120000"},
		{"link-gone", "120000", ""},
		{"new", "", "100644"},
		{"sub", "160000", "160000"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	leads := map[string]string{"becomes-link": "a symbolic link", "link": "a symbolic link", "link-gone": "a symbolic link", "sub": "a submodule"}
	regular := map[string]bool{"file": true, "gone": true, "new": true}
	for _, c := range got {
		if c.Leads() != leads[c.Path] || c.Regular() != regular[c.Path] {
			t.Errorf("%s: leads %q, regular %t", c.Path, c.Leads(), c.Regular())
		}
	}
}

func TestChangedIsToldFromTheRootInAnyFolder(t *testing.T) {
	folder, commits := history(t)
	repotest.Git(t, folder, "config", "diff.relative", "true")
	repotest.Git(t, folder, "config", "diff.external", "/bin/false")
	repotest.Git(t, folder, "config", "diff.renames", "copies")
	got, err := Changed(t.Context(), filepath.Join(folder, "engine"), commits["main"], commits["side"])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sideChanges, paths(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestChangedAfterMergesCrosswiseIsWhatEitherAncestorShows(t *testing.T) {
	folder, _ := repository(t)
	repotest.Git(t, folder, "checkout", "-q", "-b", "left")
	repotest.Put(t, folder, "left.txt", "x")
	left := repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "-b", "right", "main")
	repotest.Put(t, folder, "right.txt", "x")
	right := repotest.Commit(t, folder)
	repotest.Git(t, folder, "merge", "-q", "-m", "m", left)
	repotest.Git(t, folder, "checkout", "-q", "left")
	repotest.Git(t, folder, "merge", "-q", "-m", "m", right)
	repotest.Put(t, folder, "new.txt", "x")
	repotest.Commit(t, folder)
	got, err := Changed(t.Context(), folder, "right", "left")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"left.txt", "new.txt", "right.txt"}, paths(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestShallowClonesSayFetchDepth(t *testing.T) {
	folder, commits := history(t)
	clone := func(depth string) string {
		shallow := filepath.Join(t.TempDir(), "shallow")
		repotest.Git(t, folder, "clone", "-q", "--depth="+depth, "--no-single-branch", "file://"+folder, shallow)
		return shallow
	}
	for depth, c := range map[string]struct{ base, head string }{
		"1": {"main", "side"}, "2": {"main", "side"},
	} {
		got, err := Changed(t.Context(), clone(depth), commits[c.base], commits[c.head])
		if err == nil || !strings.Contains(err.Error(), "fetch-depth: 0") {
			t.Errorf("depth %s: %q, error %v", depth, got, err)
		}
	}
	// A merge and its parents are enough where base is the parent.
	got, err := Changed(t.Context(), clone("2"), commits["main"], commits["merge"])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sideChanges, paths(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCommitsWithoutACommonAncestorAreAnError(t *testing.T) {
	folder, commit := repository(t)
	repotest.Git(t, folder, "checkout", "-q", "--orphan", "other")
	repotest.Put(t, folder, "other.txt", "x")
	other := repotest.Commit(t, folder)
	if got, err := Changed(t.Context(), folder, commit, other); err == nil || !strings.Contains(err.Error(), "no common ancestor") {
		t.Errorf("%q, error %v", got, err)
	}
}

func TestChangedNamesTheSideThatIsMissing(t *testing.T) {
	folder, commit := repository(t)
	absent := strings.Repeat("1", 40)
	if _, err := Changed(t.Context(), folder, absent, commit); err == nil || !strings.HasPrefix(err.Error(), "base: ") {
		t.Errorf("error %v", err)
	}
	if _, err := Changed(t.Context(), folder, commit, absent); err == nil || !strings.HasPrefix(err.Error(), "head: ") {
		t.Errorf("error %v", err)
	}
}

func TestACommitHoldsItsHistory(t *testing.T) {
	folder, first := repository(t)
	repotest.Put(t, folder, "x", "x")
	second := repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "-b", "aside", first)
	repotest.Put(t, folder, "y", "y")
	aside := repotest.Commit(t, folder)
	for _, c := range []struct {
		rev, earlier string
		want         bool
	}{{second, first, true}, {"main", second, true}, {first, second, false}, {second, aside, false}, {aside, first, true}} {
		if got, err := Holds(t.Context(), folder, c.rev, c.earlier); got != c.want || err != nil {
			t.Errorf("%+v: %t, error %v", c, got, err)
		}
	}
	for _, pair := range [][2]string{{second, strings.Repeat("1", 40)}, {"nowhere", first}} {
		if got, err := Holds(t.Context(), folder, pair[0], pair[1]); got || err == nil {
			t.Errorf("%v: %t, error %v", pair, got, err)
		}
	}
}

func TestAFileDiffersWhereItsContentDoes(t *testing.T) {
	folder, _ := repository(t)
	repotest.Put(t, folder, "ci/same.jsonl", "same")
	repotest.Put(t, folder, "ci/prompts.jsonl", "before")
	repotest.Put(t, folder, "data/x.jsonl", "before")
	for link, to := range map[string]string{
		"linked": "data", "link.jsonl": "data/x.jsonl", "twice": "linked", "same.jsonl": "ci/same.jsonl",
		"out": "../elsewhere", "away.jsonl": "/srv/x.jsonl", "nowhere.jsonl": "nothing.jsonl", "loop": "loop",
	} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	base := repotest.Commit(t, folder)
	repotest.Put(t, folder, "ci/prompts.jsonl", "after")
	repotest.Put(t, folder, "data/x.jsonl", "after")
	repotest.Put(t, folder, "ci/new.jsonl", "new")
	head := repotest.Commit(t, folder)
	for name, want := range map[string]bool{
		"prompts.jsonl": true, "../data/x.jsonl": true, "same.jsonl": false, "new.jsonl": true, "nothing.jsonl": false,
		"../linked/x.jsonl": true, "../link.jsonl": true, "../twice/x.jsonl": true, "../same.jsonl": false, "../linked/nothing.jsonl": true,
		"../out/x.jsonl": true, "../away.jsonl": true, "../nowhere.jsonl": true, "../loop/x.jsonl": true, "a\nb": true,
		"same.jsonl/x": false, "../../x.jsonl": false, "/etc/passwd": false,
	} {
		got, err := Differs(t.Context(), filepath.Join(folder, "ci"), base, head, name)
		if got != want || err != nil {
			t.Errorf("%q: %v, error %v, want %v", name, got, err, want)
		}
	}
	if _, err := Differs(t.Context(), folder, strings.Repeat("1", 40), head, "ci/same.jsonl"); err == nil {
		t.Error("a commit that is not there is no error")
	}
}
