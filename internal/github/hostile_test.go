package github_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/github"
	"github.com/google/go-cmp/cmp"
)

// jobOf is the environment of a job of example/server that the event in a file started.
func jobOf(event, path string) func(string) string {
	env := map[string]string{
		"GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": path, "GITHUB_REPOSITORY": "example/server",
		"GITHUB_SHA": strings.Repeat("4", 40), "GITHUB_RUN_ID": "5", "GITHUB_RUN_ATTEMPT": "1",
	}
	return func(name string) string { return env[name] }
}

// told is what a job says that a decision may rest on.
func told(j github.Job) string {
	switch {
	case j.Pull != nil && j.Pull.Fork:
		return fmt.Sprintf("pull %d %s %s fork", j.Pull.Number, j.Pull.HeadRef, j.Pull.HeadRepository)
	case j.Pull != nil:
		return fmt.Sprintf("pull %d %s %s", j.Pull.Number, j.Pull.HeadRef, j.Pull.HeadRepository)
	case j.Group != nil:
		return "group " + j.Group.HeadRef
	}
	s := "inputs"
	for _, name := range slices.Sorted(maps.Keys(j.Inputs)) {
		s += fmt.Sprintf(" %q=%q", name, j.Inputs[name])
	}
	return s
}

// TestHostileEventsAreRefusedOrReadAsText reads testdata/events/hostile: want.tsv says of each file what comes of it, a
// part of an error or the job.
func TestHostileEventsAreRefusedOrReadAsText(t *testing.T) {
	const dir = "testdata/events/hostile"
	table, err := os.ReadFile(filepath.Join(dir, "want.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(table)) {
		name, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		seen++
		t.Run(name, func(t *testing.T) {
			event, _, _ := strings.Cut(name, ".")
			path := filepath.Join(dir, name+".json")
			j, err := github.ReadJob(jobOf(event, path))
			part, refused := strings.CutPrefix(want, "error ")
			switch {
			case refused && (err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), path)):
				t.Errorf("read as %q, error %v; want an error about %q in the file", told(j), err, part)
			case refused && strings.ContainsAny(err.Error(), "\n\r\x1b"):
				t.Errorf("the error is no line: %q", err)
			case !refused && err != nil:
				t.Error(err)
			case !refused:
				if diff := cmp.Diff(want, told(j)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != seen {
		t.Errorf("%d files, %d lines in want.tsv (%v)", len(files), seen, err)
	}
}

func TestHugeEventsAreReadOrRefusedWithoutHarm(t *testing.T) {
	tip := func(ref string) string { return `{"sha":"` + strings.Repeat("1", 40) + `","ref":"` + ref + `"}` }
	pull := func(more, ref string) string {
		return `{"pull_request":{"number":7,` + more + `"head":` + tip(ref) + `,"base":` + tip("main") + `}}`
	}
	for name, tc := range map[string]struct{ event, want string }{
		"a description of ten million letters": {pull(`"body":"`+strings.Repeat("x", 10<<20)+`",`, "change"), "pull 7 change  fork"},
		"a branch of ten million letters":      {pull("", strings.Repeat("b", 10<<20)), "pull 7 " + strings.Repeat("b", 254) + "…  fork"},
		"a hundred thousand lists in another":  {pull(`"labels":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`,`, "x"), "error"},
		"more than GitHub sends":               {pull(`"body":"`+strings.Repeat("x", 30<<20)+`",`, "change"), "error"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "event.json")
			if err := os.WriteFile(path, []byte(tc.event), 0o600); err != nil {
				t.Fatal(err)
			}
			j, err := github.ReadJob(jobOf("pull_request", path))
			got := "error"
			if err == nil {
				got = told(j)
			} else if len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestEachEventOfGitHubIsRead(t *testing.T) {
	const pull = "pull 7 faster-prefill example/server"
	for file, want := range map[string]string{
		"pull_request": pull, "pull_request_fork": "pull 8 $(id) somebody/server fork", "pull_request_deleted_fork": "pull 9 gone  fork",
		"pull_request_draft": "pull 10 faster-prefill example/server", "pull_request_closed": "pull 12 faster-prefill example/server", "pull_request_target": "pull 11 faster-prefill somebody/server fork",
		"merge_group": "group refs/heads/gh-readonly-queue/main/pr-7-" + strings.Repeat("2", 40),
		"schedule":    "inputs", "push": "inputs",
		"workflow_dispatch": `inputs "note"="" "pull"="7" "quick"="true" "runs"="5"`,
	} {
		event := file
		if strings.HasPrefix(file, "pull_request_") && file != "pull_request_target" {
			event = "pull_request"
		}
		j, err := github.ReadJob(jobOf(event, "testdata/events/"+file+".json"))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if diff := cmp.Diff(want, told(j)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", file, diff)
		}
		if draft := file == "pull_request_draft" || file == "pull_request_fork"; j.Pull != nil && j.Pull.Draft != draft {
			t.Errorf("%s: draft is %v", file, j.Pull.Draft)
		}
		if closed := file == "pull_request_closed"; j.Pull != nil && j.Pull.Closed != closed {
			t.Errorf("%s: closed is %v", file, j.Pull.Closed)
		}
	}
}
