//go:build act

package acttest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// job is what one run of a workflow is given.
type job struct {
	workflow string              // file name under .github/workflows
	event    string              // as GitHub names it
	payload  map[string]any      // the event file
	sha      string              // GITHUB_SHA: what the workflow's checkout holds
	api      string              // address of the API
	attempt  string              // of the run, from "1"
	folder   string              // of the case: what the stand-ins leave lies there
	state    string              // of the lab machine's user
	began    func(pid int)       // is told act's process; nil: nobody wants to know
	edit     func(string) string // changes the workflow where act cannot do what GitHub does; nil: as init writes it
}

// annotation is one message of a workflow command.
type annotation struct{ Job, Level, Title, File, Line, Text string }

// outcome is what act tells of a run.
type outcome struct {
	jobs        map[string]string            // success, failure or skipped
	outputs     map[string]map[string]string // job → name → value
	summary     map[string]string            // job → Markdown
	annotations []annotation
	log         map[string]string // job → what its steps print
	all         string            // every line of act's, as it came
}

// message is a line of act's JSON.
type message struct {
	JobID     string            `json:"jobID"`
	JobResult string            `json:"jobResult"`
	Raw       bool              `json:"raw_output"`
	Msg       string            `json:"msg"`
	Command   string            `json:"command"`
	Name      string            `json:"name"`
	Arg       string            `json:"arg"`
	Content   string            `json:"content"`
	Pairs     map[string]string `json:"kvPairs"`
}

// play has act run a workflow, and ends everything that act started.
func (w *world) play(t *testing.T, j job) outcome {
	t.Helper()
	work := filepath.Join(j.folder, "work")
	if err := os.RemoveAll(work); err != nil {
		t.Fatal(err)
	}
	w.command(t, j.folder, "git", "clone", "-q", "--shared", "--no-checkout", origin(j.folder), work)
	w.command(t, work, "git", "checkout", "-q", "--detach", j.sha)
	w.command(t, work, "git", "remote", "set-url", "origin", "https://github.com/example/server.git")
	if j.edit != nil {
		name := filepath.Join(work, ".github", "workflows", j.workflow)
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		edited := j.edit(string(text))
		if edited == string(text) {
			t.Fatalf("the edit changes nothing in %q", j.workflow)
		}
		write(t, name, []byte(edited), 0o644)
	}
	payload, err := json.Marshal(j.payload)
	if err != nil {
		t.Fatal(err)
	}
	event := filepath.Join(j.folder, "event.json")
	write(t, event, payload, 0o644)
	// act ends what it started when it is told to end, and is told so when these tests are.
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.act, append([]string{
		j.event, "-e", event, "-W", filepath.Join(".github", "workflows", j.workflow), "--json",
		"-P", "self-hosted=-self-hosted", "-P", "ubuntu-latest=-self-hosted",
		// Without the first act listens on more than loopback; with the last it would hide the token that must not be there.
		"--no-cache-server", "--no-skip-checkout", "--concurrent-jobs", "1", "--insecure-secrets",
		"--action-cache-path", w.cache(), "-s", "GITHUB_TOKEN=" + token,
		"--env", "GITHUB_API_URL=" + j.api, "--env", "GITHUB_RUN_ATTEMPT=" + j.attempt, "--env", "STAND_IN=" + j.folder,
	}, w.actions(t, work)...)...)
	cmd.Dir = work
	// GitHub's repositories are folders here.
	cmd.Env = append(w.environment(), "XDG_STATE_HOME="+j.state, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+j.folder+"/.insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if j.began != nil {
		j.began(cmd.Process.Pid)
	}
	// How act ends is told by its messages: it fails where a job does.
	if err := cmd.Wait(); ctx.Err() != nil {
		t.Fatalf("act: %v\n%s", err, tail(out.String()))
	}
	return read(t, out.Bytes())
}

// origin is where the user's repository of a case lies.
func origin(folder string) string { return filepath.Join(folder, "example", "server.git") }

var used = regexp.MustCompile(`uses: *([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)@([^ \n#]+)`)

// actions maps every action that the workflows name to a folder of this machine. One that is not known would be fetched.
func (w *world) actions(t *testing.T, work string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(work, ".github", "workflows", "*.y*ml"))
	if err != nil {
		t.Fatal(err)
	}
	stand, err := filepath.Abs("testdata/stand-ins")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{
		"actions/checkout": filepath.Join(stand, "checkout"), "actions/upload-artifact": filepath.Join(stand, "upload-artifact"),
		"actions/download-artifact": filepath.Join(stand, "download-artifact"), "benchgate/benchgate": w.action,
	}
	var args []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range used.FindAllStringSubmatch(string(text), -1) {
			folder, ok := folders[m[1]]
			if !ok {
				t.Fatalf("%s uses %s, for which nothing stands in", file, m[1])
			}
			args = append(args, "--local-repository", m[1]+"@"+m[2]+"="+folder)
		}
	}
	return args
}

// read takes act's messages apart.
func read(t *testing.T, out []byte) outcome {
	t.Helper()
	o := outcome{jobs: map[string]string{}, outputs: map[string]map[string]string{}, summary: map[string]string{}, log: map[string]string{}, all: string(out)}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.JobID == "" {
			continue
		}
		o.add(m)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return o
}

func (o *outcome) add(m message) {
	switch {
	case m.JobResult != "":
		o.jobs[m.JobID] = m.JobResult
	case m.Raw:
		o.log[m.JobID] += m.Msg
	case m.Command == "summary":
		// act tells it of the step in the action, and once more of the step that uses the action.
		if !strings.HasSuffix(o.summary[m.JobID], m.Content) {
			o.summary[m.JobID] += m.Content
		}
	case m.Command == "set-output":
		if o.outputs[m.JobID] == nil {
			o.outputs[m.JobID] = map[string]string{}
		}
		o.outputs[m.JobID][m.Name] = m.Arg
	case m.Command == "error" || m.Command == "warning" || m.Command == "notice":
		o.annotations = append(o.annotations, annotation{m.JobID, m.Command, m.Pairs["title"], m.Pairs["file"], m.Pairs["line"], m.Arg})
	}
}

// result of a job; one that act says nothing of was skipped.
func (o outcome) result(job string) string {
	if r := o.jobs[job]; r != "" {
		return r
	}
	return "skipped"
}

func tail(s string) string {
	const most = 6000
	return s[max(0, len(s)-most):]
}

// everything is what can be read of a run afterwards by somebody: act's messages but for the command that hides the token.
func (o outcome) everything() string {
	var kept []string
	for line := range strings.Lines(o.all) {
		if !strings.Contains(line, `"command":"add-mask"`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
