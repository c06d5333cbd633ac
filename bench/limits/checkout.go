package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

const (
	repository = "example/server"
	// judgedRules ask four questions of a scenario, with its primary: two changes and two limits.
	judgedRules = "gate:\n  rules:\n    - {metric: tpot.mean, tolerance: 5%}\n    - {metric: goodput.ratio, min: 90%}\n    - {metric: error.ratio, max: 0.5%}\n"
)

// newJob writes what a job finds that judges so many scenarios: a checkout of two commits, with the rules and the baseline in
// the first, the results of the second, and the event.
func newJob(ctx context.Context, binary, folder string, scenarios int) (job, error) {
	j := job{binary: binary, folder: folder}
	checkout, results := filepath.Join(folder, "checkout"), filepath.Join(folder, "results", "bench")
	if err := writeSides(filepath.Join(checkout, "baselines", "bench"), results, scenarios); err != nil {
		return j, err
	}
	if err := os.WriteFile(filepath.Join(checkout, "benchgate.yaml"), judgedConfig(scenarios), 0o600); err != nil {
		return j, err
	}
	if err := j.commit(ctx, checkout); err != nil {
		return j, err
	}
	campaign := fmt.Sprintf(`{"header":{"schema":%q,"campaign":"c","runner":"bench","design":"committed","commit":%q}}`+"\n", bench.CampaignSchema, j.head)
	if err := os.WriteFile(filepath.Join(results, "campaign.jsonl"), []byte(campaign), 0o600); err != nil {
		return j, err
	}
	event := fmt.Sprintf(`{"pull_request":{"number":7,"head":{"sha":%q,"ref":"change","repo":{"full_name":%q}},"base":{"sha":%q,"ref":"main"}}}`, j.head, repository, j.base)
	return j, os.WriteFile(filepath.Join(folder, "event.json"), []byte(event), 0o600)
}

// writeSides writes a baseline of five sessions and a candidate a little slower, of each scenario.
func writeSides(baseline, results string, scenarios int) error {
	rng := rand.New(rand.NewPCG(3, 4))
	before := side{name: "base", first: september, sessions: baseSessions, runs: baseRuns, sd: 0.02, level: 0.1}
	after := side{name: "head", first: september.AddDate(0, 0, baseSessions), sessions: 1, runs: 5, sd: 0.02, level: 0.102}
	promised := 0.5 // seconds, as judgedConfig says
	for i := range scenarios {
		name := fmt.Sprintf("s%02d", i)
		base, head := before.digest(rng, name), after.digest(rng, name)
		base.SLO.TTFT, head.SLO.TTFT = &promised, &promised
		if err := writeDigest(baseline, base); err != nil {
			return err
		}
		if err := writeDigest(results, head); err != nil {
			return err
		}
	}
	return nil
}

func judgedConfig(scenarios int) []byte {
	var b bytes.Buffer
	b.WriteString("version: 1\nrunner: bench\ntarget: {base_url: \"http://127.0.0.1:8000/v1\", model: simulated}\nscenarios:\n")
	for i := range scenarios {
		fmt.Fprintf(&b, "  s%02d:\n    dataset: {kind: random, input_tokens: 32}\n    output_tokens: 16\n    load: {concurrency: 4, requests: 100}\n", i)
		b.WriteString("    slo: {ttft: 500ms}\n    primary: {metric: ttft.p95}\n")
	}
	b.WriteString(judgedRules)
	return b.Bytes()
}

// commit makes a repository of the checkout with two commits, of which the second changes nothing.
func (j *job) commit(ctx context.Context, checkout string) error {
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "base"}, {"commit", "-q", "--allow-empty", "-m", "change"},
	} {
		if _, err := git(ctx, checkout, args...); err != nil {
			return err
		}
	}
	var err error
	if j.base, err = git(ctx, checkout, "rev-parse", "HEAD~1"); err != nil {
		return err
	}
	j.head, err = git(ctx, checkout, "rev-parse", "HEAD")
	return err
}

func git(ctx context.Context, folder string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=bench", "-c", "user.email=bench@example.com"}, args...)...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", args[0], err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
