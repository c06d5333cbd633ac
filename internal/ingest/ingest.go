// Package ingest turns another tool's result files into runs, and runs into such a file.
//
// Names are mapped, never copied: the same word means different things in different tools. A file that cannot be
// reconciled with itself is refused; what it does not say stays absent.
package ingest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// Limits of an import.
const (
	maxFiles   = 1000
	maxResults = 1000 // of all files
	maxFile    = 256 << 20
)

// File is one result file. Name stands for it in messages.
type File struct {
	Name string
	Data io.Reader
}

// Options say what the files do not.
type Options struct {
	// Runner and Scenario name the digest: "imported" and the name of the format unless set.
	Runner, Scenario string
	// Session declares that the files are one side of one interleaved session of that name, whose other side is imported
	// under the same name. Empty: the results of one UTC date are a session of their own, named by the date and their
	// content: the two sides of a comparison share it only when they are the same results.
	Session string
}

// reader knows one tool's files.
type reader struct {
	// knows says whether a result looks like one of this tool.
	knows func(r result) bool
	read  func(r result) (pass, error)
}

// readers is the table of formats; to add a tool, add a line.
var readers = map[string]reader{
	"vllm": {isVLLM, readVLLM},
}

// Formats lists the formats that [Digest] takes, apart from "auto".
func Formats() []string { return slices.Sorted(maps.Keys(readers)) }

// pass is one run as a tool's file tells it.
type pass struct {
	from      string // file, and the result's number in it
	tool      string
	model     string
	workload  workload
	date      time.Time
	run       bench.Run
	underTest map[string]string
	sum       [sha256.Size]byte // of the result's content, however it is laid out
}

// Digest reads result files, one run a result, into a digest. Format is "auto" or one of [Formats].
func Digest(format string, files []File, o Options) (bench.Digest, error) {
	if len(files) == 0 || len(files) > maxFiles {
		return bench.Digest{}, fmt.Errorf("%d files: want 1 to %d", len(files), maxFiles)
	}
	var passes []pass
	for _, f := range files {
		results, err := resultsOf(f)
		if err != nil {
			return bench.Digest{}, fmt.Errorf("read %q: %w", f.Name, err)
		}
		for _, r := range results {
			if format, err = formatOf(format, r); err != nil {
				return bench.Digest{}, fmt.Errorf("read %q: %w", r.from, err)
			}
			p, err := readers[format].read(r)
			if err != nil {
				return bench.Digest{}, fmt.Errorf("read %q: %w", r.from, err)
			}
			if p.sum, err = r.sum(); err != nil {
				return bench.Digest{}, fmt.Errorf("read %q: %w", r.from, err)
			}
			passes = append(passes, p)
		}
		if len(passes) > maxResults {
			return bench.Digest{}, fmt.Errorf("read %q: more than %d results", f.Name, maxResults)
		}
	}
	o.Runner, o.Scenario = cmp.Or(o.Runner, "imported"), cmp.Or(o.Scenario, format)
	return assemble(passes, o)
}

// formatOf finds the reader for a result; the first of an import decides for all.
func formatOf(format string, r result) (string, error) {
	if schema, ok := r.text("schema"); ok && strings.HasPrefix(schema, "benchgate.") {
		return "", fmt.Errorf("a file of benchgate itself (%s): nothing to import, give it to gate as it is", quote(schema))
	}
	if format == "auto" || format == "" {
		for _, name := range Formats() {
			if readers[name].knows(r) {
				return name, nil
			}
		}
		return "", fmt.Errorf("not a result of %s; name the tool with --from if it is", strings.Join(Formats(), " or "))
	}
	if _, ok := readers[format]; !ok {
		return "", fmt.Errorf("unknown format %s: want auto or %s", quote(format), strings.Join(Formats(), " or "))
	}
	return format, nil
}

// assemble makes a digest of the passes, in the order of their dates.
func assemble(passes []pass, o Options) (bench.Digest, error) {
	if err := errors.Join(bench.CheckName("runner", o.Runner), bench.CheckName("scenario", o.Scenario)); err != nil {
		return bench.Digest{}, err
	}
	slices.SortStableFunc(passes, func(a, b pass) int {
		return cmp.Or(a.date.Compare(b.date), strings.Compare(a.from, b.from))
	})
	work, err := alike(passes)
	if err != nil {
		return bench.Digest{}, err
	}
	d := bench.Digest{
		Schema: bench.DigestSchema, Runner: o.Runner, Scenario: o.Scenario,
		Simulated: strings.Contains(strings.ToLower(passes[0].model), "simulated"),
		MustMatch: map[string]string{
			bench.KeyModel: passes[0].model, bench.KeyWorkload: work.String(), bench.KeyTool: passes[0].tool,
			bench.KeyDefinitions: passes[0].tool + ", " + bench.Definitions,
		},
		Sessions: sessions(passes, o.Session),
	}
	for i := range d.Sessions {
		d.Sessions[i].UnderTest = shared(passes)
	}
	return d, nil
}

// alike checks that all passes measured the same, and adds up what they know of it.
func alike(passes []pass) (workload, error) {
	all := passes[0].workload
	for i, p := range passes {
		for _, q := range passes[:i] {
			if p.model != q.model {
				return workload{}, fmt.Errorf("%q and %q measured different models: %s and %s", q.from, p.from, quote(q.model), quote(p.model))
			}
			if p.date.Equal(q.date) && p.run.Duration == q.run.Duration {
				return workload{}, fmt.Errorf("%q and %q are the same result", q.from, p.from)
			}
			if what := q.workload.differs(p.workload); what != "" {
				return workload{}, fmt.Errorf("%q and %q measured different workloads: %s", q.from, p.from, what)
			}
		}
		all = all.with(p.workload)
	}
	return all, nil
}

// shared are the facts under test on which all passes agree.
func shared(passes []pass) map[string]string {
	facts := maps.Clone(passes[0].underTest)
	for _, p := range passes[1:] {
		maps.DeleteFunc(facts, func(k, v string) bool { return p.underTest[k] != v })
	}
	return facts
}

// since is where the count of an interleaved session begins: its two sides are imported apart, and a run's place among
// those of both is the second in which it ended.
var since = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// dayNames names the session of each date: the date, and a hash over the results of that day in any order. Two sides that
// were measured on one day must not look like one and the same session, which nobody may compare with itself.
func dayNames(passes []pass) map[string]string {
	sums := map[string][][]byte{}
	for _, p := range passes {
		day := p.date.Format(time.DateOnly)
		sums[day] = append(sums[day], p.sum[:])
	}
	names := map[string]string{}
	for day, all := range sums {
		slices.SortFunc(all, bytes.Compare)
		sum := sha256.Sum256(slices.Concat(all...))
		names[day] = day + "-" + hex.EncodeToString(sum[:4])
	}
	return names
}

// sessions puts passes, sorted by date, into one named session or into one a day.
func sessions(passes []pass, name string) []bench.Session {
	var all []bench.Session
	ids := dayNames(passes)
	last := 0
	for _, p := range passes {
		id := cmp.Or(name, ids[p.date.Format(time.DateOnly)])
		if len(all) == 0 || all[len(all)-1].ID != id {
			last = 0
			all = append(all, bench.Session{
				ID: id, Started: p.run.Started, Interleaved: name != "",
				Visits: []bench.Visit{{Number: 1, Started: p.run.Started}},
			})
		}
		last++
		if name != "" {
			last = max(last, int(p.date.Sub(since)/time.Second))
		}
		p.run.Order = last
		s := &all[len(all)-1]
		s.Visits[0].Runs = append(s.Visits[0].Runs, p.run)
		for _, w := range p.run.Warnings {
			if !slices.Contains(s.Warnings, w) {
				s.Warnings = append(s.Warnings, w)
			}
		}
	}
	return all
}
