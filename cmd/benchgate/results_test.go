package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// lay writes files under a folder, each with its own name as content.
func lay(t *testing.T, folder string, files ...string) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(folder, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// filesUnder lists the files under a folder.
func filesUnder(t *testing.T, folder string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

func TestResultsOfAnEarlierCampaignGoAndNothingElse(t *testing.T) {
	out := t.TempDir()
	lay(t, out, "lab/mine.md", "lab/server-1.log", "lab/old.json", "lab/old.rows.jsonl", "lab-2/chat.json", "vllm/lab-old-run003.json", "vllm/lab-2-old-run003.json",
		"vllm/notes-run003.json", "verdict.json", "report.html", "mine.txt")
	header := `{"header":{"schema":"benchgate.campaign/v1","runner":"lab","workloads":{"old":"w"}}}` + "\n"
	if err := os.WriteFile(filepath.Join(out, "lab", "campaign.jsonl"), []byte(header), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ours(out, "lab"); err != nil {
		t.Fatal(err)
	}
	if err := discard(out, "lab"); err != nil {
		t.Fatal(err)
	}
	want := []string{"lab-2/chat.json", "lab/mine.md", "mine.txt", "vllm/lab-2-old-run003.json", "vllm/notes-run003.json"}
	if got := filesUnder(t, out); !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
}

func TestFolderOfBaselinesIsNotWrittenOver(t *testing.T) {
	out := t.TempDir()
	lay(t, out, "lab/chat.json")
	if err := ours(out, "lab"); err == nil {
		t.Error("a folder with digests and no campaign was taken for ours")
	}
	if got := filesUnder(t, out); len(got) != 1 {
		t.Errorf("left are %q", got)
	}
	lay(t, out, "docs/readme.md")
	if err := ours(out, "docs"); err == nil {
		t.Error("a folder of something else was taken for ours")
	}
	if err := ours(out, "new"); err != nil {
		t.Errorf("a folder that is not there yet: %v", err)
	}
}
