// Command verdicts puts the product's own gate and its peers' rules through the same simulated worlds, in which the true
// difference between two builds is known, and counts who blocks what.
//
//	make bench-verdicts                       everything, into bench/verdicts.json and docs/statistics.md
//	go run ./bench/verdicts -world typical    one world, printed only
//	go run ./bench/verdicts -table            the tables of docs/statistics.md once more from bench/verdicts.json
//	go run ./bench/verdicts -guard            is a pass safe where another look could follow?
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/world"
)

const (
	document = "docs/statistics.md"
	kept     = "bench/verdicts.json"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "verdicts:", err)
		os.Exit(1)
	}
}

// flags of the command.
type flags struct {
	reps, power   int
	worlds        string
	out, python   string
	table, guards bool
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var f flags
	set := flag.NewFlagSet("verdicts", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.IntVar(&f.reps, "reps", 1000, "comparisons of equal builds, in each world and with each design")
	set.IntVar(&f.power, "power", 250, "of them, those that are decided at each true effect too")
	set.StringVar(&f.worlds, "world", "", "worlds, separated by commas; all unless given")
	set.StringVar(&f.out, "o", "", "write the figures there, and their tables into "+document+"; of other worlds, those that stand there stay")
	set.StringVar(&f.python, "python", "", "a Python with scipy, for the percentile bootstrap; without it that gate is left out")
	set.BoolVar(&f.table, "table", false, "measure nothing; write the tables of "+document+" from "+kept)
	set.BoolVar(&f.guards, "guard", false, "put the guard of early passes through the worlds instead")
	if err := set.Parse(args); err != nil {
		return err
	}
	worlds, err := choose(f.worlds)
	switch {
	case err != nil:
		return err
	case f.table:
		return retell(kept, stdout)
	case f.guards:
		return guard(stdout, worlds, f.reps)
	}
	return f.everything(ctx, worlds, stdout, stderr)
}

func choose(names string) ([]world.World, error) {
	if names == "" {
		return world.All(), nil
	}
	var out []world.World
	for name := range strings.SplitSeq(names, ",") {
		w, err := world.Named(name)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// everything measures all gates in the worlds, prints the tables, and writes them down when the worlds are all there are.
func (f flags) everything(ctx context.Context, worlds []world.World, stdout, stderr io.Writer) error {
	rules := map[string][]rule{}
	for _, r := range products() {
		rules[r.design.name] = append(rules[r.design.name], r)
	}
	for _, d := range []design{committed, interleaved} {
		rules[d.name] = append(rules[d.name], peers(d)...)
	}
	if f.python != "" {
		b, err := startBootstrapper(ctx, f.python)
		if err != nil {
			return err
		}
		defer b.close()
		for _, d := range []design{committed, interleaved} {
			rules[d.name] = append(rules[d.name], b.rule(d))
		}
	} else {
		fmt.Fprintln(stderr, "scipy's bootstrap is left out: make bench-verdicts has it")
	}
	out := figures{Schema: schema, Simulated: true, Command: "make bench-verdicts", RunMinutes: runMinutes, StartMinutes: startMinutes}
	for _, w := range worlds {
		began := time.Now()
		for _, d := range []design{committed, interleaved, confirm} {
			rows, err := measure(w, d, rules[d.name], f.reps, min(f.reps, f.power), effects)
			if err != nil {
				return err
			}
			out.Rows = append(out.Rows, rows...)
		}
		fmt.Fprintf(stderr, "%s: %.0f s\n", w.Name, time.Since(began).Seconds())
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if f.out == "" {
		return out.tell(stdout)
	}
	if err := out.keep(f.out); err != nil {
		return err
	}
	return retell(f.out, stdout)
}

// keep writes the figures, together with those of other worlds that stand in the file.
func (f figures) keep(path string) error {
	old, err := readFigures(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f.Rows = f.with(old.Rows)
	var b bytes.Buffer
	if err := f.write(&b); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// with are the rows of all worlds in their own order, new ones before old.
func (f figures) with(old []row) []row {
	measured := f.worlds()
	var out []row
	for _, w := range world.All() {
		from := old
		if slices.Contains(measured, w.Name) {
			from = f.Rows
		}
		for _, r := range from {
			if r.World == w.Name {
				out = append(out, r)
			}
		}
	}
	return out
}

// retell prints the tables and puts them into the document, whose own words stay.
func retell(path string, stdout io.Writer) error {
	f, err := readFigures(path)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := f.tell(&b); err != nil {
		return err
	}
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	text, err = f.into(text)
	if err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	if err := os.WriteFile(document, text, 0o644); err != nil {
		return err
	}
	_, err = stdout.Write(b.Bytes())
	return err
}
