package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
)

// Schema names the file of figures.
const schema = "benchgate.verdicts/v1"

// figures is bench/verdicts.json. Everything in it is simulated.
type figures struct {
	Schema    string `json:"schema"`
	Simulated bool   `json:"simulated"`
	Command   string `json:"command"`
	// RunMinutes is how long a run is taken to last, StartMinutes a start of the server with its warm-up.
	RunMinutes   float64 `json:"run_minutes"`
	StartMinutes float64 `json:"start_minutes"`
	Rows         []row   `json:"rows"`
}

// row is how one gate did in one world, with one design and so many runs. Shares are between 0 and 1.
type row struct {
	Gate   string `json:"gate"`
	Code   string `json:"code"` // whose code decided: "own", a module or package with its version, or "re-implemented"
	World  string `json:"world"`
	Design string `json:"design"`
	// NBase and NCand are the runs that the gate may look at on each side, Sessions those of the base.
	NBase    int   `json:"n_base"`
	NCand    int   `json:"n_cand"`
	Sessions int   `json:"sessions"`
	Looks    []int `json:"looks,omitempty"`
	// Reps is how many comparisons of equal builds were decided; power rests on the first PowerReps of them.
	Reps      int `json:"reps"`
	PowerReps int `json:"power_reps"`
	// FalseBlock is the share of equal builds that were blocked; SE its Monte Carlo error.
	FalseBlock float64 `json:"false_block"`
	SE         float64 `json:"se"`
	// Power maps a true worsening in percent to the share blocked; its Monte Carlo error is √(p(1 − p)/PowerReps).
	Power map[string]float64 `json:"power"`
	// Coverage is the share of intervals that hold the true ratio; absent for a rule without an interval.
	Coverage *float64 `json:"coverage,omitempty"`
	// Pass, Inconclusive and Improved are the other answers to equal builds. A rule that knows only red and green has Pass.
	Pass         float64 `json:"pass"`
	Inconclusive float64 `json:"inconclusive"`
	Improved     float64 `json:"improved"`
	// MeanRuns is how many runs the job itself measures for equal builds, and Minutes what they take. A committed baseline
	// was measured before.
	MeanRuns float64 `json:"mean_runs"`
	Minutes  float64 `json:"minutes"`
}

// mcError is the standard error of a share that was counted in n draws. A share of 0 or 1 is taken to be half a draw away.
func mcError(p float64, n int) float64 {
	if n == 0 {
		return 0
	}
	half := 0.5 / float64(n)
	p = math.Min(math.Max(p, half), 1-half)
	return math.Sqrt(p * (1 - p) / float64(n))
}

func readFigures(path string) (figures, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return figures{}, err
	}
	var f figures
	if err := json.Unmarshal(data, &f); err != nil {
		return figures{}, fmt.Errorf("read %q: %w", path, err)
	}
	if f.Schema != schema {
		return figures{}, fmt.Errorf("read %q: schema is %q, want %q", path, f.Schema, schema)
	}
	return f, nil
}

// write puts one row on a line, so that a change can be read.
func (f figures) write(w io.Writer) error {
	rows := f.Rows
	f.Rows = nil
	head, err := json.Marshal(f)
	if err != nil {
		return err
	}
	const empty = `"rows":null}`
	if _, err := fmt.Fprintf(w, "%s\"rows\":[\n", head[:len(head)-len(empty)]); err != nil {
		return err
	}
	for i, r := range rows {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		end := ",\n"
		if i == len(rows)-1 {
			end = "\n"
		}
		if _, err := fmt.Fprintf(w, " %s%s", line, end); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "]}\n")
	return err
}
