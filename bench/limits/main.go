// Command limits measures what the project promises of its own speed and size, and prints each figure beside its limit
// and their ratio: below 1 the promise holds.
//
//	go run ./bench/limits
package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"
)

// figure is one measured promise.
type figure struct {
	what         string
	value, limit float64 // limit 0: printed only
	unit         string
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "limits:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "limits")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	binary, err := build(ctx, folder)
	if err != nil {
		return err
	}
	var all []figure
	for _, measure := range []func(context.Context, string) ([]figure, error){size, streams, decide, judge, page} {
		figures, err := measure(ctx, binary)
		if err != nil {
			return err
		}
		all = append(all, figures...)
	}
	return tell(all)
}

func tell(all []figure) error {
	tab := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tab, "what\tfigure\tlimit\tratio")
	for _, f := range all {
		if f.limit == 0 {
			fmt.Fprintf(tab, "%s\t%.3g %s\t\t\n", f.what, f.value, f.unit)
			continue
		}
		fmt.Fprintf(tab, "%s\t%.3g %s\t%g %s\t%.2f\n", f.what, f.value, f.unit, f.limit, f.unit, f.value/f.limit)
	}
	return tab.Flush()
}
