package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
)

// digest FILE DAY METRIC VALUE… writes a digest of runs with these values, one session a day from that day on; "/" begins
// the next session. Values are numbers as JSON has them. All else in a run is sound.
func digest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: digest FILE DAY METRIC VALUE…")
	}
	b, err := digestOf(args[0], args[1], args[2], args[3:])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}

// measured [-reference REV] REV FOLDER… says in each folder that its results are of this commit, as the first line of a campaign
// does, which is an interleaved one where a reference is named; of a reference without a REV no commit is known.
func measured(ts *testscript.TestScript, neg bool, args []string) {
	turns, reference := len(args) > 1 && args[0] == "-reference", ""
	if turns {
		reference, args = args[1], args[2:]
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: measured [-reference REV] REV FOLDER…")
	}
	line := campaignOf(commit(ts, args[0]))
	if turns {
		line = bytes.Replace(line, []byte("committed"), []byte("interleaved"), 1)
	}
	if reference != "" {
		line = fmt.Appendf(bytes.TrimSuffix(line, []byte("}}\n")), ",\"reference_commit\":%q}}\n", commit(ts, reference))
	}
	for _, folder := range args[1:] {
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(folder), campaign.JournalFile), line, 0o600))
	}
}

// campaignOf is the first line of a committed campaign of a commit.
func campaignOf(commit string) []byte {
	return fmt.Appendf(nil, `{"header":{"schema":%q,"campaign":"c","runner":"lab","design":"committed","commit":%q}}`+"\n", bench.CampaignSchema, commit)
}

// digestOf is the digest as bytes; its sessions are named after the file.
func digestOf(file, from, metric string, values []string) ([]byte, error) {
	day, err := time.Parse(time.DateOnly, from)
	if err != nil {
		return nil, err
	}
	var sessions []string
	order := 0
	for i, values := range strings.Split(strings.Join(values, " "), "/") {
		at := day.AddDate(0, 0, i).Format(time.RFC3339)
		var runs []string
		for _, v := range strings.Fields(values) {
			order++
			runs = append(runs, fmt.Sprintf(`{"order": %d, "duration": 10, "sent": 100, "ok": 100, "good": 100, "metrics": {%q: %s, "error.ratio": 0}}`, order, metric, v))
		}
		sessions = append(sessions, fmt.Sprintf(`{"id": %q, "started": %q, "visits": [{"number": 1, "started": %q, "runs": [%s]}]}`,
			strings.TrimSuffix(file, ".json")+"-"+at, at, at, strings.Join(runs, ", ")))
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
	return b.Bytes(), nil
}
