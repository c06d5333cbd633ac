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

// TestChain plays every case. The first of each change measures; the others find its campaign and measure nothing again,
// so they may run beside each other. So may what has to end red whatever disturbs it.
func TestChain(t *testing.T) {
	w := newWorld(t)
	all := rows(t)
	var measured []string
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) {
			beside := slices.Contains(measured, r.change) || r.Exit != "0" && alone(r, all)
			measured = append(measured, r.change)
			if beside {
				t.Parallel()
			}
			w.check(t, r, beside)
		})
	}
}

// alone reports whether no other row needs what a row measures.
func alone(r row, all []row) bool {
	return !slices.ContainsFunc(all, func(o row) bool { return o.name != r.name && o.change == r.change })
}

// check plays one row. Beside others it goes on with a copy of what is known of its change: two jobs of one commit may not
// write one campaign at the same time.
func (w *world) check(t *testing.T, r row, beside bool) {
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
		Repository: "example/server", Token: token, ReadOnly: of == "fork" || of == "deleted", Faults: r.faults(),
		State: ghfake.State{Pulls: []ghfake.Pull{{Number: 7, Title: hostileTitle, Author: "octocat", HeadRef: hostileBranch, HeadSHA: c.head, HeadRepository: "octocat/server", BaseSHA: c.base}}},
	})
	j := job{workflow: f.name, event: kind, payload: event(t, r.event, c), sha: c.merge, api: hub.URL, attempt: "1", folder: folder, state: filepath.Join(w.folder, "state")}
	if beside {
		j.state = filepath.Join(folder, "state")
		if !r.goes("interrupted") { // what is measured to its end cannot be interrupted
			copyFolder(t, filepath.Join(w.folder, "state"), j.state)
		}
	}
	switch {
	case kind == "workflow_dispatch":
		j.sha = c.base
	case of == "second":
		w.first(t, f, j)
	}
	if kind == "schedule" { // what was proposed is merged
		w.command(t, origin(folder), "git", "update-ref", "refs/heads/main", c.merge)
	}
	for _, wrong := range r.wrong {
		if of, lost := strings.CutPrefix(wrong, "artifact "); lost {
			write(t, filepath.Join(folder, "no-room"), []byte(of), 0o644)
		}
	}
	if r.goes("interrupted") {
		j.edit = cancelled
		interrupt(t, j.state, filepath.Join(folder, "bench-run.pid"))
	}
	w.judged(t, r, f, j, hub)
	if r.name == "interrupted" {
		j.attempt, j.edit = "2", nil
		w.killed(t, f, j)
		j.attempt = "3"
		w.again(t, f, j, hub)
	}
}

// judged plays a job and looks whether it comes to what its row says.
func (w *world) judged(t *testing.T, r row, f file, j job, hub *ghfake.Server) {
	t.Helper()
	got := w.play(t, j)
	w.keep(t, f, got, hub, j.folder)
	if diff := cmp.Diff(r.told, tell(f, got, hub, j.folder)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	said(t, r, f, got, hub)
	for _, s := range hub.State().Statuses {
		if head := w.commit[r.change].head; s.SHA != head {
			t.Errorf("the status stands at %s, not at the head %s", s.SHA, head)
		}
	}
	if n := len(hub.Comments(7)); n > 1 {
		t.Errorf("there are %d comments", n)
	}
	hidden(t, got, j.folder)
	bare(t, j.folder)
	ended(t, j.folder)
	if j.event == "schedule" {
		w.proposed(t, r, hub, j.folder)
	}
}

// again runs a cancelled workflow to its end: what was measured counts, and the comment is brought up to date.
func (w *world) again(t *testing.T, f file, j job, hub *ghfake.Server) {
	t.Helper()
	got := w.play(t, j)
	w.keep(t, f, got, hub, j.folder+"-again")
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
	"several":           {"several-runners.yml", gates, "verdict"},
	"merge_group":       {"merge-queue.yml", gates, "verdict"},
	"queued":            {"merge-queue.yml", gates, "verdict"},
	"closed":            {"benchgate.yml", gates, "verdict"},
	"fork":              {"benchgate.yml", gates, "verdict"},
	"deleted":           {"benchgate.yml", gates, "verdict"},
	"schedule":          {"benchgate-nightly.yml", []string{"bench", "drift", "keep"}, "drift"},
	"workflow_dispatch": {"benchgate-dispatch.yml", gates, "verdict"},
}

// faults are what goes wrong in the API, as "500 on write".
func (r row) faults() []ghfake.Fault {
	var all []ghfake.Fault
	for _, wrong := range r.wrong {
		if wrong != "" && wrong != "interrupted" && !strings.HasPrefix(wrong, "artifact ") {
			name, on, _ := strings.Cut(wrong, " on ")
			all = append(all, ghfake.Fault{Name: name, On: on})
		}
	}
	return all
}
