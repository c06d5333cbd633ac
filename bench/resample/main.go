// Command resample holds the speed of the bootstrap beside that of scipy, on the same data in the same run, each on one core.
//
//	go run ./bench/resample -python PYTHON
//
// PYTHON has scipy; without it only our own figures are printed. scipy resamples a difference of means. Ours divides each
// by its standard error too, and puts Student's, Welch's and the session model's intervals around it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/benchgate/benchgate/internal/stat"
)

// What is compared: as many questions as a large config asks, each of five nights of five runs and a candidate of ten.
const (
	questions = 200
	nights    = 5
	perNight  = 5
	headRuns  = 10
	resamples = 9999
)

type pair struct {
	base, head stat.Sample
}

func main() {
	python := flag.String("python", "", "a Python that has scipy")
	flag.Parse()
	if err := run(context.Background(), *python); err != nil {
		fmt.Fprintln(os.Stderr, "resample:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, python string) error {
	runtime.GOMAXPROCS(1)
	pairs := draw()
	took, mallocs, err := ours(pairs)
	if err != nil {
		return err
	}
	tab := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintf(tab, "bootstrap of %d × (%d + %d) runs, B = %d\ttotal\tper resample\tratio\t\n", questions, nights*perNight, headRuns, resamples)
	tell(tab, "benchgate: studentised, with all its other intervals", took, took)
	if python != "" {
		theirs, err := scipy(ctx, python, pairs)
		if err != nil {
			return err
		}
		for _, method := range []string{"percentile", "BCa"} {
			tell(tab, theirs.Versions+": "+method, theirs.Seconds[method], took)
		}
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Printf("allocations of one comparison: %.0f, for %d resamples\n", mallocs, resamples)
	return nil
}

func tell(tab *tabwriter.Writer, what string, took, unit float64) {
	fmt.Fprintf(tab, "%s\t%.3f s\t%.0f ns\t%.2f\t\n", what, took, took/questions/resamples*1e9, took/unit)
}

// ours times the comparisons, the best of three passes, and counts the allocations of one.
func ours(pairs []pair) (seconds, mallocs float64, err error) {
	seconds = math.Inf(1)
	var before, after runtime.MemStats
	for range 3 {
		runtime.ReadMemStats(&before)
		began := time.Now()
		for i, p := range pairs {
			if _, err := stat.Compare(p.base, p.head, stat.Options{Resamples: resamples, Seed: uint64(i)}); err != nil {
				return 0, 0, err
			}
		}
		seconds = math.Min(seconds, time.Since(began).Seconds())
		runtime.ReadMemStats(&after)
		mallocs = float64(after.Mallocs-before.Mallocs) / float64(len(pairs))
	}
	return seconds, mallocs, nil
}

func draw() []pair {
	rng := rand.New(rand.NewPCG(1, 2))
	runs := func(n int) []float64 {
		ys := make([]float64, n)
		for i := range ys {
			ys[i] = 0.1 * rng.NormFloat64()
		}
		return ys
	}
	pairs := make([]pair, questions)
	for i := range pairs {
		for range nights {
			pairs[i].base.Sessions = append(pairs[i].base.Sessions, runs(perNight))
		}
		pairs[i].head.Sessions = [][]float64{runs(headRuns)}
	}
	return pairs
}

type answer struct {
	Versions string
	Sum      float64
	Seconds  map[string]float64
}

// scipy has the same pairs resampled by scipy, and checks that they were the same.
func scipy(ctx context.Context, python string, pairs []pair) (answer, error) {
	type both struct {
		Base []float64 `json:"base"`
		Head []float64 `json:"head"`
	}
	job := struct {
		Resamples int    `json:"resamples"`
		Pairs     []both `json:"pairs"`
	}{Resamples: resamples}
	sum := 0.0
	for _, p := range pairs {
		b := both{slices.Concat(p.base.Sessions...), slices.Concat(p.head.Sessions...)}
		job.Pairs = append(job.Pairs, b)
		sum += mean(b.Head) - mean(b.Base)
	}
	in, err := json.Marshal(job)
	if err != nil {
		return answer{}, err
	}
	cmd := exec.CommandContext(ctx, python, "bench/resample/resample.py")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	out, err := cmd.Output()
	if err != nil {
		return answer{}, fmt.Errorf("scipy: %w", err)
	}
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		return answer{}, fmt.Errorf("scipy: %w", err)
	}
	if math.Abs(a.Sum-sum) > 1e-9 {
		return answer{}, fmt.Errorf("scipy had other data: the differences add up to %v there and to %v here", a.Sum, sum)
	}
	return a, nil
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}
