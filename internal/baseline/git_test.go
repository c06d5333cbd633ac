package baseline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/repo/repotest"
)

func TestRefIsReadFromObjectsAndNotFromTheWorkingTree(t *testing.T) {
	folder, commit := repository(t)
	putText(t, filepath.Join(folder, "baselines/h100/chat.json"), "edited by the candidate")
	if err := os.Remove(filepath.Join(folder, "baselines/h100/batch.json")); err != nil {
		t.Fatal(err)
	}
	for _, rev := range []string{commit, commit[:12], "HEAD", "main", "HEAD^{commit}", "@"} {
		digests, source, err := Read("ref:"+rev, "h100")
		if err != nil {
			t.Fatalf("%s: %v", rev, err)
		}
		want := Source{Kind: "ref", Ref: "ref:" + commit, Files: []string{"baselines/h100/batch.json", "baselines/h100/chat.json"}}
		if diff := cmp.Diff(want, source); diff != "" {
			t.Errorf("%s: source (-want +got):\n%s", rev, diff)
		}
		if diff := cmp.Diff([]string{"h100/batch", "h100/chat"}, names(digests)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", rev, diff)
		}
	}
}

func TestRefOfAnOlderCommitHoldsWhatWasThereThen(t *testing.T) {
	folder, old := repository(t)
	changed := candidate("h100", "chat", 7)
	put(t, filepath.Join(folder, "baselines/h100/chat.json"), changed)
	repotest.Commit(t, folder)
	then, _, err := Read("ref:"+old, "h100")
	if err != nil {
		t.Fatal(err)
	}
	now, _, err := Read("ref:HEAD", "h100")
	if err != nil {
		t.Fatal(err)
	}
	if then[1].Sessions[0].ID != "day-0" || now[1].Sessions[0].ID != "day-7" {
		t.Errorf("then %q, now %q", then[1].Sessions[0].ID, now[1].Sessions[0].ID)
	}
}

func TestRefWithoutBaselinesIsNone(t *testing.T) {
	folder, _ := repository(t)
	for _, runner := range []string{"mac", "h10"} {
		if _, _, err := Read("ref:HEAD", runner); !errors.Is(err, ErrNone) {
			t.Errorf("%s: error %v, want none", runner, err)
		}
	}
	repotest.Git(t, folder, "rm", "-rq", "baselines")
	repotest.Commit(t, folder)
	if _, _, err := Read("ref:HEAD", "h100"); !errors.Is(err, ErrNone) {
		t.Errorf("error %v, want none", err)
	}
}

func TestRefInAFolderOfTheRepositoryHasItsOwnBaselines(t *testing.T) {
	folder, _ := repository(t)
	sub := filepath.Join(folder, "serving [gpu]")
	put(t, filepath.Join(sub, "baselines/h100/deep.json"), candidate("h100", "deep", 0))
	repotest.Commit(t, folder)
	t.Chdir(sub)
	digests, source, err := Read("ref:HEAD", "h100")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"h100/deep"}, names(digests)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"serving [gpu]/baselines/h100/deep.json"}, source.Files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRefIsReadInABareRepositoryAndInAShallowClone(t *testing.T) {
	folder, old := repository(t)
	commit := repotest.Commit(t, folder)
	bare, shallow := filepath.Join(t.TempDir(), "bare.git"), filepath.Join(t.TempDir(), "shallow")
	repotest.Git(t, folder, "clone", "-q", "--bare", ".", bare)
	repotest.Git(t, folder, "clone", "-q", "--no-checkout", "--depth=1", "file://"+folder, shallow)
	for _, place := range []string{bare, shallow} {
		t.Chdir(place)
		digests, _, err := Read("ref:"+commit, "h100")
		if err != nil || len(digests) != 2 {
			t.Errorf("%s: %v, error %v", place, names(digests), err)
		}
	}
	t.Chdir(shallow)
	_, _, err := Read("ref:"+old, "h100")
	if err == nil || !strings.Contains(err.Error(), "git fetch --depth=1 origin "+old) || errors.Is(err, ErrNone) {
		t.Errorf("a commit that is not there: error %v", err)
	}
}

// What else is no commit is said by package repo.
func TestRefsThatAreNoCommitAreRefused(t *testing.T) {
	repository(t)
	for rev, want := range map[string]string{
		"":                      "is not named",
		"--upload-pack=touch x": "begins with -",
		"HEAD\n":                "control characters",
		"HEAD:baselines":        "git fetch",
	} {
		digests, _, err := Read("ref:"+rev, "h100")
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrNone) {
			t.Errorf("%.40q: read %v, error %v, want %q", rev, names(digests), err, want)
		}
	}
}

func TestRefOutsideARepositorySaysSo(t *testing.T) {
	t.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
	t.Chdir(t.TempDir())
	_, _, err := Read("ref:HEAD", "h100")
	if err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("error %v", err)
	}
}

func TestDamagedBaselinesOfACommitAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, name string)
		want  string
	}{
		"conflict":      {func(t *testing.T, name string) { putText(t, name, "<<<<<<< a\n=======\n>>>>>>> b\n") }, "merge conflict"},
		"LFS pointer":   {func(t *testing.T, name string) { putText(t, name, "version https://git-lfs.github.com/spec/v1\n") }, "LFS"},
		"zero bytes":    {func(t *testing.T, name string) { putText(t, name, "") }, "empty file"},
		"symbolic link": {link, "not a regular file in that commit"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, _ := repository(t)
			file := filepath.Join(folder, "baselines/h100/chat.json")
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, file)
			repotest.Commit(t, folder)
			digests, _, err := Read("ref:HEAD", "h100")
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "baselines/h100/chat.json") {
				t.Errorf("read %v, error %v, want %q", names(digests), err, c.want)
			}
		})
	}
}

func TestMissingObjectsAreAnErrorAndNotNone(t *testing.T) {
	folder, commit := repository(t)
	object := repotest.Git(t, folder, "rev-parse", commit+":baselines")
	if err := os.Remove(filepath.Join(folder, ".git/objects", object[:2], object[2:])); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read("ref:HEAD", "h100"); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("error %v", err)
	}
}

func TestWhatStandsInABaselinesPlaceIsToldFromWhatIsOne(t *testing.T) {
	folder, _ := repository(t)
	at := func(name string) string { return filepath.Join(folder, "baselines", name) }
	put(t, at("h100/elsewhere.json"), candidate("h100", "chat", 0))
	put(t, at("mac/chat.json"), candidate("h100", "chat", 0))
	put(t, at("top.json"), candidate("h100", "chat", 0))
	putText(t, at("h100/half.json"), text(t, candidate("h100", "half", 0))[:60])
	putText(t, at("h100/conflict.json"), "<<<<<<< HEAD\n{}\n=======\n>>>>>>> other\n")
	putText(t, at("h100/pointer.json"), "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
	putText(t, at("h100/.hidden.json"), "x")
	putText(t, at("h100/deep/er.json"), "x")
	putText(t, at("README.md"), "x")
	if err := os.Symlink("chat.json", at("h100/link.json")); err != nil {
		t.Fatal(err)
	}
	repotest.Commit(t, folder)
	placed, err := PlacedAt("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range placed {
		got[p.Runner+" "+p.Scenario+" "+p.Path] = ""
		if err := p.Check(); err != nil {
			got[p.Runner+" "+p.Scenario+" "+p.Path] = err.Error()
		}
	}
	for place, want := range map[string]string{
		"h100 batch baselines/h100/batch.json": "", "h100 chat baselines/h100/chat.json": "", " top baselines/top.json": "",
		"h100 elsewhere baselines/h100/elsewhere.json": `is of runner "h100", scenario "chat"`,
		"mac chat baselines/mac/chat.json":             `is of runner "h100", scenario "chat"`,
		"h100 half baselines/h100/half.json":           "ends too early", "h100 conflict baselines/h100/conflict.json": "conflict",
		"h100 pointer baselines/h100/pointer.json": "LFS", "h100 link baselines/h100/link.json": "a symbolic link",
	} {
		said, ok := got[place]
		if delete(got, place); !ok || (said == "") != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%s: there %t, %q, want %q", place, ok, said, want)
		}
	}
	if len(got) > 0 {
		t.Errorf("no baseline has these places: %v", got)
	}
	if _, _, err := Read("ref:HEAD", "h100"); err == nil {
		t.Error("damaged files are read")
	}
	digests, _, faults, err := ReadSound("ref:HEAD", "h100")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range faults {
		files = append(files, f.File)
	}
	if diff := cmp.Diff([]string{"h100/batch", "h100/chat"}, names(digests)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"baselines/h100/conflict.json", "baselines/h100/elsewhere.json", "baselines/h100/half.json", "baselines/h100/link.json", "baselines/h100/pointer.json"}, files); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
