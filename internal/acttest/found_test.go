//go:build act

package acttest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/benchgate/benchgate/internal/ghfake"
)

// tell sums up a run.
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
func (w *world) keep(t *testing.T, f file, o outcome, hub *ghfake.Server, folder string) {
	t.Helper()
	to := os.Getenv("KEEP")
	if to == "" {
		return
	}
	to = filepath.Join(to, filepath.Base(folder))
	put := func(name, text string) { write(t, filepath.Join(to, name), []byte(text), 0o644) }
	put("act.json", o.all)
	for job, text := range o.summary {
		put(job+"-summary.md", text)
	}
	for _, c := range hub.Comments(7) {
		put("comment.md", c.Body)
	}
	for _, p := range hub.State().Pulls[1:] {
		put("pull.md", p.Title+"\n\n"+p.Body)
	}
	logs, _ := filepath.Glob(filepath.Join(folder, "*.log"))
	for _, log := range logs {
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		put(filepath.Base(log), string(data))
	}
}

// said looks for each piece of what a case has to say in the comment, the summaries, the annotations, the statuses and the
// standing pull request.
func said(t *testing.T, r row, f file, o outcome, hub *ghfake.Server) {
	t.Helper()
	all := o.summary[f.judges] + o.summary["keep"]
	for _, c := range hub.Comments(7) {
		all += "\n" + c.Body
	}
	for _, a := range o.annotations {
		all += fmt.Sprintf("\n%s: %s:%s: %s: %s", a.Level, a.File, a.Line, a.Title, a.Text)
	}
	for _, s := range hub.State().Statuses {
		all += "\n" + s.Description
	}
	for _, p := range hub.State().Pulls[1:] {
		all += "\n" + p.Title + "\n" + p.Body
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

// ended looks for servers that outlive the jobs that started them.
func ended(t *testing.T, folder string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "server.pid"))
	if err != nil {
		return // none was started
	}
	for text := range strings.FieldsSeq(string(data)) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := os.ReadFile(filepath.Join("/proc", text, "cmdline"))
		if syscall.Kill(pid, 0) == nil && strings.Contains(string(name), "benchgate") {
			t.Errorf("server %d still runs", pid)
		}
	}
}
