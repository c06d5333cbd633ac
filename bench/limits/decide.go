package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// The decisions that are promised to be quick: 20 scenarios × 10 or 12 metrics, 25 baseline runs in five sessions, 10
// candidate runs.
const (
	scenarios    = 20
	baseSessions = 5
	baseRuns     = 5
	headRuns     = 10
)

var gated = []string{
	"ttft.p50", "ttft.p90", "ttft.p95", "ttft.mean", "tpot.mean", "tpot.p50", "tpot.p95", "e2el.p50", "e2el.p95", "icl.p95",
	"output.rate", "request.rate",
}

// decide times `benchgate gate` as a user runs it: reading, deciding, writing verdict.json and report.html.
func decide(ctx context.Context, binary string) ([]figure, error) {
	folder := filepath.Join(filepath.Dir(binary), "decide")
	if err := writeDigests(folder); err != nil {
		return nil, err
	}
	few, err := timeGate(ctx, binary, folder, gated[:10], 2)
	if err != nil {
		return nil, err
	}
	all, err := timeGate(ctx, binary, folder, gated, 1)
	return append(few, all...), err
}

func timeGate(ctx context.Context, binary, folder string, metrics []string, limit float64) ([]figure, error) {
	conf := filepath.Join(folder, "benchgate.yaml")
	if err := os.WriteFile(conf, manyRules(metrics), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary, "gate", "-c", conf, "--baseline", filepath.Join(folder, "base"),
		"--candidate", filepath.Join(folder, "head"), "-o", filepath.Join(folder, "verdict.json"), "--exit-zero", "--format", "json")
	var talk bytes.Buffer
	cmd.Stderr = &talk
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("gate: %w\n%s", err, talk.String())
	}
	took := time.Since(began).Seconds()
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return nil, fmt.Errorf("no resource usage on this system")
	}
	return []figure{
		{fmt.Sprintf("gate, %d scenarios × %d metrics × (25 + 10) runs, B = 9,999", scenarios, len(metrics)), took, limit, "s"},
		{"its peak memory", peak(usage), 200, "MB"},
	}, nil
}

func manyRules(metrics []string) []byte {
	var b bytes.Buffer
	b.WriteString("version: 1\nrunner: bench\ntarget: {base_url: \"http://127.0.0.1:8000/v1\", model: m}\nscenarios:\n")
	for i := range scenarios {
		fmt.Fprintf(&b, "  s%02d:\n    dataset: {kind: random, input_tokens: 32}\n    output_tokens: 16\n    load: {concurrency: 4, requests: 100}\n", i)
		fmt.Fprintf(&b, "    primary: {metric: %s}\n", metrics[0])
	}
	b.WriteString("gate:\n  rules:\n")
	for _, m := range metrics[1:] {
		fmt.Fprintf(&b, "    - {metric: %s, tolerance: 5%%, rule_out: 25%%}\n", m)
	}
	return b.Bytes()
}

func writeDigests(folder string) error {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range scenarios {
		name := fmt.Sprintf("s%02d", i)
		for _, s := range []side{
			{name: "base", first: september, sessions: baseSessions, runs: baseRuns, sd: 0.1, level: 0.1},
			{name: "head", first: september, sessions: 1, runs: headRuns, sd: 0.1, level: 0.1},
		} {
			if err := writeDigest(filepath.Join(folder, s.name, "bench"), s.digest(rng, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeDigest(folder string, d bench.Digest) error {
	var b bytes.Buffer
	if err := bench.WriteDigest(&b, d); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, d.Scenario+".json"), b.Bytes(), 0o600)
}

// september is when the first session of a baseline was measured.
var september = time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)

// side is one side of a comparison: sessions a day apart, whose runs scatter about a level in seconds by sd on the log scale.
type side struct {
	name           string
	first          time.Time
	sessions, runs int
	sd, level      float64
}

func (s side) digest(rng *rand.Rand, scenario string) bench.Digest {
	d := bench.Digest{
		Schema: bench.DigestSchema, Runner: "bench", Scenario: scenario, Simulated: true,
		MustMatch: map[string]string{bench.KeyMachine: "m", bench.KeyModel: "simulated", bench.KeyWorkload: scenario},
	}
	for k := range s.sessions {
		v := bench.Visit{Number: 1, Started: s.first.AddDate(0, 0, k)}
		for r := range s.runs {
			v.Runs = append(v.Runs, s.run(rng, r+1, v.Started.Add(time.Duration(r)*time.Minute)))
		}
		d.Sessions = append(d.Sessions, bench.Session{ID: fmt.Sprintf("%s-%d", s.name, k), Started: v.Started, Visits: []bench.Visit{v}})
	}
	return d
}

func (s side) run(rng *rand.Rand, order int, at time.Time) bench.Run {
	good := 98
	run := bench.Run{
		Order: order, Started: at, Duration: 10, Sent: 100, OK: 100, Good: &good,
		Metrics: map[string]float64{"error.ratio": 0, "goodput.ratio": 0.98},
	}
	for _, m := range gated {
		run.Metrics[m] = s.level * math.Exp(s.sd*rng.NormFloat64())
	}
	return run
}
