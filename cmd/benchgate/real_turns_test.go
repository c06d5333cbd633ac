//go:build real

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/gate"
)

// realTurns is a closed loop of four on two llama-servers in turn: the reference has four slots, the candidate two. A
// request then waits for a slot, and once it has one it shares the processor with fewer others.
const realTurns = `version: 1
runner: llama-cpu
target:
  base_url: http://127.0.0.1:{port}/v1
  model: gemma3-270m
  command: [%[1]q, -m, %[2]q, --alias, gemma3-270m, --host, 127.0.0.1, --port, "{port}", -c, "4096", -np, "2", -t, "1", --metrics]
  ready: {path: /health, within: 2m}
reference:
  command: [%[1]q, -m, %[2]q, --alias, gemma3-270m, --host, 127.0.0.1, --port, "{port}", -c, "4096", -np, "4", -t, "1", --metrics]
campaign: {design: interleaved, looks: [4, 6], cooldown: 1s, warmup: {requests: 4}}
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 8
    load: {concurrency: 4, requests: 60}
    primary: {metric: ttft.p95, tolerance: 5%%, rule_out: 25%%}
gate:
  rules:
    - {metric: tpot.mean, tolerance: 5%%}
    - {metric: error.ratio, max: 5%%}
`

// TestRealBuildsInTurnTradeLatencies starts both builds in turn: the first token comes later, the others faster, and both
// are said.
func TestRealBuildsInTurnTradeLatencies(t *testing.T) {
	m := newMachine(t)
	conf, out := m.path("benchgate.yaml"), m.path("out")
	text := fmt.Sprintf(realTurns, os.Getenv("LLAMA_SERVER"), os.Getenv("LLAMA_MODEL"))
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.must("run", "-c", conf, "-o", out)
	if _, err := os.Stat(filepath.Join(out, "llama-cpu", "reference", "chat.json")); err != nil {
		t.Error(err)
	}
	code, told, _ := m.run(t.Context(), "gate", "-c", conf, "--candidate", out)
	if code != 1 || !strings.Contains(told, "ttft.p95") || !strings.Contains(told, "tpot.mean") {
		t.Errorf("exit %d, want 1 with ttft.p95 and tpot.mean named:\n%s", code, told)
	}
	want := map[string]gate.Outcome{"ttft.p95": gate.Regressed, "tpot.mean": gate.Improved, "error.ratio": gate.Pass}
	for _, f := range m.verdict(out).Findings {
		if f.Outcome != want[f.Metric] {
			t.Errorf("%s is %s, want %s: %s", f.Metric, f.Outcome, want[f.Metric], f.Why)
		}
	}
}
