package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// promised is the number of streams for which the promises are made, and most that at which nothing may be lost.
const (
	promised = 512
	most     = 2048
	document = "docs/client-speed.md"
)

// tell prints the tables of a file of figures, and puts those of the repository's own into the document.
func tell(path string, out io.Writer) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := read(data)
	if err != nil {
		return fmt.Errorf("read %q: %w", path, err)
	}
	if err := f.plain(out); err != nil || path != "bench/client.json" {
		return err
	}
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	if text, err = f.into(text); err != nil {
		return err
	}
	return os.WriteFile(document, text, 0o600)
}

func read(data []byte) (figures, error) {
	var f figures
	if err := json.Unmarshal(data, &f); err != nil {
		return f, err
	}
	if f.Schema != "benchgate.client-speed/v1" || len(f.Rows) == 0 {
		return f, fmt.Errorf("no figures of clients: schema %q", f.Schema)
	}
	return f, nil
}

// into replaces what stands between the document's markers.
func (f figures) into(text []byte) ([]byte, error) {
	begin, end := []byte("<!-- figures:begin -->\n"), []byte("<!-- figures:end -->")
	from, to := bytes.Index(text, begin), bytes.Index(text, end)
	if from < 0 || to < from {
		return nil, fmt.Errorf("%s: the markers figures:begin and figures:end are not there", document)
	}
	return slices.Concat(text[:from+len(begin)], f.markdown(), text[to:]), nil
}

// columns of both tables.
var columns = []string{"load", "streams", "client", "TTFT error p50, ms", "p99, ms", "TPOT error p99, ms", "CPU, µs/event", "memory, MB", "requests/s", "of", "note"}

func (r row) cells() []string {
	return []string{
		r.Load, fmt.Sprint(r.Streams), r.Tool, cell(r.TTFTErrorP50), cell(r.TTFTErrorP99), cell(r.TPOTErrorP99),
		cell(r.CPUPerEvent), cell(r.RSS), cell(r.AchievedRate), fmt.Sprintf("%.3g", r.WantedRate), r.note(),
	}
}

// note says what else a reader must know of a row.
func (r row) note() string {
	switch {
	case r.TTFTErrorP50 == nil:
		return "no figure: " + r.Why
	case r.Failed > 0:
		return fmt.Sprintf("%d of %d failed: %s", r.Failed, r.Requests, r.Why)
	case r.LostEvents != nil && *r.LostEvents != 0:
		return fmt.Sprintf("%d events lost", *r.LostEvents)
	}
	return ""
}

func (r row) String() string { return strings.TrimSpace(strings.Join(r.cells(), "  ")) }

func cell(x *float64) string {
	switch {
	case x == nil:
		return "–"
	case math.Abs(*x) >= 100:
		return fmt.Sprintf("%.0f", *x)
	}
	return fmt.Sprintf("%.3g", *x)
}

// medians joins the rounds of each tool, load and number of streams: the median of each figure.
func (f figures) medians() []row {
	var out []row
	for _, r := range f.Rows {
		if !slices.ContainsFunc(out, func(o row) bool { return o.same(r) }) {
			out = append(out, f.median(r))
		}
	}
	slices.SortStableFunc(out, func(a, b row) int {
		if a.Load != b.Load {
			return -strings.Compare(a.Load, b.Load)
		}
		return a.Streams - b.Streams
	})
	return out
}

func (r row) same(o row) bool { return r.Tool == o.Tool && r.Load == o.Load && r.Streams == o.Streams }

func (f figures) median(like row) row {
	out := like
	for _, field := range []func(*row) **float64{
		func(r *row) **float64 { return &r.TTFTErrorP50 }, func(r *row) **float64 { return &r.TTFTErrorP99 },
		func(r *row) **float64 { return &r.TPOTErrorP99 }, func(r *row) **float64 { return &r.CPUPerEvent },
		func(r *row) **float64 { return &r.RSS }, func(r *row) **float64 { return &r.AchievedRate },
		func(r *row) **float64 { return &r.LateP99 },
	} {
		var values []float64
		for _, r := range f.Rows {
			if v := *field(&r); r.same(like) && v != nil {
				values = append(values, *v)
			}
		}
		if *field(&out) = nil; len(values) > 0 {
			slices.Sort(values)
			m := (values[(len(values)-1)/2] + values[len(values)/2]) / 2
			*field(&out) = &m
		}
	}
	for _, r := range f.Rows {
		if r.same(like) && r.note() != "" { // a failure of any round is told
			out.Failed, out.Why, out.LostEvents, out.Version = r.Failed, r.Why, r.LostEvents, r.Version
		}
	}
	return out
}

func (f figures) plain(out io.Writer) error {
	fmt.Fprintf(out, "simulated server; %s; %s\n\n", f.Machine, f.Command)
	tab := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tab, strings.Join(columns, "\t"))
	for _, r := range f.medians() {
		fmt.Fprintln(tab, strings.Join(r.cells(), "\t"))
	}
	fmt.Fprintln(tab, "\npromise\tfigure\tlimit\tkept")
	for _, p := range f.promises() {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", p.what, p.figure, p.limit, p.kept)
	}
	return tab.Flush()
}

func (f figures) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\nSimulated, by `%s`, on %s. Versions: %s. Where a load was played in several rounds, the median of each figure.\n\n", f.Command, f.Machine, f.versions())
	line(&b, columns)
	fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(columns)))
	for _, r := range f.medians() {
		cells := r.cells()
		cells[len(cells)-1] = strings.ReplaceAll(cells[len(cells)-1], "|", "\\|")
		line(&b, cells)
	}
	fmt.Fprint(&b, "\n")
	line(&b, []string{"promise", "figure", "limit", "kept"})
	fmt.Fprint(&b, "|---|---|---|---|\n")
	for _, p := range f.promises() {
		line(&b, []string{p.what, p.figure, p.limit, p.kept})
	}
	fmt.Fprint(&b, "\n")
	return b.Bytes()
}

func line(b *bytes.Buffer, cells []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }

func (f figures) versions() string {
	var all []string
	for _, r := range f.Rows {
		if v := r.Tool + " " + r.Version; r.Version != "" && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
