package baseline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

func names(digests []bench.Digest) []string {
	var all []string
	for _, d := range digests {
		all = append(all, d.Runner+"/"+d.Scenario)
	}
	return all
}

func TestFoldersAreReadInEachOfTheirShapes(t *testing.T) {
	root := t.TempDir()
	for _, place := range []string{"all/h100/chat.json", "all/h100/batch.json", "all/mac/chat.json", "one/h100/chat.json", "flat/chat.json", "out/h100/chat.json", "out/h100/reference/chat.json"} {
		parts := strings.Split(place, "/")
		runner := "h100"
		if parts[1] == "mac" {
			runner = "mac"
		}
		put(t, filepath.Join(root, place), candidate(runner, strings.TrimSuffix(parts[len(parts)-1], ".json"), 0))
	}
	putText(t, filepath.Join(root, "all/README.md"), "words")
	putText(t, filepath.Join(root, "out/verdict.json"), `{"schema":"benchgate.verdict/v1"}`)
	putText(t, filepath.Join(root, "out/vllm/h100-chat-run001.json"), `{"date":"20261103-120000"}`)
	putText(t, filepath.Join(root, "out/h100/campaign.jsonl"), "{}\n")
	putText(t, filepath.Join(root, "out/h100/chat.rows.jsonl"), "{}\n")
	putText(t, filepath.Join(root, "out/h100/.chat.json-123"), "half")
	putText(t, filepath.Join(root, "out/.cache/x.json"), "{}")
	if err := os.MkdirAll(filepath.Join(root, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec, runner string
		want         []string
		err          string
	}{
		{"all", "h100", []string{"h100/batch", "h100/chat"}, ""},
		{"all", "mac", []string{"mac/chat"}, ""},
		{"all", "a100", nil, `no baseline of runner "a100"`},
		{"all", "", nil, "several runners, h100, mac"},
		{"all/h100", "h100", []string{"h100/batch", "h100/chat"}, ""},
		{"all/h100", "", []string{"h100/batch", "h100/chat"}, ""},
		{"one", "", []string{"h100/chat"}, ""},
		{"one", "mac", nil, `no baseline of runner "mac"`},
		{"flat", "", []string{"h100/chat"}, ""},
		{"flat", "other", []string{"h100/chat"}, ""}, // a folder that was named is taken; comparability judges it
		{"out", "", []string{"h100/chat"}, ""},
		{"out", "h100", []string{"h100/chat"}, ""},
		{"out/h100", "h100", []string{"h100/chat"}, ""},
		{"out/h100/reference", "h100", []string{"h100/chat"}, ""},
		{"empty", "", nil, "no baseline"},
		{"all/h100/chat.json", "mac", []string{"h100/chat"}, ""},
		{"nowhere", "h100", nil, "no such file"},
		{"all", "../all", nil, "runner name"},
	} {
		t.Run(c.spec+" "+c.runner, func(t *testing.T) {
			digests, source, err := Read(filepath.Join(root, c.spec), c.runner)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if strings.HasPrefix(c.err, "no baseline") != errors.Is(err, ErrNone) {
				t.Errorf("errors.Is(%v, ErrNone) is wrong", err)
			}
			if diff := cmp.Diff(c.want, names(digests)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err == nil && (len(source.Files) != len(digests) || source.Folder() == strings.HasSuffix(c.spec, ".json")) {
				t.Errorf("source %+v of %d digests", source, len(digests))
			}
		})
	}
}

func TestOneFolderOfSeveralRunnersAsksWhich(t *testing.T) {
	folder := t.TempDir()
	put(t, filepath.Join(folder, "chat.json"), candidate("h100", "chat", 0))
	put(t, filepath.Join(folder, "other.json"), candidate("mac", "other", 1))
	if _, _, err := Read(folder, "h100"); err == nil || !strings.Contains(err.Error(), `of "mac"; say which`) {
		t.Errorf("error %v", err)
	}
}

func TestFoldersWithAnUnreadableDigestAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(folder string)
		want  string
	}{
		"zero bytes": {func(f string) { putText(t, filepath.Join(f, "h100/batch.json"), "") }, "empty file"},
		"LFS pointer": {func(f string) {
			putText(t, filepath.Join(f, "h100/batch.json"), "version https://git-lfs.github.com/spec/v1\n")
		}, "LFS"},
		"no session": {func(f string) {
			d := candidate("h100", "batch", 0)
			d.Sessions = []bench.Session{}
			put(t, filepath.Join(f, "h100/batch.json"), d)
		}, "it holds no session"},
		"foreign file":   {func(f string) { putText(t, filepath.Join(f, "h100/batch.json"), "{}") }, "not a file of benchgate"},
		"a folder":       {func(f string) { putText(t, filepath.Join(f, "h100/batch.json/x"), "") }, "not a regular file"},
		"a pipe":         {func(f string) { pipe(t, filepath.Join(f, "h100/batch.json")) }, "not a regular file"},
		"dangling link":  {func(f string) { link(t, filepath.Join(f, "h100/batch.json")) }, "no such file"},
		"scenario twice": {func(f string) { put(t, filepath.Join(f, "h100/other.json"), candidate("h100", "chat", 1)) }, `both hold scenario "chat"`},
		"another's":      {func(f string) { put(t, filepath.Join(f, "h100/chat.json"), candidate("mac", "chat", 0)) }, `it is of runner "mac"`},
		"runners mixed":  {func(f string) { put(t, filepath.Join(f, "h100/other.json"), candidate("mac", "other", 1)) }, `it is of runner "mac"`},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			put(t, filepath.Join(folder, "h100/chat.json"), candidate("h100", "chat", 0))
			c.spoil(folder)
			digests, _, err := Read(folder, "h100")
			if err == nil || !strings.Contains(err.Error(), c.want) || len(digests) > 0 {
				t.Errorf("read %v, error %v, want %q", names(digests), err, c.want)
			}
			if errors.Is(err, ErrNone) {
				t.Error("a damaged baseline is taken for none")
			}
		})
	}
}

func pipe(t *testing.T, name string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, name string) {
	t.Helper()
	if err := os.Symlink("nowhere", name); err != nil {
		t.Fatal(err)
	}
}
