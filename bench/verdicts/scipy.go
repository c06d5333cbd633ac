package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"sync"
)

// bootstrapper is a Python that runs scripts/verdicts_bootstrap.py: one line in, one line out.
type bootstrapper struct {
	version string
	mu      sync.Mutex
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

func startBootstrapper(ctx context.Context, python string) (*bootstrapper, error) {
	b := &bootstrapper{cmd: exec.CommandContext(ctx, python, "scripts/verdicts_bootstrap.py")}
	b.cmd.Stderr = os.Stderr
	b.cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	var err error
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.out = bufio.NewScanner(out)
	if err := b.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start scipy: %w", err)
	}
	var hello struct{ Scipy string }
	if err := b.read(&hello); err != nil {
		return nil, errors.Join(err, b.close())
	}
	b.version = hello.Scipy
	return b, nil
}

func (b *bootstrapper) read(into any) error {
	if !b.out.Scan() {
		return fmt.Errorf("read from scipy: %w", errors.Join(b.out.Err(), io.ErrUnexpectedEOF))
	}
	if err := json.Unmarshal(b.out.Bytes(), into); err != nil {
		return fmt.Errorf("read from scipy: %w", err)
	}
	return nil
}

func (b *bootstrapper) close() error {
	err := b.in.Close()
	return errors.Join(err, b.cmd.Wait())
}

// rule is the percentile bootstrap over runs: red when its interval lies above 1.
func (b *bootstrapper) rule(d design) rule {
	starts := 1
	if d.looks != nil {
		base, head := d.size()
		starts = base + head
	}
	return rule{name: "percentile bootstrap of runs", code: "scipy " + b.version, design: d, starts: starts, batch: b.intervals}
}

// intervals are those of equal builds. One dataset is under way at a time; other workers decide meanwhile.
func (b *bootstrapper) intervals(sets []*dataset) ([]answer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := bufio.NewWriter(b.in)
	e := json.NewEncoder(w)
	for _, x := range sets {
		if err := e.Encode(map[string]any{"seed": x.seed, "base": logs(x.base), "head": logs(x.head)}); err != nil {
			return nil, fmt.Errorf("write to scipy: %w", err)
		}
	}
	sent := make(chan error, 1)
	go func() { sent <- w.Flush() }()
	var out []answer
	for range sets {
		var ends [2]float64
		if err := b.read(&ends); err != nil {
			return nil, err
		}
		out = append(out, answer{low: math.Exp(ends[0]), high: math.Exp(ends[1])})
	}
	if err := <-sent; err != nil {
		return nil, fmt.Errorf("write to scipy: %w", err)
	}
	return out, nil
}
