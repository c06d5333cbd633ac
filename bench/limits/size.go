package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// build makes the release binary.
func build(ctx context.Context, folder string) (string, error) {
	binary := filepath.Join(folder, "benchgate")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/benchgate")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return binary, nil
}

// size measures the binary and how long it takes to say its version: the median of 21 starts.
func size(ctx context.Context, binary string) ([]figure, error) {
	info, err := os.Stat(binary)
	if err != nil {
		return nil, err
	}
	var starts []float64
	for range 21 {
		began := time.Now()
		if err := exec.CommandContext(ctx, binary, "version").Run(); err != nil {
			return nil, fmt.Errorf("version: %w", err)
		}
		starts = append(starts, float64(time.Since(began).Microseconds())/1000)
	}
	slices.Sort(starts)
	return []figure{
		{"size of the binary", float64(info.Size()) / 1e6, 20, "MB"},
		{"benchgate version, median of 21", starts[10], 30, "ms"},
	}, nil
}
