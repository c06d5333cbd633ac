package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/benchgate/benchgate/internal/ghfake"
)

// One campaign in a job that judges: as many times as it takes for one of them to be disturbed by nobody.
const judgements = 5

// judge times `benchgate action` in mode judge on finished campaigns of 2 and 50 scenarios with four rules each, as action.yml
// calls it and without the network; then it counts the calls with which the larger one is published on a GitHub of our own.
func judge(ctx context.Context, binary string) ([]figure, error) {
	var out []figure
	for _, scenarios := range []int{2, 50} {
		j, err := newJob(ctx, binary, filepath.Join(filepath.Dir(binary), fmt.Sprintf("judge-%d", scenarios)), scenarios)
		if err != nil {
			return nil, err
		}
		wall, cpu := math.Inf(1), math.Inf(1)
		for range judgements {
			w, c, err := j.judged(ctx)
			if err != nil {
				return nil, err
			}
			wall, cpu = min(wall, w), min(cpu, c)
		}
		out = append(out,
			figure{fmt.Sprintf("action judge, %d scenarios × 4 rules × (25 + 5) runs, best of %d", scenarios, judgements), wall, 2, "s"},
			figure{"its CPU, git's too", cpu, 0, "s"})
		if scenarios == 50 {
			calls, err := j.calls(ctx)
			if err != nil {
				return nil, err
			}
			out = append(out, figure{"its calls to publish: a comment and a status", float64(calls), 12, "calls"})
		}
	}
	return out, nil
}

// job is a job of a workflow that judges: a checkout, results, and the event of a pull request.
type job struct {
	binary, folder string
	base, head     string // commits
}

// judged runs the job once, without a token, and says how long it took.
func (j job) judged(ctx context.Context) (wall, cpu float64, err error) {
	began := time.Now()
	cmd, err := j.run(ctx)
	if err != nil {
		return 0, 0, err
	}
	wall = time.Since(began).Seconds()
	state := cmd.ProcessState
	return wall, (state.UserTime() + state.SystemTime()).Seconds(), nil
}

// calls runs the job with a token and a GitHub, and counts what it asks of that.
func (j job) calls(ctx context.Context) (int, error) {
	var problem error
	server, err := ghfake.Start(ghfake.Options{
		Repository: repository,
		State: ghfake.State{Pulls: []ghfake.Pull{{
			Number: 7, HeadRef: "change", HeadSHA: j.head, HeadRepository: repository, BaseRef: "main", BaseSHA: j.base,
		}}},
	}, func(p string) { problem = fmt.Errorf("publish: %s", p) })
	if err != nil {
		return 0, err
	}
	defer server.Close()
	_, err = j.run(ctx, "BENCHGATE_TOKEN=simulated", "BENCHGATE_COMMENT=always", "BENCHGATE_STATUS=true", "BENCHGATE_API_URL="+server.URL)
	if err == nil {
		err = problem
	}
	if state := server.State(); err == nil && (len(state.Comments) != 1 || len(state.Statuses) != 1) {
		err = fmt.Errorf("published %d comments and %d statuses, want one of each", len(state.Comments), len(state.Statuses))
	}
	return len(server.Calls()), err
}

// run is the step of a workflow: all that it is asked comes in the environment.
func (j job) run(ctx context.Context, env ...string) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, j.binary, "action")
	cmd.Dir = filepath.Join(j.folder, "checkout")
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + j.folder,
		"BENCHGATE_MODE=judge", "BENCHGATE_RESULTS=../results", "BENCHGATE_OUT=../out",
		"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH=../event.json", "GITHUB_REPOSITORY=" + repository,
		"GITHUB_SHA=" + j.head, "GITHUB_RUN_ID=1", "GITHUB_WORKFLOW=benchgate", "GITHUB_JOB=verdict",
		"GITHUB_OUTPUT=../output", "GITHUB_STEP_SUMMARY=../summary",
	}, env...)
	for _, f := range []string{"output", "summary"} {
		if err := os.WriteFile(filepath.Join(j.folder, f), nil, 0o600); err != nil {
			return nil, err
		}
	}
	var talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &talk, &talk
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("action judge: %w\n%s", err, talk.String())
	}
	return cmd, nil
}
