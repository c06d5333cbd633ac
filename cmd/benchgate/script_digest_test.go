package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchgate/benchgate/internal/bench"
)

// digest FILE DAY METRIC VALUE… writes a digest of runs with these values, one session a day from that day on; "/" begins
// the next session. Values are numbers as JSON has them. All else in a run is sound.
func digest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: digest FILE DAY METRIC VALUE…")
	}
	day, err := time.Parse(time.DateOnly, args[1])
	ts.Check(err)
	var sessions []string
	order := 0
	for i, values := range strings.Split(strings.Join(args[3:], " "), "/") {
		at := day.AddDate(0, 0, i).Format(time.RFC3339)
		var runs []string
		for _, v := range strings.Fields(values) {
			order++
			runs = append(runs, fmt.Sprintf(`{"order": %d, "duration": 10, "sent": 100, "ok": 100, "good": 100, "metrics": {%q: %s, "error.ratio": 0}}`, order, args[2], v))
		}
		sessions = append(sessions, fmt.Sprintf(`{"id": %q, "started": %q, "visits": [{"number": 1, "started": %q, "runs": [%s]}]}`,
			strings.TrimSuffix(args[0], ".json")+"-"+at, at, at, strings.Join(runs, ", ")))
	}
	match := []string{}
	for _, k := range []string{
		bench.KeyMachine, bench.KeyAccelerator, bench.KeyDriver, bench.KeyModel, bench.KeyWorkload, bench.KeyTopology, bench.KeyDefinitions,
		bench.KeyOutput, bench.KeyTool,
	} {
		match = append(match, fmt.Sprintf("%q: %q", k, "exact"))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"schema": %q, "runner": "lab", "scenario": "chat", "must_match": {%s}, "sessions": [%s]}`,
		bench.DigestSchema, strings.Join(match, ", "), strings.Join(sessions, ", "))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}
