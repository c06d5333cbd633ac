package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/gate"
)

// attempts lists the starts of the server in the campaigns under a candidate's folder, so that a campaign that was
// continued shows it. What cannot be read is left out: it decides nothing.
func attempts(candidate string) []gate.Attempt {
	files, err := filepath.Glob(filepath.Join(candidate, "*", campaign.JournalFile))
	if err != nil {
		return nil
	}
	var all []gate.Attempt
	for _, path := range files {
		runner := filepath.Base(filepath.Dir(path))
		visits, runs := starts(path)
		for _, v := range visits {
			all = append(all, gate.Attempt{
				At: v.Started, What: fmt.Sprintf("%s, start %d of the server: %d runs", runner, v.Number, runs[v.Number]),
			})
		}
	}
	return all
}

// starts reads only the lines of visits and runs: those of requests are many.
func starts(path string) (visits []bench.VisitRecord, runs map[int]int) {
	runs = map[int]int{}
	f, err := os.Open(path)
	if err != nil {
		return nil, runs
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := lines.Bytes()
		if !bytes.HasPrefix(line, []byte(`{"visit"`)) && !bytes.HasPrefix(line, []byte(`{"run"`)) {
			continue
		}
		var r bench.Record
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		switch {
		case r.Visit != nil:
			visits = append(visits, *r.Visit)
		case r.Run != nil && !r.Run.WarmUp:
			runs[r.Run.Visit]++
		}
	}
	return visits, runs
}
