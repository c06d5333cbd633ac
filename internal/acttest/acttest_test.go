//go:build act

package acttest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/ghfake"
)

// row is one line of testdata/cases.md.
type row struct {
	name, event, change, wrong string
	told                       // what is expected
	says                       string
}

// told is what a run of the workflow has to come to.
type told struct{ Jobs, Outcome, Exit, Comment, Statuses, Server string }

func rows(t *testing.T) []row {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []row
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 13 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "case" {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		all = append(all, row{
			cells[1], cells[2], cells[3], cells[4],
			told{cells[5], cells[6], cells[7], cells[8], cells[9], cells[10]},
			cells[11],
		})
	}
	if len(all) == 0 {
		t.Fatal("no rows")
	}
	return all
}

// TestChain plays every case. The first of each change measures; the others find its campaign and measure nothing again,
// so they may run beside each other.
func TestChain(t *testing.T) {
	w := newWorld(t)
	var measured []string
	for _, r := range rows(t) {
		t.Run(r.name, func(t *testing.T) {
			again := slices.Contains(measured, r.change)
			measured = append(measured, r.change)
			if again {
				t.Parallel()
			}
			w.check(t, r, again)
		})
	}
}

// check plays one row. Where its change was measured before, it goes on with a copy of what is known: two jobs of one commit
// may not write one campaign at the same time.
func (w *world) check(t *testing.T, r row, again bool) {
	c := w.commit[r.change]
	folder := filepath.Join(w.folder, "cases", strings.ReplaceAll(r.name, " ", "-"))
	copyFolder(t, filepath.Join(w.folder, "hub"), folder)
	w.command(t, origin(folder), "git", "update-ref", "refs/pull/7/merge", c.merge)
	kind, of, _ := strings.Cut(r.event, ":")
	f, ok := files[of]
	if !ok {
		f = files[kind]
	}
	hub := ghfake.New(t, ghfake.Options{
		Repository: "example/server", Token: token, ReadOnly: of == "fork" || of == "deleted", Faults: faults(r.wrong),
		State: ghfake.State{Pulls: []ghfake.Pull{{Number: 7, Title: hostileTitle, Author: "octocat", HeadRef: hostileBranch, HeadSHA: c.head, HeadRepository: "octocat/server", BaseSHA: c.base}}},
	})
	sha := c.merge
	if kind == "schedule" || kind == "workflow_dispatch" {
		sha = c.base
	}
	j := job{workflow: f.name, event: kind, payload: event(t, r.event, c), sha: sha, api: hub.URL, attempt: "1", folder: folder}
	if again {
		j.state = filepath.Join(folder, "state")
		copyFolder(t, filepath.Join(w.folder, "state"), j.state)
	}
	switch r.wrong {
	case "artifact":
		write(t, filepath.Join(folder, "no-room"), nil, 0o644)
	case "interrupted":
		j.edit = cancelled
		w.interrupt(t, filepath.Join(folder, "bench-run.pid"))
	}
	got := w.play(t, j)
	keep(t, f, got, hub, folder)
	if diff := cmp.Diff(r.told, tell(f, got, hub, folder)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	said(t, r, f, got, hub)
	for _, s := range hub.State().Statuses {
		if s.SHA != c.head {
			t.Errorf("the status stands at %s, not at the head %s", s.SHA, c.head)
		}
	}
	hidden(t, got, folder)
	bare(t, folder)
	if kind == "schedule" {
		w.proposed(t, hub, folder)
	}
	if r.wrong == "interrupted" {
		j.attempt, j.edit = "2", nil
		w.again(t, f, j, hub)
	}
}

// again runs the interrupted workflow once more: what was measured counts, and the comment is brought up to date.
func (w *world) again(t *testing.T, f file, j job, hub *ghfake.Server) {
	t.Helper()
	got := w.play(t, j)
	keep(t, f, got, hub, j.folder+"-again")
	if diff := cmp.Diff(told{"success success success", "pass", "0", "updated", "", "started"}, tell(f, got, hub, j.folder)); diff != "" {
		t.Errorf("again (-want +got):\n%s", diff)
	}
	const kept = "continuing the campaign"
	if log, err := os.ReadFile(filepath.Join(j.folder, "bench-run.log")); err != nil || !strings.Contains(string(log), kept) {
		t.Errorf("the log does not say %q: %v\n%s", kept, err, log)
	}
	hidden(t, got, j.folder)
}

// file is a workflow and its jobs in their order. The job that judges gives the outcome.
type file struct {
	name   string
	jobs   []string
	judges string
}

var gates = []string{"plan", "bench", "verdict"}

// files are the workflows by the event that starts them, and by what stands behind its colon.
var files = map[string]file{
	"pull_request":      {"benchgate.yml", gates, "verdict"},
	"merge_group":       {"merge-queue.yml", gates, "verdict"},
	"queued":            {"merge-queue.yml", gates, "verdict"},
	"fork":              {"benchgate.yml", gates, "verdict"},
	"deleted":           {"benchgate.yml", gates, "verdict"},
	"schedule":          {"benchgate-nightly.yml", []string{"bench", "drift", "keep"}, "drift"},
	"workflow_dispatch": {"benchgate-dispatch.yml", gates, "verdict"},
}

// done are things that go wrong elsewhere than in the API.
var done = []string{"", "interrupted", "artifact"}

// faults reads what goes wrong, as "500 on write".
func faults(wrong string) []ghfake.Fault {
	if slices.Contains(done, wrong) {
		return nil
	}
	name, on, _ := strings.Cut(wrong, " on ")
	return []ghfake.Fault{{Name: name, On: on}}
}
