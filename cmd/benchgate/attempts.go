package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/gate"
)

// attempts lists the starts of servers in the campaigns under a candidate's folder, those that were set aside among them:
// a campaign that was continued shows it, and so does one that was begun anew until it pleased. What cannot be read is left
// out: it decides nothing.
// Of more starts than any campaign has the rest is left out as well.
func attempts(candidate string) []gate.Attempt {
	if info, err := os.Stat(candidate); err == nil && !info.IsDir() {
		candidate = filepath.Dir(candidate)
	}
	var all []gate.Attempt
	for _, pattern := range []string{"", "*"} {
		for _, journal := range within(candidate, path.Join(pattern, campaign.JournalFile+"*")) {
			if len(all) < mostStarts {
				all = append(all, attemptsIn(journal)...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b gate.Attempt) int { return a.At.Compare(b.At) })
	return all
}

func attemptsIn(path string) []gate.Attempt {
	where := filepath.Base(filepath.Dir(path))
	if h, ok := headerOf(path); ok {
		where = h.Runner
	}
	if aside := strings.TrimPrefix(filepath.Base(path), campaign.JournalFile); aside != "" {
		where += ", set aside as " + strings.TrimPrefix(aside, ".")
	}
	var all []gate.Attempt
	for _, v := range starts(path) {
		of := "the server"
		if v.Side == "reference" {
			of = "the reference"
		}
		all = append(all, gate.Attempt{At: v.Started, What: fmt.Sprintf("%s, start %d of %s: %s", where, v.Number, of, count(v.runs, "run"))})
	}
	return all
}

// start is one start of a server, and how many judged runs it was good for.
type start struct {
	bench.VisitRecord
	runs int
}

// mostStarts is how many starts of a campaign are listed.
const mostStarts = 1000

// starts reads only the lines of visits and runs: those of requests are many. A visit that was continued stands twice.
func starts(path string) (all []start) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for len(all) < mostStarts && lines.Scan() {
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
			all = append(all, start{VisitRecord: *r.Visit})
		case r.Run != nil && !r.Run.WarmUp && len(all) > 0:
			all[len(all)-1].runs++
		}
	}
	return all
}
