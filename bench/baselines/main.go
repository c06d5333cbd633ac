// Command baselines measures what a baseline of so many sessions can tell: it puts the product's own gate through simulated
// days in which the true difference between two builds is known, and writes the table of docs/baselines.md.
//
//	go run ./bench/baselines           measure, write bench/baselines.json and the table
//	go run ./bench/baselines -table    measure nothing; rewrite the table from the figures
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

const (
	figures  = "bench/baselines.json"
	document = "docs/baselines.md"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "baselines:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	set := flag.NewFlagSet("baselines", flag.ContinueOnError)
	set.SetOutput(stderr)
	reps := set.Int("reps", 4000, "comparisons in each row")
	table := set.Bool("table", false, "measure nothing; rewrite the table of "+document+" from "+figures)
	if err := set.Parse(args); err != nil {
		return err
	}
	if !*table {
		rows := everything(*reps, stderr)
		if err := save(rows); err != nil {
			return err
		}
	}
	data, err := os.ReadFile(figures)
	if err != nil {
		return err
	}
	rows, err := read(data)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(stdout, render(rows)); err != nil {
		return err
	}
	return rewrite(rows)
}

// everything measures every cell, smallest baselines first.
func everything(reps int, progress io.Writer) []row {
	start := time.Now()
	var rows []row
	for _, c := range cells() {
		rows = append(rows, measure(c, reps))
		fmt.Fprintf(progress, "%d sessions, day sd %.2f, candidate of %d runs: %.0f s\n", c.sessions, c.day, c.head, time.Since(start).Seconds())
	}
	return rows
}

// cells are the rows of the table: every baseline on every kind of days, then what a larger candidate would see.
func cells() []cell {
	var all []cell
	for _, sessions := range []int{1, 2, 3, 5, 10} {
		for _, day := range []float64{0, 0.03, 0.05, 0.10} {
			all = append(all, cell{sessions, day, 5})
		}
	}
	for _, sessions := range []int{1, 5, 10} {
		all = append(all, cell{sessions, 0.03, 10})
	}
	return all
}

func read(data []byte) ([]row, error) {
	var rows []row
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, fmt.Errorf("read %q: %w", figures, err)
	}
	return rows, nil
}

func save(rows []row) error {
	data, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(figures, append(data, '\n'), 0o644)
}

func rewrite(rows []row) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	after, err := fill(string(text), render(rows))
	if err != nil {
		return err
	}
	return os.WriteFile(document, []byte(after), 0o644)
}
