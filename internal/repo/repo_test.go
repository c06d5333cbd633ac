package repo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/repo/repotest"
)

func TestFileIsReadFromObjectsAndNotFromTheWorkingTree(t *testing.T) {
	folder, commit := repository(t)
	repotest.Put(t, folder, "benchgate.yaml", "edited by the candidate")
	for _, rev := range []string{commit, commit[:12], "HEAD", "main", "HEAD^{commit}", "@"} {
		data, err := File(t.Context(), folder, rev, "benchgate.yaml")
		if err != nil || string(data) != "version: 1\n" {
			t.Errorf("%s: %q, error %v", rev, data, err)
		}
	}
}

func TestPathsStartAtTheFolder(t *testing.T) {
	folder, commit := repository(t)
	for name, c := range map[string]struct{ dir, want, err string }{
		"benchgate.yaml":       {"ci", "version: 1 # of ci\n", ""},
		"../benchgate.yaml":    {"ci", "version: 1\n", ""},
		"./ci//benchgate.yaml": {"", "version: 1 # of ci\n", ""},
		"../../etc/passwd":     {"ci", "", "does not lead into the repository"},
		"/etc/passwd":          {"", "", "does not lead into the repository"},
		"":                     {"", "", "does not lead into the repository"},
		"a\x00b":               {"", "", "does not lead into the repository"},
		"ci":                   {"", "", "not a regular file in that commit, but a folder"},
		".":                    {"ci", "", "not a regular file in that commit, but a folder"},
		"benchgate.yaml/x":     {"", "", `"benchgate.yaml" is no folder in that commit, but a file`},
	} {
		data, err := File(t.Context(), filepath.Join(folder, c.dir), commit, name)
		if string(data) != c.want || c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %q, error %v, want %q, %q", name, data, err, c.want, c.err)
		}
	}
}

func TestAFileThatIsNotThereIsNotThere(t *testing.T) {
	folder, commit := repository(t)
	for _, name := range []string{"nothing.yaml", "ci/nothing.yaml", "no/such/folder.yaml", "*.yaml", ":(top)benchgate.yaml", ":/benchgate.yaml", "-r", "--help"} {
		if data, err := File(t.Context(), folder, commit, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %q, error %v, want that it does not exist", name, data, err)
		}
	}
}

func TestOddNamesAreOnlyNames(t *testing.T) {
	folder, _ := repository(t)
	odd := []string{"-rf", "$(id)", "a\nb", "a\tb", "`id`;", `"quoted"`, "ünicode", "[gpu]*", ":(top)x", " "}
	for _, name := range odd {
		repotest.Put(t, folder, filepath.Join("odd", name), "text of "+name)
	}
	commit := repotest.Commit(t, folder)
	for _, name := range odd {
		data, err := File(t.Context(), filepath.Join(folder, "odd"), commit, name)
		if err != nil || string(data) != "text of "+name {
			t.Errorf("%q: %q, error %v", name, data, err)
		}
	}
	all, err := Files(t.Context(), folder, commit, "odd")
	if err != nil || len(all) != len(odd) {
		t.Fatalf("%d files, error %v", len(all), err)
	}
	for _, e := range all {
		if data, err := e.Read(t.Context()); err != nil || string(data) != "text of "+e.Name || e.Path != "odd/"+e.Name {
			t.Errorf("%+v: %q, error %v", e, data, err)
		}
	}
}

func TestLinksAndSubmodulesAreRefused(t *testing.T) {
	folder, commit := repository(t)
	for link, to := range map[string]string{"link.yaml": "benchgate.yaml", "linked": "ci"} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	repotest.Git(t, folder, "update-index", "--add", "--cacheinfo", "160000,"+commit+",module")
	repotest.Git(t, folder, "add", "link.yaml", "linked")
	repotest.Git(t, folder, "commit", "-q", "-m", "links")
	for name, want := range map[string]string{
		"link.yaml":             "not a regular file in that commit, but a symbolic link",
		"linked/benchgate.yaml": `"linked" is no folder in that commit, but a symbolic link`,
		"module":                "not a regular file in that commit, but a submodule",
		"module/x":              `"module" is no folder in that commit, but a submodule`,
	} {
		_, err := File(t.Context(), folder, "HEAD", name)
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: error %v, want %q", name, err, want)
		}
	}
	if _, err := Files(t.Context(), folder, "HEAD", "linked"); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a folder that is a link: error %v", err)
	}
}

func TestFilesAreThoseUnderAFolder(t *testing.T) {
	folder, _ := repository(t)
	repotest.Put(t, folder, "ci/deep/er/x.json", "{}")
	repotest.Put(t, folder, "cinema/x.json", "{}")
	commit := repotest.Commit(t, folder)
	for _, c := range []struct {
		dir, folder string
		want        [][2]string
	}{
		{"", "ci", [][2]string{{"ci/benchgate.yaml", "benchgate.yaml"}, {"ci/deep/er/x.json", "deep/er/x.json"}}},
		{"ci", "deep", [][2]string{{"ci/deep/er/x.json", "er/x.json"}}},
		{"ci", ".", [][2]string{{"ci/benchgate.yaml", "benchgate.yaml"}, {"ci/deep/er/x.json", "deep/er/x.json"}}},
		{"cinema", "..", [][2]string{{"benchgate.yaml", "benchgate.yaml"}, {"ci/benchgate.yaml", "ci/benchgate.yaml"}, {"ci/deep/er/x.json", "ci/deep/er/x.json"}, {"cinema/x.json", "cinema/x.json"}}},
		{"", "nothing", nil},
		{"", "ci/nothing", nil},
	} {
		all, err := Files(t.Context(), filepath.Join(folder, c.dir), commit, c.folder)
		if err != nil {
			t.Fatal(err)
		}
		var got [][2]string
		for _, e := range all {
			got = append(got, [2]string{e.Path, e.Name})
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q in %q (-want +got):\n%s", c.folder, c.dir, diff)
		}
	}
	if _, err := Files(t.Context(), folder, commit, "benchgate.yaml"); err == nil || !strings.Contains(err.Error(), "but a file") {
		t.Errorf("a file as a folder: error %v", err)
	}
}

func TestNamesThatAreNoCommitAreRefused(t *testing.T) {
	folder, commit := repository(t)
	for rev, want := range map[string]string{
		"":                         "is not named",
		"--upload-pack=touch x":    "begins with -",
		"-h":                       "begins with -",
		"HEAD\n":                   "control characters",
		"HEAD\x00":                 "control characters",
		"HEAD\x1b[31m":             "control characters",
		"nothing":                  "git fetch --depth=1 origin nothing",
		"$(id)":                    "fetch it first, with git fetch",
		"HEAD:benchgate.yaml":      "git fetch",
		"HEAD..HEAD":               "git fetch",
		"HEAD HEAD":                "git fetch",
		strings.Repeat("0", 40):    "git fetch",
		commit[:39] + "g":          "git fetch",
		strings.Repeat("a", 1<<16): "too long",
	} {
		id, err := Resolve(t.Context(), folder, rev)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %q, error %v, want %q", rev, id, err, want)
		}
	}
}

func TestABranchOfAnyNameResolves(t *testing.T) {
	folder, commit := repository(t)
	for _, name := range []string{"$(id)", "a;b", "feature/x", "ünicode", "`id`"} {
		repotest.Git(t, folder, "branch", name)
		if id, err := Resolve(t.Context(), folder, name); id != commit || err != nil {
			t.Errorf("%q: %q, error %v", name, id, err)
		}
	}
}

func TestParentsAreThoseThatTheCommitNames(t *testing.T) {
	folder, first := repository(t)
	repotest.Git(t, folder, "checkout", "-q", "-b", "side")
	side := repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "main")
	repotest.Put(t, folder, "x", "x")
	second := repotest.Commit(t, folder)
	repotest.Git(t, folder, "merge", "-q", "--no-ff", "-m", "parent of nothing\n\nparent "+first, "side")
	shallow := filepath.Join(t.TempDir(), "shallow")
	repotest.Git(t, folder, "clone", "-q", "--depth=1", "file://"+folder, shallow)
	for _, c := range []struct {
		dir, rev string
		want     []string
	}{
		{folder, first, nil},
		{folder, second, []string{first}},
		{folder, "HEAD", []string{second, side}},
		{shallow, "HEAD", []string{second, side}},
	} {
		got, err := Parents(t.Context(), c.dir, c.rev)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s in %s (-want +got):\n%s", c.rev, c.dir, diff)
		}
	}
}

func TestOutsideARepositoryItIsSaid(t *testing.T) {
	t.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
	if _, err := Resolve(t.Context(), t.TempDir(), "HEAD"); err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("error %v", err)
	}
}

func TestARepositoryOfAnotherUserSaysWhatToDo(t *testing.T) {
	folder, commit := repository(t)
	t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1") // git's own way to play another user
	_, err := File(t.Context(), folder, commit, "benchgate.yaml")
	if err == nil || !strings.Contains(err.Error(), "git config --global --add safe.directory "+folder) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestAFolderOfAnyNameMakesNoCommand(t *testing.T) {
	for said, want := range map[string]string{
		"fatal: detected dubious ownership in repository at '/builds/$(id)'\n": "safe.directory FOLDER",
		"fatal: detected dubious ownership in repository at '/builds/a b'\n":   "safe.directory FOLDER",
		"fatal: detected dubious ownership\n":                                  "safe.directory FOLDER",
		"fatal: detected dubious ownership in repository at '/builds/x'\n":     "safe.directory /builds/x",
	} {
		if err := foreign(said); !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v", said, err)
		}
	}
}

func TestReplacedObjectsAreNotSeen(t *testing.T) {
	folder, commit := repository(t)
	repotest.Put(t, folder, "benchgate.yaml", "replaced\n")
	repotest.Git(t, folder, "replace", commit, repotest.Commit(t, folder))
	if data, err := File(t.Context(), folder, commit, "benchgate.yaml"); err != nil || string(data) != "version: 1\n" {
		t.Errorf("%q, error %v", data, err)
	}
}

func TestMissingObjectsAreAnErrorAndNotAbsence(t *testing.T) {
	folder, commit := repository(t)
	object := repotest.Git(t, folder, "rev-parse", commit+":ci")
	if err := os.Remove(filepath.Join(folder, ".git/objects", object[:2], object[2:])); err != nil {
		t.Fatal(err)
	}
	if _, err := File(t.Context(), folder, "HEAD", "ci/benchgate.yaml"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestOutputOfGitIsBounded(t *testing.T) {
	folder, _ := repository(t)
	if _, err := git(t.Context(), folder, 3, "rev-parse", "HEAD"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("error %v", err)
	}
}

func TestACanceledContextEndsIt(t *testing.T) {
	folder, commit := repository(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := File(ctx, folder, commit, "benchgate.yaml"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func FuzzEntries(f *testing.F) {
	f.Add([]byte("100644 blob 257cc5642cb1a054f08cc83f2d943e56fd3ebe99     123\tbaselines/h100/chat.json\x00"))
	f.Add([]byte("160000 commit 257cc5642cb1a054f08cc83f2d943e56fd3ebe99       -\tbaselines/h100/chat.json\x00x"))
	f.Add([]byte("\t\x00\x00\t.json"))
	f.Add([]byte("100644 blob 257cc5642cb1a054f08cc83f2d943e56fd3ebe99     -5\tx\x00"))
	f.Add([]byte("0 0 0 0\tbaselines/"))
	f.Fuzz(func(t *testing.T, listing []byte) {
		all, err := entries(listing, "", "baselines")
		if err != nil {
			return
		}
		for _, e := range all {
			if e.Path == "" || e.Name == "" || e.Size < 0 || e.id == "" || !strings.HasSuffix(e.Path, e.Name) {
				t.Errorf("%+v", e)
			}
		}
	})
}
