package baseline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

func TestListIsByRunnerAndScenario(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "base[1]*")
	for _, d := range []bench.Digest{candidate("mac", "chat", 0), candidate("h100", "chat", 0), candidate("h100", "batch", 1)} {
		if _, err := Accept(folder, []bench.Digest{d}, by("ada")); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := List(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Runner+"/"+e.Scenario+" "+e.Digest.Sessions[0].ID)
	}
	if diff := cmp.Diff([]string{"h100/batch day-1", "h100/chat day-0", "mac/chat day-0"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestListOfNothingIsEmpty(t *testing.T) {
	if entries, err := List(filepath.Join(t.TempDir(), "nowhere")); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestListNamesWhatIsDamagedAndShowsTheRest(t *testing.T) {
	folder := first(t, "aaa", "chat")
	putText(t, filepath.Join(folder, "h100/chat.json"), "")
	entries, err := List(folder)
	if len(entries) != 1 || entries[0].Scenario != "aaa" {
		t.Errorf("entries %v", entries)
	}
	if err == nil || !strings.Contains(err.Error(), "h100/chat.json") {
		t.Errorf("error %v", err)
	}
}

func TestNamesDoNotLeaveTheFolder(t *testing.T) {
	folder := first(t, "chat")
	putText(t, filepath.Join(folder, "x.json"), "mine")
	for _, name := range []string{"..", "../h100", "", "/etc", "h100/..", "H100", "a\x00b"} {
		if _, err := Show(folder, name, "chat"); err == nil || !strings.Contains(err.Error(), "name") {
			t.Errorf("show %q: error %v", name, err)
		}
		if err := Remove(folder, "h100", name); err == nil || !strings.Contains(err.Error(), "name") {
			t.Errorf("remove %q: error %v", name, err)
		}
	}
	if len(tree(t, folder)) != 2 {
		t.Error("a file is gone")
	}
}

func TestRemoveTakesOneBaseline(t *testing.T) {
	folder := first(t, "aaa", "chat")
	if err := Remove(folder, "h100", "chat"); err != nil {
		t.Fatal(err)
	}
	if files := tree(t, folder); len(files) != 1 || files["h100/aaa.json"] == "" {
		t.Errorf("left: %v", files)
	}
	if err := Remove(folder, "h100", "chat"); err == nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed twice: %v", err)
	}
	if err := Remove(folder, "h100", "aaa"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "h100")); !os.IsNotExist(err) {
		t.Errorf("the folder of a runner without baselines is left: %v", err)
	}
}

func TestVerifyFindsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, folder string)
		file  string
		want  string
	}{
		"zero bytes": {func(t *testing.T, f string) { putText(t, filepath.Join(f, "h100/chat.json"), "") }, "h100/chat.json", "empty file"},
		"newer": {func(t *testing.T, f string) {
			putText(t, filepath.Join(f, "h100/chat.json"), `{"schema":"benchgate.digest/v2"}`)
		}, "h100/chat.json", "benchgate.digest/v2"},
		"wrong scenario":  {func(t *testing.T, f string) { moved(t, f, "h100/chat.json", "h100/talk.json") }, "h100/talk.json", `holds scenario "chat" of runner "h100"`},
		"wrong runner":    {func(t *testing.T, f string) { moved(t, f, "h100/chat.json", "mac/chat.json") }, "mac/chat.json", `holds scenario "chat" of runner "h100"`},
		"interrupted":     {func(t *testing.T, f string) { putText(t, filepath.Join(f, "h100/.benchgate-chat.json-1"), "ha") }, "h100/.benchgate-chat.json-1", "interrupted"},
		"stray file":      {func(t *testing.T, f string) { putText(t, filepath.Join(f, "chat.json"), "{}") }, "chat.json", "does not belong"},
		"stray text":      {func(t *testing.T, f string) { putText(t, filepath.Join(f, "h100/notes.txt"), "x") }, "h100/notes.txt", "does not belong"},
		"deeper folder":   {func(t *testing.T, f string) { putText(t, filepath.Join(f, "h100/old/README.md"), "x") }, "h100/old", "does not belong"},
		"hostile runner":  {func(t *testing.T, f string) { putText(t, filepath.Join(f, "H 100/README.md"), "x") }, "H 100", "runner name"},
		"never accepted":  {edited(func(d *bench.Digest) { d.Sessions[0].Origin = bench.Origin{} }), "h100/chat.json", "nobody is on record"},
		"too few runs":    {edited(func(d *bench.Digest) { d.Sessions[0].Visits[0].Runs = runsOf(d)[:1] }), "h100/chat.json", "1 valid runs"},
		"invalid run":     {edited(func(d *bench.Digest) { runsOf(d)[0].Invalid = "cached" }), "h100/chat.json", "run 1 is invalid: cached"},
		"no sessions":     {edited(func(d *bench.Digest) { d.Sessions = []bench.Session{} }), "h100/chat.json", "it holds no session"},
		"wrong order":     {edited(func(d *bench.Digest) { d.Sessions = []bench.Session{accepted(5), accepted(2)} }), "h100/chat.json", "not in the order"},
		"tomorrow":        {edited(func(d *bench.Digest) { d.Sessions[0].Started = noon.AddDate(0, 0, 2) }), "h100/chat.json", "began after it was accepted"},
		"eleven":          {edited(func(d *bench.Digest) { d.Sessions = many(11) }), "h100/chat.json", "holds 11 sessions"},
		"another machine": {edited(func(d *bench.Digest) { d.MustMatch[bench.KeyMachine] = "m2" }), "h100/chat.json", `machine is "m2", and "m1" in`},
	} {
		t.Run(name, func(t *testing.T) {
			folder := first(t, "aaa", "chat")
			putText(t, filepath.Join(folder, "README.md"), "x")
			putText(t, filepath.Join(folder, ".gitattributes"), "x")
			c.spoil(t, folder)
			problems, err := Verify(folder)
			if err != nil || len(problems) != 1 {
				t.Fatalf("problems %v, error %v", problems, err)
			}
			if p := problems[0]; p.File != filepath.Join(folder, c.file) || !strings.Contains(p.String(), c.want) {
				t.Errorf("got %v, want %q of %s", p, c.want, c.file)
			}
		})
	}
	if _, err := Verify(filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("a folder that is not there is verified")
	}
}

func moved(t *testing.T, folder, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, to)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(folder, from), filepath.Join(folder, to)); err != nil {
		t.Fatal(err)
	}
}

func edited(change func(d *bench.Digest)) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		e, err := Show(folder, "h100", "chat")
		if err != nil {
			t.Fatal(err)
		}
		change(&e.Digest)
		put(t, e.File, e.Digest)
	}
}

func accepted(day int) bench.Session {
	s := session(day)
	s.Origin = bench.Origin{Who: "ada", Accepted: noon}
	return s
}

func many(n int) []bench.Session {
	var all []bench.Session
	for day := range n {
		all = append(all, accepted(day))
	}
	return all
}
