package main

import (
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/github"
	"github.com/benchgate/benchgate/internal/report"
)

func TestASectionSaysItsCommitAndItsRun(t *testing.T) {
	commit := strings.Repeat("fbe8a5b0", 5)
	at := "https://github.example/example/server/actions/runs/42/attempts/2"
	job := github.Job{Server: "https://github.example", Repository: "example/server", RunID: 42, RunAttempt: 2, SHA: strings.Repeat("0", 40), Pull: &github.Pull{HeadSHA: commit}}
	dispatched := job
	dispatched.Pull, dispatched.Inputs = nil, map[string]string{"head": commit}
	hostile := job
	hostile.Server, hostile.Pull = "https://x)[y](z", &github.Pull{HeadSHA: "`@all`"}
	unknown := job
	unknown.RunID = 0
	for name, test := range map[string]struct {
		job      github.Job
		needless string
		want     string
	}{
		"a pull request":      {job, "", "For `fbe8a5b`, [run 42, attempt 2](" + at + "); report.html is in its artifacts.\n"},
		"a dispatch":          {dispatched, "", "For `fbe8a5b`, [run 42, attempt 2](" + at + "); report.html is in its artifacts.\n"},
		"nothing measured":    {job, "it touches no file", "For `fbe8a5b`, [run 42, attempt 2](" + at + ").\n"},
		"a hostile address":   {hostile, "", "run 42, attempt 2; report.html is in its artifacts.\n"},
		"a run without a job": {unknown, "", ""},
	} {
		j := answersOf("regressed 1", "pass 0")
		j.needless = test.needless
		a := &action{job: test.job}
		for _, s := range a.signed(j) {
			for _, limit := range []int{60_000, 2_000, 420} {
				got := s.Render(limit)
				if len(got) > limit || !strings.HasSuffix(got, "\n"+test.want) || strings.Count(got, "](") != strings.Count(test.want, "](") {
					t.Errorf("%s at %d: %q, want at its end %q", name, limit, got, test.want)
				}
			}
		}
	}
}

// TestASectionWithLittleRoomKeepsItsVerdict: where there is room for either, the verdict is what is read.
func TestASectionWithLittleRoomKeepsItsVerdict(t *testing.T) {
	j := answersOf("regressed 1")
	a := &action{job: github.Job{Server: "https://github.example", Repository: "example/server", RunID: 42, RunAttempt: 1}}
	if got, want := a.signed(j)[0].Render(200), report.Comment(j.answers[0].shown(), 200); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
