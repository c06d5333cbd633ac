package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/stat"
	"github.com/benchgate/benchgate/internal/world"
)

func TestGuardHoldsEarlyPassesBack(t *testing.T) {
	at := func(runs int, low, delta, high float64) glance {
		return glance{Comparison: stat.Comparison{Low: low, Delta: delta, High: high}, runs: runs, mayBlock: true}
	}
	stage1 := at(5, 0.1, 0.2, 0.3)
	stage1.mayBlock = false
	for _, c := range []struct {
		name          string
		glances       []glance
		with, without looked
	}{
		{"small estimate", []glance{at(12, -0.1, 0.01, 0.12), at(16, 0.1, 0.2, 0.3)}, looked{pass: 1, runs: 12}, looked{pass: 1, runs: 12}},
		{"estimate beyond the tolerance", []glance{at(12, -0.1, 0.06, 0.2), at(16, 0.01, 0.1, 0.2)}, looked{regressed: 1, runs: 16}, looked{pass: 1, runs: 12}},
		{"the last look needs no guard", []glance{at(12, -0.1, 0.06, 0.2)}, looked{pass: 1, runs: 12}, looked{pass: 1, runs: 12}},
		{"nothing shown", []glance{at(12, -0.1, 0.1, 0.3)}, looked{inconclusive: 1, runs: 12}, looked{inconclusive: 1, runs: 12}},
		{"improved", []glance{at(12, -0.3, -0.2, -0.1), at(16, 0.1, 0.2, 0.3)}, looked{runs: 12}, looked{runs: 12}},
		{"a first stage never blocks", []glance{stage1, at(12, -0.1, 0, 0.1)}, looked{pass: 1, runs: 12}, looked{pass: 1, runs: 12}},
	} {
		var with, without looked
		with.count(c.glances, 0, true)
		without.count(c.glances, 0, false)
		if with != c.with || without != c.without {
			t.Errorf("%s: with %+v want %+v, without %+v want %+v", c.name, with, c.with, without, c.without)
		}
	}
}

// The guard's own replay of the statistics and the product's gate have to agree on who is blocked.
func TestGuardDecidesAsTheProduct(t *testing.T) {
	levels, err := stat.Levels(interleaved.looks, alpha)
	if err != nil {
		t.Fatal(err)
	}
	w := named(t, "typical")
	reps := 300
	if testing.Short() {
		reps = 40
	}
	with, _, err := guarded(w, interleaved, levels, reps)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := measure(w, interleaved, products()[1:2], reps, reps, []int{20})
	if err != nil {
		t.Fatal(err)
	}
	n := float64(reps)
	for what, pair := range map[string][2]float64{
		"blocked at 0":     {float64(with[0].regressed) / n, rows[0].FalseBlock},
		"passed at 0":      {float64(with[0].pass) / n, rows[0].Pass},
		"blocked at +20 %": {float64(with[2].regressed) / n, rows[0].Power["20"]},
	} {
		// They resample from other seeds: a few draws near a limit differ.
		if diff := pair[0] - pair[1]; diff < -0.05 || diff > 0.05 {
			t.Errorf("%s: %.3f by the guard, %.3f by the product", what, pair[0], pair[1])
		}
	}
}

func TestGuardPrintsBothWays(t *testing.T) {
	var out bytes.Buffer
	if err := guard(&out, []world.World{named(t, "quiet")}, 10); err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for line := range strings.Lines(out.String()) {
		if fields := strings.Fields(line); fields[0] != "design" {
			got = append(got, fields[:3])
		}
	}
	want := [][]string{
		{"interleaved", "quiet", "without"},
		{"interleaved", "quiet", "with"},
		{"confirm", "quiet", "without"},
		{"confirm", "quiet", "with"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
