//go:build real

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/gate"
)

// realTurns is a closed loop of four on two llama-servers in turn: the reference has four slots, the candidate one. A
// request then waits for the slot, and once it has it, it shares the processor with no other.
const realTurns = `version: 1
runner: llama-cpu
target:
  base_url: http://127.0.0.1:{port}/v1
  model: gemma3-270m
  api: completions
  command: [%[1]q, -m, %[2]q, --alias, gemma3-270m, --host, 127.0.0.1, --port, "{port}", -c, "4096", -np, "1", -t, "1", --metrics]
  ready: {path: /health, within: 2m}
reference:
  command: [%[1]q, -m, %[2]q, --alias, gemma3-270m, --host, 127.0.0.1, --port, "{port}", -c, "4096", -np, "4", -t, "1", --metrics]
campaign: {design: interleaved, looks: [4, 6], cooldown: 0s, warmup: {requests: 4}, client: %[3]s}
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 8}
    output_tokens: 12
    load: {concurrency: 4, requests: 32}
    primary: {metric: ttft.p90, tolerance: 5%%, rule_out: 25%%}
gate:
  rules:
    - {metric: tpot.mean, tolerance: 5%%}
    - {metric: error.ratio, max: 5%%}
`

// TestRealBuildsInTurnTradeLatencies starts both builds in turn: the first token comes later, the others faster, and both
// are said. The first is a change of several times. How fast the other tokens come follows what else the processors do:
// where that jumps between visits the gain, about twofold, may not be shown, and then tpot.mean is observed. It is never
// regressed.
func TestRealBuildsInTurnTradeLatencies(t *testing.T) {
	m := newMachine(t)
	conf, out := m.path("benchgate.yaml"), m.path("out")
	text := fmt.Sprintf(realTurns, os.Getenv("LLAMA_SERVER"), os.Getenv("LLAMA_MODEL"), realClient)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.must("run", "-c", conf, "-o", out)
	if _, err := os.Stat(filepath.Join(out, "llama-cpu", "reference", "chat.json")); err != nil {
		t.Error(err)
	}
	code, told, _ := m.run(t.Context(), "gate", "-c", conf, "--candidate", out)
	m.slower(out, "ttft.p90", code, told)
	if !strings.Contains(told, "tpot.mean") {
		t.Errorf("tpot.mean is not named:\n%s", told)
	}
	want := map[string][]gate.Outcome{"ttft.p90": {gate.Regressed, gate.Inconclusive}, "tpot.mean": {gate.Improved, gate.Observed}, "error.ratio": {gate.Pass}}
	for _, f := range m.verdict(out).Findings {
		if !slices.Contains(want[f.Metric], f.Outcome) {
			t.Errorf("%s is %s, want one of %s: %s", f.Metric, f.Outcome, want[f.Metric], f.Why)
		}
		delete(want, f.Metric)
	}
	for metric := range want {
		t.Errorf("%s has no finding", metric)
	}
}
