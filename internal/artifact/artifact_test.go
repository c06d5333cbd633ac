package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fileNames are what a campaign leaves.
var fileNames = []string{
	"lab/chat.json", "lab/chat.rows.jsonl", "lab/campaign.jsonl", "lab/reference/chat.json", "lab/server-1.log", "lab/server-1.log.old-2",
	"lab/campaign.jsonl.old-1", "vllm/lab-chat-run001.json", "verdict.json",
}

// tree lists the files under a folder with their content.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		place, _ := filepath.Rel(folder, name)
		all[filepath.ToSlash(place)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func results(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for _, name := range fileNames {
		put(t, filepath.Join(folder, name), "text of "+name)
	}
	return folder
}

func TestAFolderIsCheckedWhereItIs(t *testing.T) {
	folder, into := results(t), t.TempDir()
	got, err := Open(folder, into)
	if got != folder || err != nil {
		t.Errorf("%q, error %v", got, err)
	}
	if left := tree(t, into); len(left) > 0 {
		t.Errorf("written: %v", left)
	}
	link := filepath.Join(t.TempDir(), "link") // a path that was given may be one
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link, into); err != nil {
		t.Errorf("error %v", err)
	}
}

func TestHostileFoldersAreRefused(t *testing.T) {
	link := func(to string) func(t *testing.T, folder string) {
		return func(t *testing.T, folder string) {
			if err := os.Symlink(to, filepath.Join(folder, "lab/link.json")); err != nil {
				t.Fatal(err)
			}
		}
	}
	file := func(name, text string) func(t *testing.T, folder string) {
		return func(t *testing.T, folder string) { put(t, filepath.Join(folder, name), text) }
	}
	large := func(bytes int64, names ...string) func(t *testing.T, folder string) {
		return func(t *testing.T, folder string) {
			for _, name := range names {
				put(t, filepath.Join(folder, name), "")
				if err := os.Truncate(filepath.Join(folder, name), bytes); err != nil { // takes no room
					t.Fatal(err)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, folder string)
		want  []string
	}{
		"a link inside":     {link("chat.json"), []string{`"lab/link.json"`, "symbolic link"}},
		"a link outside":    {link("/etc/passwd"), []string{`"lab/link.json"`, "symbolic link"}},
		"a link to nothing": {link("nothing"), []string{`"lab/link.json"`, "symbolic link"}},
		"a link to a folder": {func(t *testing.T, folder string) {
			if err := os.Symlink("/", filepath.Join(folder, "root")); err != nil {
				t.Fatal(err)
			}
		}, []string{`"root"`, "symbolic link"}},
		"a pipe": {func(t *testing.T, folder string) {
			if err := syscall.Mkfifo(filepath.Join(folder, "lab/pipe.json"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, []string{`"lab/pipe.json"`, "pipe"}},
		"a hidden file":    {file(".git/config", "x"), []string{`".git"`, "no name that results have"}},
		"a flag":           {file("-rf", "x"), []string{`"-rf"`, "no name that results have"}},
		"a command":        {file("lab/$(id).json", "x"), []string{`"lab/$(id).json"`, "no name that results have"}},
		"a line break":     {file("lab/a\n::error::b", "x"), []string{`"lab/a\n::error::b"`, "no name that results have"}},
		"text that turns":  {file("lab/a\u202enosj.b", "x"), []string{`"lab/a\u202enosj.b"`, "no name that results have"}},
		"no UTF-8":         {file("lab/\xff", "x"), []string{`"lab/\xff"`, "no name that results have"}},
		"a long name":      {file("lab/"+strings.Repeat("x", 101), "x"), []string{"no name that results have"}},
		"the same name":    {file("LAB/other.json", "x"), []string{`"lab"`, `"LAB"`, "the same name as"}},
		"too deep":         {file("a/b/c/d/e/f/g.json", "x"), []string{`"a/b/c/d/e/f/g.json"`, "more than 5 folders deep"}},
		"a large file":     {large(maxFile+1, "lab/large.json"), []string{`"lab/large.json"`, "more than 256 MiB"}},
		"large in all":     {large(maxFile, "lab/1.json", "lab/2.json", "lab/3.json"), []string{"all files together have more than 512 MiB"}},
		"a large campaign": {large(maxStream+1, "lab/campaign.jsonl"), []string{`"lab/campaign.jsonl"`, "more than 4096 MiB"}},
		"large campaigns": {
			large(maxStream, "a/campaign.jsonl", "b/campaign.jsonl", "c/campaign.jsonl", "d/campaign.jsonl", "e/campaign.jsonl.old-1"),
			[]string{"all campaigns together have more than 16384 MiB"},
		},
		"a log that is a link": {func(t *testing.T, folder string) {
			if err := os.Symlink("chat.json", filepath.Join(folder, "lab/server-2.log")); err != nil {
				t.Fatal(err)
			}
		}, []string{`"lab/server-2.log"`, "symbolic link"}},
		"a run that climbs": {file("vllm/..x/lab-chat-run001.json", "x"), []string{"no name that results have"}},
		"too many files": {func(t *testing.T, folder string) {
			for i := range maxFiles {
				put(t, filepath.Join(folder, "lab", "x"+strings.Repeat("0", i%50)+string(rune('a'+i/50%26))+string(rune('a'+i/50/26))), "")
			}
		}, []string{"more than 5000 files and folders"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := results(t)
			c.spoil(t, folder)
			got, err := Open(folder, t.TempDir())
			if err == nil {
				t.Fatalf("taken: %q", got)
			}
			if limit := strings.Contains(err.Error(), "more than") && !strings.Contains(err.Error(), "deep"); errors.Is(err, ErrTooMuch) != limit {
				t.Errorf("errors.Is(%v, ErrTooMuch) is wrong", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
		})
	}
}

// TestAnHourOfAFastMachineIsTaken: what is read line by line may be long, and what nobody reads may be anything.
func TestAnHourOfAFastMachineIsTaken(t *testing.T) {
	folder := results(t)
	for name, size := range map[string]int64{
		"lab/campaign.jsonl": 25_000 * 3600 * 27, "other/campaign.jsonl": 25_000 * 3600 * 27, "lab/server-1.log": 3 << 30,
		"vllm/lab-chat-run001.json": 3 << 30, "lab/chat.rows.jsonl": 3 << 30,
	} {
		put(t, filepath.Join(folder, name), "")
		if err := os.Truncate(filepath.Join(folder, name), size); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxFiles {
		put(t, filepath.Join(folder, "vllm", fmt.Sprintf("lab-chat-run%04d.json", i)), "")
	}
	if _, err := Open(folder, t.TempDir()); err != nil {
		t.Error(err)
	}
}

func TestWhatIsNoResultsIsRefused(t *testing.T) {
	folder := t.TempDir()
	put(t, filepath.Join(folder, "text"), "no zip")
	put(t, filepath.Join(folder, "empty"), "")
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"nothing": "no such file", "text": "not a valid zip", "empty": "not a valid zip", "pipe": "neither a folder nor a zip",
	} {
		got, err := Open(filepath.Join(folder, name), filepath.Join(folder, "into"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %q, error %v, want %q", name, got, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "into")); err == nil {
		t.Error("a folder was made for what is no zip")
	}
}

func TestTreesAreComparedInTests(t *testing.T) {
	got := tree(t, results(t))
	if diff := cmp.Diff(slices.Sorted(slices.Values(fileNames)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
