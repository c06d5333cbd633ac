package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchgate/benchgate/internal/bench"
)

// manyMetrics are twenty that a rule may limit.
func manyMetrics() []string {
	var all []string
	for _, what := range []string{"ttft", "tpot", "e2el", "icl"} {
		for _, statistic := range []string{"mean", "p50", "p90", "p95", "p99"} {
			all = append(all, what+"."+statistic)
		}
	}
	return all
}

// many FOLDER SCENARIOS DAY VALUE writes so many digests of twenty metrics into a folder, five runs about VALUE in each; and
// many FILE SCENARIOS a config that limits all of them to 450 ms.
func many(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 && len(args) != 4 {
		ts.Fatalf("usage: many FILE SCENARIOS, many FOLDER SCENARIOS DAY VALUE")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	if len(args) == 2 {
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(manyConfig(n)), 0o600))
		return
	}
	at, err := time.Parse(time.DateOnly, args[2])
	ts.Check(err)
	value, err := strconv.ParseFloat(args[3], 64)
	ts.Check(err)
	ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o755))
	for i := range n {
		name := fmt.Sprintf("scenario-%d", i)
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), name+".json"), []byte(manyDigest(name, at.Format(time.RFC3339), value)), 0o600))
	}
}

func manyConfig(n int) string {
	var b strings.Builder
	b.WriteString("version: 1\nrunner: lab\ntarget: {base_url: \"http://127.0.0.1:8000/v1\", model: exact}\nscenarios:\n")
	for i := range n {
		fmt.Fprintf(&b, "  scenario-%d: {dataset: {kind: random, input_tokens: 16}, output_tokens: 4, load: {concurrency: 16, requests: 1000}}\n", i)
	}
	b.WriteString("gate:\n  rules:\n")
	for _, m := range manyMetrics() {
		fmt.Fprintf(&b, "    - {metric: %s, max: 450ms}\n", m)
	}
	return b.String()
}

func manyDigest(scenario, at string, value float64) string {
	var runs, match []string
	for order := range 5 {
		var metrics []string
		for k, m := range manyMetrics() {
			metrics = append(metrics, fmt.Sprintf("%q: %g", m, value*(1+float64((order*7+k*3)%5)/200)))
		}
		runs = append(runs, fmt.Sprintf(`{"order": %d, "duration": 10, "sent": 1000, "ok": 1000, "good": 1000, "metrics": {%s, "error.ratio": 0}}`, order+1, strings.Join(metrics, ", ")))
	}
	for _, k := range []string{
		bench.KeyMachine, bench.KeyAccelerator, bench.KeyDriver, bench.KeyModel, bench.KeyWorkload, bench.KeyTopology, bench.KeyDefinitions,
		bench.KeyOutput, bench.KeyTool,
	} {
		match = append(match, fmt.Sprintf("%q: %q", k, "exact"))
	}
	return fmt.Sprintf(`{"schema": %q, "runner": "lab", "scenario": %q, "must_match": {%s}, "sessions": [{"id": %q, "started": %q, "visits": [{"number": 1, "started": %q, "runs": [%s]}]}]}`,
		bench.DigestSchema, scenario, strings.Join(match, ", "), at, at, at, strings.Join(runs, ", "))
}
