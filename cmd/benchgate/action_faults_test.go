package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/repo/repotest"
)

// checkout makes the current folder a repository whose last commit changes nothing, beside results of that commit that
// pass and results that do not. It returns the commits.
func checkout(t *testing.T) (head, base string) {
	t.Helper()
	t.Chdir(t.TempDir())
	const even, slow = "0.301 0.300 0.302 0.299 0.301", "0.601 0.600 0.602 0.599 0.601"
	for file, values := range map[string]string{
		"baselines/lab/chat.json": "0.300 0.301 0.299 0.302 0.300 / " + even + " / 0.299 0.301 0.300 0.300 0.302",
		"same/lab/chat.json":      even, "slow/lab/chat.json": slow,
	} {
		day := map[bool]string{true: "2026-11-01", false: "2026-11-05"}[strings.HasPrefix(file, "baselines")]
		b, err := digestOf(file, day, "ttft.p50", strings.Fields(values))
		if err != nil {
			t.Fatal(err)
		}
		plant(t, file, b)
	}
	plant(t, "benchgate.yaml", []byte(`version: 1
runner: lab
target: {base_url: "http://127.0.0.1:8000/v1", model: exact}
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 4
    load: {concurrency: 16, requests: 100}
    primary: {metric: ttft.p50, tolerance: 5%, rule_out: 25%}
gate: {baseline: {day_sd: 1%}}
`))
	repotest.Git(t, "", "init", "-q")
	repotest.Git(t, "", "add", "benchgate.yaml", "baselines")
	repotest.Git(t, "", "commit", "-q", "-m", "base")
	repotest.Git(t, "", "commit", "-q", "--allow-empty", "-m", "change")
	head, base = repotest.Git(t, "", "rev-parse", "HEAD"), repotest.Git(t, "", "rev-parse", "HEAD~1")
	plant(t, "same/lab/campaign.jsonl", campaignOf(head))
	plant(t, "slow/lab/campaign.jsonl", campaignOf(head))
	return head, base
}

func plant(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, content, 0o600)); err != nil {
		t.Error(err)
	}
}

// decided is all of a judgement that no API may change.
type decided struct {
	Code                        int
	Verdict, ExitCode, Decision string
	Summary, File               string
}

// judged is a judgement, and what was told of publishing it.
type judged struct {
	decided
	comment, errors string
	all             string // every line that left the process, but the one that masks the token
}

// judge runs the action's judging job over one folder of results, and publishes to one server.
func judge(t *testing.T, api, head, base, results string, more ...string) judged {
	t.Helper()
	dir := t.TempDir()
	event := fmt.Sprintf(`{"pull_request":{"number":7,"head":{"sha":%q,"ref":"change","repo":{"full_name":"example/server"}},"base":{"sha":%q,"ref":"main"}}}`, head, base)
	plant(t, filepath.Join(dir, "event.json"), []byte(event))
	plant(t, filepath.Join(dir, "output"), nil)
	plant(t, filepath.Join(dir, "summary"), nil)
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": filepath.Join(dir, "event.json"), "GITHUB_REPOSITORY": "example/server",
		"GITHUB_SHA": head, "GITHUB_RUN_ID": "42", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_WORKFLOW": "gate", "RUNNER_TEMP": dir, "HOME": dir,
		"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"),
		"BENCHGATE_MODE": "judge", "BENCHGATE_RESULTS": results, "BENCHGATE_OUT": filepath.Join(dir, "out"), "BENCHGATE_COMMENT": "always", "BENCHGATE_STATUS": "true",
		"BENCHGATE_TOKEN": "ghs_sesame", "BENCHGATE_API_URL": api,
	}
	for _, m := range more {
		name, value, _ := strings.Cut(m, "=")
		env[name] = value
	}
	var out, talk bytes.Buffer
	code := run(t.Context(), []string{"action"}, strings.NewReader(""), &out, &talk, func(name string) string { return env[name] })
	output, summary := contents(t, filepath.Join(dir, "output")), contents(t, filepath.Join(dir, "summary"))
	told := outputs(output)
	first, _, _ := strings.Cut(out.String(), "\n")
	before, _, _ := strings.Cut(summary, "\n**Not published:**")
	all := strings.ReplaceAll(out.String(), "::add-mask::ghs_sesame", "") + talk.String() + output + summary
	file := contents(t, filepath.Join(dir, "out", "verdict.json"))
	return judged{decided{code, told["verdict"], told["exit-code"], first, before, file}, told["comment-state"], told["publish-errors"], all}
}

func contents(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// refusals are the faults that cost no wait: the others are played at full length.
var refusals = map[string]bool{"unauthorized": true, "forbidden": true, "invalid": true, "primary-403": true, "gone": true, "redirect-307-away": true, "echo": true}

// TestNoFaultOfTheAPIChangesAVerdict plays every fault at every write, and at every call where that needs no wait, with
// results that pass and with results that do not: exit code, outputs, summary and file are those of a job that publishes
// nothing.
func TestNoFaultOfTheAPIChangesAVerdict(t *testing.T) {
	head, base := checkout(t)
	want := map[string]judged{}
	for results, code := range map[string]int{"same": 0, "slow": 1} {
		want[results] = judge(t, "http://127.0.0.1:1", head, base, results, "BENCHGATE_COMMENT=never", "BENCHGATE_STATUS=false")
		if got := want[results]; got.Code != code || got.Verdict == "" || got.File == "" || got.Summary == "" || got.Decision == "" || got.comment != "skipped" {
			t.Fatalf("%s without publishing: %+v", results, got)
		}
	}
	var jobs sync.WaitGroup
	places := make(chan struct{}, 32) // a job mostly waits
	for _, name := range append(ghfake.Names(), "") {
		for _, on := range []string{"write", ""} {
			if testing.Short() && !refusals[name] || on == "" && !refusals[name] {
				continue
			}
			for results := range want {
				jobs.Go(func() {
					places <- struct{}{}
					defer func() { <-places }()
					s := ghfake.New(t, ghfake.Options{Token: "ghs_sesame", State: ghfake.State{Pulls: []ghfake.Pull{{Number: 7, HeadSHA: head, HeadRepository: "example/server", BaseSHA: base}}}})
					if err := s.Fail(ghfake.Fault{Name: name, On: on}); err != nil {
						t.Error(err)
					}
					got := judge(t, s.URL, head, base, results)
					if diff := cmp.Diff(want[results].decided, got.decided); diff != "" {
						t.Errorf("fault %q on %q, results %s: the verdict (-without publishing +with the fault)\n%s", name, on, results, diff)
					}
					if strings.Contains(got.all, "ghs_sesame") {
						t.Errorf("fault %q on %q: the token is told: %s", name, on, got.all)
					}
					wrote := got.comment == "created"
					if refusals[name] && (wrote || got.errors == "") || name == "" && (!wrote || got.errors != "") {
						t.Errorf("fault %q on %q: the comment is %s, errors %q", name, on, got.comment, got.errors)
					}
				})
			}
		}
	}
	jobs.Wait()
}
