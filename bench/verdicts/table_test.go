package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFiguresAreReadAsWritten(t *testing.T) {
	coverage := 0.95
	want := figures{Schema: schema, Simulated: true, Command: "go", RunMinutes: 1, StartMinutes: 2, Rows: []row{
		{Gate: "a", World: "quiet", Power: map[string]float64{"5": 0.1}, Looks: []int{6, 8}, Coverage: &coverage},
		{Gate: "b", World: "noisy", Power: map[string]float64{}},
	}}
	path := filepath.Join(t.TempDir(), "figures.json")
	if err := want.keep(path); err != nil {
		t.Fatal(err)
	}
	got, err := readFigures(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestOneWorldReplacesItsOwnRowsOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures.json")
	f := figures{Schema: schema, Rows: []row{{Gate: "old", World: "typical"}, {Gate: "old", World: "day10"}}}
	if err := f.keep(path); err != nil {
		t.Fatal(err)
	}
	f.Rows = []row{{Gate: "new", World: "typical"}}
	if err := f.keep(path); err != nil {
		t.Fatal(err)
	}
	got, err := readFigures(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]row{{Gate: "new", World: "typical"}, {Gate: "old", World: "day10"}}, got.Rows); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestForeignFiguresAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures.json")
	for _, text := range []string{"", "{", `{"schema":"other/v1"}`, "[]"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readFigures(path); err == nil {
			t.Errorf("%q is read without an error", text)
		}
	}
}

func TestTablesKeepTheDocumentsOwnWords(t *testing.T) {
	begin, end := "<!-- x:begin -->\n", "<!-- x:end -->"
	text := []byte("before\n" + begin + "old\n" + end + "\nafter\n")
	got, err := between(text, "x", []byte("new\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n" + begin + "\nnew\n\n" + end + "\nafter\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, broken := range []string{"", begin, end, end + begin} {
		if _, err := between([]byte(broken), "x", nil); err == nil {
			t.Errorf("%q: want an error", broken)
		}
	}
}

func TestCommandPrintsTheTables(t *testing.T) {
	var out, talk bytes.Buffer
	if err := run(t.Context(), []string{"-world", "quiet,typical", "-reps", "20", "-power", "4"}, &out, &talk); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| gate | runs | quiet | typical |", "| benchgate | committed, 25 v 5 |", "| benchgate | confirm, 35 v 15 |",
		"re-implemented: pooled requests", "counted in 20 comparisons", "counted in 4 comparisons",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if !strings.Contains(talk.String(), "left out") {
		t.Errorf("nothing says that scipy is left out: %s", talk.String())
	}
	for _, wrong := range [][]string{{"-world", "calm"}, {"-nonsense"}} {
		if err := run(t.Context(), wrong, &out, &talk); err == nil {
			t.Errorf("%v: want an error", wrong)
		}
	}
}

// Which worker takes which draw decides nothing, nor how many seeds one takes at a time.
func TestSameDrawsSameFigures(t *testing.T) {
	w := named(t, "typical")
	rules := slices.Concat(products()[:1], peers(committed))
	const reps, power = chunk + 20, chunk + 10
	got, err := measure(w, committed, rules, reps, power, []int{20})
	if err != nil {
		t.Fatal(err)
	}
	alone := newCounts(len(rules), []int{20})
	if err := alone.draws(w, committed, rules, 0, reps, power, []int{20}); err != nil {
		t.Fatal(err)
	}
	for i, r := range rules {
		want := r.row(w, *alone[i][0], alone[i].slower())
		if diff := cmp.Diff(want, got[i]); diff != "" {
			t.Errorf("%s (-alone +together)\n%s", r.name, diff)
		}
	}
}

func TestRunsAreThoseThatTheJobMeasures(t *testing.T) {
	committedPeers, interleavedPeers := peers(committed), peers(interleaved)
	for _, c := range []struct {
		rule         rule
		said         answer
		runs, starts int
	}{
		{committedPeers[0], answer{}, 5, 1},                              // the candidate's
		{committedPeers[len(committedPeers)-1], answer{}, 1, 1},          // a rule of one value
		{interleavedPeers[0], answer{}, 20, 20},                          // both sides, a start each
		{products()[1], answer{visits: 8, runs: 16, starts: 16}, 16, 16}, // what the gate itself says
	} {
		if got := c.rule.fill(c.said); got.runs != c.runs || got.starts != c.starts {
			t.Errorf("%s, %s: %d runs and %d starts, want %d and %d", c.rule.name, c.rule.design.name, got.runs, got.starts, c.runs, c.starts)
		}
	}
}
