package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/load"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/stat"
)

// 512 streams of 50 tokens/s, from a simulated server in a process of its own on the same cores.
const (
	inFlight = 512
	tokens   = 100
	waves    = 2
)

// streams measures the client's memory, its CPU per event, and how late its gaps are: each token is due 20 ms after the
// one before, so what a gap is off that is the server's, the machine's and the client's error together.
func streams(ctx context.Context, binary string) ([]figure, error) {
	base, stop, err := serve(ctx, binary)
	if err != nil {
		return nil, err
	}
	defer stop()
	client, err := openai.New(openai.Options{BaseURL: base, Model: "simulated-8b", API: openai.Completions, Connections: inFlight})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if err := client.Open(ctx, inFlight); err != nil {
		return nil, err
	}
	prompts := make([]openai.Prompt, inFlight*waves)
	for i := range prompts {
		prompts[i].Text = fmt.Sprintf("stream %d", i)
	}
	before := usage()
	requests, _, err := load.Run(ctx, client, load.Pass{
		Load:    config.Load{Concurrency: inFlight, Requests: len(prompts)},
		Prompts: prompts, OutputTokens: []int{tokens},
	})
	if err != nil {
		return nil, err
	}
	after := usage()
	return figures(requests, before, after)
}

func figures(requests []bench.Request, before, after syscall.Rusage) ([]figure, error) {
	var late []float64
	events := 0
	for _, r := range requests {
		if r.Class != bench.OK {
			return nil, fmt.Errorf("request %d: %s: %s", r.Index, r.Class, r.Error)
		}
		events += r.Chunks
		for _, g := range r.Gaps {
			late = append(late, math.Abs(g-0.020)*1000)
		}
	}
	p50, err50 := stat.Quantile(late, 0.50)
	p99, err99 := stat.Quantile(late, 0.99)
	if err := errors.Join(err50, err99); err != nil {
		return nil, err
	}
	return []figure{
		{"client memory at 512 streams of 50 tokens/s", peak(&after), 150, "MB"},
		{"client CPU per event there", (seconds(after) - seconds(before)) / float64(events) * 1e6, 0, "µs"},
		{"a token early or late there, p50", p50, 0, "ms"},
		{"a token early or late there, p99", p99, 0, "ms"},
	}, nil
}

// serve starts the simulated server in a process of its own.
func serve(ctx context.Context, binary string) (string, func(), error) {
	cmd := exec.CommandContext(ctx, binary, "sim", "--listen", "127.0.0.1:0", "--slots", fmt.Sprint(inFlight),
		"--ttft", "100ms", "--tpot", "20ms", "--load-factor", "0", "--run-sd", "0", "--request-sd", "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop := func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("simulated server: %w", err)
	}
	fields := strings.Fields(line)
	return fields[len(fields)-1], stop, nil
}

func usage() syscall.Rusage {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u
}

func seconds(u syscall.Rusage) float64 {
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// peak is the largest resident size so far, in MB: kilobytes on Linux, bytes on macOS.
func peak(u *syscall.Rusage) float64 {
	if runtime.GOOS == "darwin" {
		return float64(u.Maxrss) / 1e6
	}
	return float64(u.Maxrss) * 1024 / 1e6
}
