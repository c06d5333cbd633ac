//go:build act

package acttest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

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
			if slices.Contains(measured, r.change) {
				t.Parallel()
			}
			measured = append(measured, r.change)
			w.check(t, r)
		})
	}
}

func (w *world) check(t *testing.T, r row) {
	c := w.commit[r.change]
	folder := filepath.Join(w.folder, "cases", strings.ReplaceAll(r.name, " ", "-"))
	copyFolder(t, filepath.Join(w.folder, "hub"), folder)
	w.command(t, origin(folder), "git", "update-ref", "refs/pull/7/merge", c.merge)
	kind, of, _ := strings.Cut(r.event, ":")
	f := files[cmp.Or(of, kind)]
	hub := ghfake.New(t, ghfake.Options{
		Repository: "example/server", Token: token, ReadOnly: of == "fork" || of == "deleted", Faults: faults(r.wrong),
		State: ghfake.State{Pulls: []ghfake.Pull{{Number: 7, Title: hostileTitle, Author: "octocat", HeadRef: hostileBranch, HeadSHA: c.head, HeadRepository: "octocat/server", BaseSHA: c.base}}},
	})
	sha := c.merge
	if kind == "schedule" || kind == "workflow_dispatch" {
		sha = c.base
	}
	j := job{workflow: f.name, event: kind, payload: event(t, r.event, c), sha: sha, api: hub.URL, attempt: "1", folder: folder}
	switch r.wrong {
	case "artifact":
		write(t, filepath.Join(folder, "no-room"), nil, 0o644)
	case "interrupted":
		j.edit = cancelled
		w.interrupt(t, filepath.Join(folder, "bench-run.pid"))
	}
	got := w.play(t, j)
	keep(t, f, got, hub, folder)
	if diff := gocmp.Diff(r.told, tell(f, got, hub, folder)); diff != "" {
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
	if diff := gocmp.Diff(told{"success success success", "pass", "0", "updated", "", "started"}, tell(f, got, hub, j.folder)); diff != "" {
		t.Errorf("again (-want +got):\n%s", diff)
	}
	const kept = "continuing the campaign"
	if log, err := os.ReadFile(filepath.Join(j.folder, "bench-run.log")); err != nil || !strings.Contains(string(log), kept) {
		t.Errorf("the log does not say %q: %v\n%s", kept, err, log)
	}
	hidden(t, got, j.folder)
}

// said looks for each piece of what a case has to say in the comment, the summary, the annotations and the statuses.
func said(t *testing.T, r row, f file, o outcome, hub *ghfake.Server) {
	t.Helper()
	all := o.summary[f.judges]
	for _, c := range hub.Comments(7) {
		all += "\n" + c.Body
	}
	for _, a := range o.annotations {
		all += fmt.Sprintf("\n%s: %s:%s: %s: %s", a.Level, a.File, a.Line, a.Title, a.Text)
	}
	for _, s := range hub.State().Statuses {
		all += "\n" + s.Description
	}
	for piece := range strings.SplitSeq(r.says, "; ") {
		if !strings.Contains(all, piece) {
			t.Errorf("nothing says %q: KEEP=DIR keeps what is said", piece)
		}
	}
}

// ofJob are the variables of a job that nothing under test may have: what gives rights, and what speaks to the runner.
var ofJob = regexp.MustCompile(`(?m)^(GITHUB_(TOKEN|ENV|PATH|OUTPUT|STATE|STEP_SUMMARY)|BENCHGATE_TOKEN|(ACTIONS|INPUT)_\w*)=`)

// bare looks for them in the environment of the server under test.
func bare(t *testing.T, folder string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "server.env"))
	if found := ofJob.FindAllString(string(data), -1); err == nil && len(found) > 0 {
		t.Errorf("the server under test is given %q", found)
	}
}

// proposed looks for what a night leaves: its session on the data branch, and the standing pull request.
func (w *world) proposed(t *testing.T, hub *ghfake.Server, folder string) {
	t.Helper()
	kept := w.command(t, origin(folder), "git", "ls-tree", "-r", "--name-only", "benchgate-data")
	if !strings.Contains(kept, "lab/chat.json") {
		t.Errorf("the data branch holds %q", kept)
	}
	pulls := hub.State().Pulls
	last := pulls[len(pulls)-1]
	if len(pulls) != 2 || last.BaseRef != "main" || last.Author != ghfake.Bot {
		t.Fatalf("the pull requests are %+v", pulls)
	}
	changed := w.command(t, origin(folder), "git", "diff", "--name-only", "main", last.HeadRef)
	if changed != "baselines/lab/chat.json" {
		t.Errorf("the standing pull request changes %q", changed)
	}
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

func tell(f file, o outcome, hub *ghfake.Server, folder string) told {
	var jobs, statuses []string
	for _, j := range f.jobs {
		jobs = append(jobs, o.result(j))
	}
	for _, s := range hub.State().Statuses {
		statuses = append(statuses, s.Context+" "+s.State)
	}
	out := o.outputs[f.judges]
	server := "no"
	if _, err := os.Stat(filepath.Join(folder, "server.env")); err == nil {
		server = "started"
	}
	return told{strings.Join(jobs, " "), out["verdict"], out["exit-code"], out["comment-state"], strings.Join(statuses, ", "), server}
}

// hidden looks for the token wherever the run left something. The step that judges is given it, and no other.
func hidden(t *testing.T, o outcome, folder string) {
	t.Helper()
	if strings.Contains(o.everything(), token) {
		t.Error("what act tells holds the token")
	}
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		text := string(data)
		switch filepath.Ext(path) {
		case ".env":
			text = given(text, strings.HasSuffix(path, "-judge.env") || strings.HasSuffix(path, "-keep.env"))
		case ".log":
			text = strings.ReplaceAll(text, "::add-mask::"+token+"\n", "")
		}
		if strings.Contains(text, token) {
			t.Errorf("%q holds the token", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// given is the environment of a step as GitHub's runner would set it: act gives every input a second time.
func given(environment string, judge bool) string {
	var kept []string
	for variable := range strings.SplitSeq(environment, "\x00") {
		if !strings.HasPrefix(variable, "INPUT_") && !(judge && variable == "BENCHGATE_TOKEN="+token) {
			kept = append(kept, variable)
		}
	}
	return strings.Join(kept, "\x00")
}

// keep leaves what a person would look at in the folder that KEEP names.
func keep(t *testing.T, f file, o outcome, hub *ghfake.Server, folder string) {
	t.Helper()
	to := os.Getenv("KEEP")
	if to == "" {
		return
	}
	to = filepath.Join(to, filepath.Base(folder))
	write(t, filepath.Join(to, "act.json"), []byte(o.all), 0o644)
	for job, text := range o.summary {
		write(t, filepath.Join(to, job+"-summary.md"), []byte(text), 0o644)
	}
	for _, c := range hub.Comments(7) {
		write(t, filepath.Join(to, "comment.md"), []byte(c.Body), 0o644)
	}
	logs, _ := filepath.Glob(filepath.Join(folder, "*.log"))
	for _, log := range logs {
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(to, filepath.Base(log)), data, 0o644)
	}
}
