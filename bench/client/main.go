// Command client measures clients: what each reports of the same simulated server under the same load, minus what the
// server recorded for the same requests. Benchgate's own client stands beside its peers, and beside a bare read loop, which
// is what the machine allows.
//
//	go run ./bench/client -python PYTHON    measure and write bench/client.json; scripts/client.sh finds a Python with the peers
//	go run ./bench/client -tools benchgate,bare -streams 512 -o /tmp/c.json    a part of it
//	scripts/client.sh -streams 2048 -keep    one number of streams anew: all tools again, since rows of one number belong to one run
//	go run ./bench/client -table            measure nothing; print the tables of bench/client.json and rewrite docs/client-speed.md
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "serve":
			return serve(stdin, stdout)
		case "play":
			return play(args[1:], stdout)
		}
	}
	set := flag.NewFlagSet("client", flag.ContinueOnError)
	set.SetOutput(stderr)
	python := set.String("python", "", "a Python that has guidellm and aiperf beside it")
	out := set.String("o", "bench/client.json", "where the figures go")
	tools := set.String("tools", "benchgate,bare,guidellm,aiperf", "who is measured")
	streams := set.String("streams", "512,2048,128,32,1", "streams in flight, in this order")
	rounds := set.Int("rounds", 2, "times that 512 streams are measured; the others once")
	keep := set.Bool("keep", false, "measure these streams alone, and keep what the file has of others")
	only := set.Bool("table", false, "measure nothing")
	if err := set.Parse(args); err != nil {
		return err
	}
	if *only {
		return tell(*out, stdout)
	}
	levels, err := numbers(*streams)
	if err != nil {
		return err
	}
	chosen, err := choose(*tools, *python)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	f := figures{
		Schema: "benchgate.client-speed/v1", Simulated: true, Command: "make bench-client", Machine: machine(),
	}
	if *keep {
		if f.Rows, err = others(*out, levels); err != nil {
			return err
		}
	}
	for _, streams := range levels { // what is measured is kept, should a later level be interrupted
		f.Rows = append(f.Rows, level(ctx, chosen, streams, *rounds, stderr)...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := f.save(*out); err != nil {
			return err
		}
	}
	return tell(*out, stdout)
}

// others are the rows of a file for other numbers of streams.
func others(path string, levels []int) ([]row, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	return slices.DeleteFunc(f.Rows, func(r row) bool { return slices.Contains(levels, r.Streams) }), nil
}

func numbers(list string) ([]int, error) {
	var all []int
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("streams %q: want numbers above 0", s)
		}
		all = append(all, n)
	}
	return all, nil
}

func choose(list, python string) ([]tool, error) {
	known := map[string]tool{
		ownName: own(ownName, false), bareName: own(bareName, true), "guidellm": guidellm(python), "aiperf": aiperf(python),
	}
	var chosen []tool
	for name := range strings.SplitSeq(list, ",") {
		t, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("unknown tool %q", name)
		}
		if python == "" && name != ownName && name != bareName {
			return nil, fmt.Errorf("%s needs -python: see scripts/client.sh", name)
		}
		chosen = append(chosen, t)
	}
	return chosen, nil
}

const (
	ownName  = "benchgate"
	bareName = "bare"
)

// jobs are the loads at a number of streams.
func jobs(streams int) []job {
	waves := 3
	if streams >= promised {
		waves = 2
	}
	rate := float64(streams) / lasts()
	seconds := 5.0
	if streams > 1000 {
		seconds = 6 // three times as long as one stream: as many are in flight for most of it
	}
	return []job{
		{Load: open, Streams: streams, Requests: max(4, int(seconds*rate)), Rate: rate, Seed: 42},
		{Load: closed, Streams: streams, Requests: max(4, waves*streams)},
	}
}

// level plays both loads at a number of streams by each tool in turn, so that a slow minute of the machine meets all of them.
func level(ctx context.Context, tools []tool, streams, rounds int, progress io.Writer) []row {
	if streams != promised {
		rounds = 1
	}
	var rows []row
	for round := range rounds {
		for _, j := range jobs(streams) {
			for i := range tools {
				if ctx.Err() != nil {
					return rows
				}
				begin := time.Now()
				r := once(ctx, tools[(i+round)%len(tools)], j)
				r.Round = round + 1
				rows = append(rows, r)
				fmt.Fprintf(progress, "%3.0f s  %s\n", time.Since(begin).Seconds(), r)
			}
		}
	}
	return rows
}

func once(ctx context.Context, t tool, j job) row {
	folder, err := os.MkdirTemp("", "client")
	if err != nil {
		return row{Tool: t.name, Load: j.Load, Streams: j.Streams, Requests: j.Requests, Why: err.Error()}
	}
	defer os.RemoveAll(folder)
	return measure(ctx, t, j, folder)
}

// figures is bench/client.json.
type figures struct {
	Schema    string `json:"schema"`
	Simulated bool   `json:"simulated"`
	Command   string `json:"command"`
	Machine   string `json:"machine"`
	Rows      []row  `json:"rows"`
}

func machine() string {
	model := ""
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value) + ", "
				break
			}
		}
	}
	return fmt.Sprintf("%s%d cores used of %d, %s/%s, %s", model, min(2, runtime.NumCPU()), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// save writes one row a line.
func (f figures) save(path string) error {
	rows := f.Rows
	f.Rows = nil
	head, err := json.Marshal(f)
	if err != nil {
		return err
	}
	text := slices.Concat(head[:len(head)-len("null}")], []byte("[\n"))
	for i, r := range rows {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		text = append(text, line...)
		if i < len(rows)-1 {
			text = append(text, ',')
		}
		text = append(text, '\n')
	}
	return os.WriteFile(path, append(text, "]}\n"...), 0o600)
}
