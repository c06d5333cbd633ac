package main

import (
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/world"
)

const (
	figuresFile  = "../verdicts.json"
	documentFile = "../../docs/statistics.md"
)

func kepts(t *testing.T) figures {
	t.Helper()
	f, err := readFigures(figuresFile)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestDocumentShowsTheFigures(t *testing.T) {
	text, err := os.ReadFile(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	want, err := kepts(t).into(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("run make bench-verdicts, or go run ./bench/verdicts -table (-want +got)\n%s", diff)
	}
}

// Every gate stands in every world, with its error and with its power.
func TestFiguresAreComplete(t *testing.T) {
	f := kepts(t)
	var gates []string
	for _, r := range products() {
		gates = append(gates, r.name+" "+r.design.name)
	}
	for _, d := range []design{committed, interleaved} {
		for _, r := range append(peers(d), (&bootstrapper{}).rule(d)) {
			gates = append(gates, r.name+" "+d.name)
		}
	}
	found := map[string]int{}
	for _, r := range f.Rows {
		found[r.Gate+" "+r.Design+" "+r.World]++
		if r.Reps < 500 || math.Abs(r.SE-mcError(r.FalseBlock, r.Reps)) > 1e-4 || len(r.Power) != len(effects) || r.MeanRuns <= 0 {
			t.Errorf("a row is not whole: %+v", r)
		}
	}
	for _, g := range gates {
		for _, w := range world.All() {
			if n := found[g+" "+w.Name]; n != 1 {
				t.Errorf("%s in %s: %d rows", g, w.Name, n)
			}
		}
	}
	if !f.Simulated {
		t.Error("the figures do not say that they are simulated")
	}
}
