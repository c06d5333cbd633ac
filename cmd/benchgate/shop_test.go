package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/sim"
)

// turnsConfig is a small campaign of two builds in memory.
const turnsConfig = `version: 1
runner: lab
target: {base_url: "http://127.0.0.1:1/v1", model: simulated-8b}
reference: {base_url: "http://127.0.0.1:2/v1"}
campaign: {design: interleaved, runs: 4, looks: [4, 6], warmup: {requests: 4}}
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 4
    load: {concurrency: 4, requests: 32}
    primary: {metric: ttft.p50, tolerance: 5%, rule_out: 80%}
  other:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 8
    load: {concurrency: 2, requests: 16}
    primary: {metric: tpot.mean, tolerance: 5%, rule_out: 80%}
gate:
  rules:
    - {metric: error.ratio, max: 0.5%}
`

// shop is a folder with two simulated builds in memory; what happens in it happens in virtual time.
type shop struct {
	t      *testing.T
	folder string
	sh     *shell
	talk   *bytes.Buffer
	out    *bytes.Buffer
	// slow is how much slower the candidate is; reference and candidate have runs of their own.
	slow float64
	// edit changes the options of a campaign before it begins.
	edit func(*campaign.Options)
}

// inShop plays a test in a new shop, beside other tests.
func inShop(t *testing.T, test func(s *shop)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shop{t: t, folder: t.TempDir(), talk: &bytes.Buffer{}, out: &bytes.Buffer{}}
		s.sh = &shell{
			ctx: t.Context(), stdin: strings.NewReader(""), stdout: s.out, stderr: s.talk, now: time.Now,
			getenv: func(string) string { return "" }, talk: newTalk(s.talk, false, false, false, func(string) string { return "" }),
		}
		if err := os.WriteFile(s.path("benchgate.yaml"), []byte(turnsConfig), 0o600); err != nil {
			t.Fatal(err)
		}
		test(s)
	})
}

func (s *shop) path(parts ...string) string {
	return filepath.Join(append([]string{s.folder}, parts...)...)
}

// dial reaches a candidate at port 1 and a reference at port 2, both in memory.
func (s *shop) dial() func(ctx context.Context, network, address string) (net.Conn, error) {
	ports := sim.Ports{1: sim.NewMemory(), 2: sim.NewMemory()}
	for port, slow := range map[int]float64{1: s.slow, 2: 0} {
		server := sim.Serve(sim.New(sim.Options{
			Slots: 4, TTFT: 20 * time.Millisecond, TPOT: 5 * time.Millisecond, RunSD: 0.01, RequestSD: 0.05, Seed: uint64(port), Slow: slow,
		}), ports[port])
		s.t.Cleanup(func() { server.Close() })
	}
	return ports.Dial
}

// run measures as benchgate run does.
func (s *shop) run(out, design string, more ...string) error {
	s.t.Helper()
	c := runCmd{Config: s.path("benchgate.yaml"), Set: append([]string{"campaign.design=" + design}, more...)}
	conf, _, err := c.config(s.sh)
	if err != nil {
		s.t.Fatal(err)
	}
	base := s.baseline()
	plan, err := campaign.NewPlan(conf, s.folder, nil, 0, nil)
	if err == nil {
		plan, err = plan.Against(scenarioNames(base))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	o := campaign.Options{
		Plan: plan, State: s.path("state"), Key: out + design, Commit: "c0ffee", ReferenceCommit: "ba5e", Tool: "benchgate test", ID: out,
		Host:   host.Facts{Machine: fmt.Sprintf("shop-%d-%s", os.Getpid(), filepath.Base(s.folder))},
		Stage1: firstStage(plan, base), Look: atLook(plan, base), Dial: s.dial(), Texts: texts(base),
		Say: func(line string) { s.sh.talk.say("%s", line) }, Now: time.Now,
	}
	if s.edit != nil {
		s.edit(&o)
	}
	return measure(s.sh, o, s.path(out))
}

func texts(base []bench.Digest) map[string]bench.Calibration {
	all := map[string]bench.Calibration{}
	for _, d := range base {
		all[d.Scenario] = d.Text
	}
	return all
}

func (s *shop) baseline() []bench.Digest {
	base, _, err := baseline.Read(s.path("baselines"), "lab")
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, baseline.ErrNone) {
		s.t.Fatal(err)
	}
	return base
}

func (s *shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.talk)
	}
}

// gate decides as benchgate gate does.
func (s *shop) gate(out string) gate.Verdict {
	s.t.Helper()
	if err := os.MkdirAll(s.path("baselines"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	c := gateCmd{Baseline: s.path("baselines"), Candidate: s.path(out), Config: s.path("benchgate.yaml"), Format: "text"}
	var code verdictError
	if err := c.Run(s.sh); err != nil && !errors.As(err, &code) {
		s.t.Fatalf("gate: %v", err)
	}
	v, err := readVerdict(s.path(out, "verdict.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// primaries are the outcomes of the primary metrics by scenario.
func primaries(v gate.Verdict) map[string]gate.Outcome {
	all := map[string]gate.Outcome{}
	for _, f := range v.Findings {
		if f.Primary {
			all[f.Scenario] = f.Outcome
		}
	}
	return all
}

func (s *shop) visits(out string) int {
	s.t.Helper()
	f, err := os.Open(s.path(out, "lab", campaign.JournalFile))
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	log, err := bench.ReadCampaign(f, "campaign")
	if err != nil {
		s.t.Fatal(err)
	}
	return len(log.Visits)
}
