package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/gate"
)

func committed(t *testing.T) []row {
	t.Helper()
	data, err := os.ReadFile("../baselines.json")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// The page shows what the command wrote.
func TestDocumentShowsTheFigures(t *testing.T) {
	text, err := os.ReadFile("../../" + document)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fill(string(text), render(committed(t)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("go run ./bench/baselines -table would change it (-want +got):\n%s", diff)
	}
}

// What the page says of the figures.
func TestFiguresKeepWhatThePageSays(t *testing.T) {
	at := map[string]row{}
	for _, r := range committed(t) {
		at[fmt.Sprintf("%d/%.2f/%d", r.Sessions, r.DaySD, r.Head)] = r
		if r.Reps < 2000 || r.Runs != runs {
			t.Errorf("%d sessions, day sd %v: %d comparisons of %d runs", r.Sessions, r.DaySD, r.Reps, r.Runs)
		}
		if sum := r.FalseBlock + r.Improved + r.Pass + r.Inconclusive; math.Abs(sum-1) > 1e-3 {
			t.Errorf("%d sessions, day sd %v: the outcomes add up to %v", r.Sessions, r.DaySD, sum)
		}
		if r.DaySD <= 0.05 && r.FalseBlock > 0.025+3*math.Max(r.SE, 0.002) {
			t.Errorf("%d sessions, day sd %v: %v false blocks", r.Sessions, r.DaySD, r.FalseBlock)
		}
	}
	if len(at) != len(cells()) {
		t.Fatalf("%d cells", len(at))
	}
	for _, day := range []string{"0.00", "0.03", "0.05"} {
		before := row{Power: map[string]float64{}, Inconclusive: 1, MDE80: 10}
		for _, sessions := range []string{"1", "2", "3", "5", "10"} {
			r := at[sessions+"/"+day+"/5"]
			if r.Power["20"] < before.Power["20"] || r.Inconclusive > before.Inconclusive || r.MDE80 > before.MDE80 {
				t.Errorf("%s sessions at day sd %s tell less than fewer", sessions, day)
			}
			before = r
		}
	}
	five := at["5/0.03/5"]
	if five.Power["20"] < 0.45 || five.Power["20"] > 0.55 || five.Pass < 0.62 || five.Pass > 0.72 {
		t.Errorf("five sessions at day sd .03 catch %v and pass %v", five.Power, five.Pass)
	}
	small, large := at["10/0.03/5"], at["10/0.03/10"]
	if large.Power["20"] < small.Power["20"]+0.10 || math.Abs(at["5/0.03/10"].Power["20"]-small.Power["20"]) > 0.04 {
		t.Errorf("ten sessions catch %v of a candidate of five runs, %v of ten; five sessions %v", small.Power, large.Power, at["5/0.03/10"].Power)
	}
	if one := at["1/0.03/5"]; math.Abs(at["1/0.03/10"].Power["20"]-one.Power["20"]) > 0.04 || one.Inconclusive < 0.6 {
		t.Errorf("one session: %+v", one)
	}
	for _, sessions := range []string{"1", "2", "3", "5", "10"} {
		if r := at[sessions+"/0.10/5"]; r.FalseBlock < 0.025 {
			t.Errorf("%s sessions at day sd .10: %v false blocks", sessions, r.FalseBlock)
		}
	}
}

// Power is counted from the decisions about equal builds; deciding about slower ones says the same.
func TestPowerIsThatOfSlowerBuilds(t *testing.T) {
	agree := 0
	for seed := range uint64(12) {
		c := cell{1 + int(seed%3)*2, 0.03, 5}
		equal := decide(c, seed, 0)
		for _, e := range effects {
			slower := decide(c, seed, e)
			if got := slower.Outcome == gate.Regressed; got != caught(equal, e) {
				t.Errorf("seed %d at +%v: caught %v, the decision says %v: %s", seed, e, caught(equal, e), got, slower.Why)
			}
			agree++
		}
	}
	if agree != 36 {
		t.Errorf("%d decisions", agree)
	}
}

func TestMeasuringIsSeeded(t *testing.T) {
	a, b := measure(cell{2, 0.05, 5}, 10), measure(cell{2, 0.05, 5}, 10)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	if a.Reps != 10 || !(a.MDE80 > 0) || a.Pass+a.Inconclusive+a.FalseBlock+a.Improved < 0.999 {
		t.Errorf("%+v", a)
	}
}

func TestTableNeedsItsPlace(t *testing.T) {
	for _, text := range []string{"", begin, end, "words " + end + begin} {
		if _, err := fill(text, "x"); err == nil || !strings.Contains(err.Error(), document) {
			t.Errorf("%q: error %v", text, err)
		}
	}
	if got, err := fill("a\n"+begin+"old\n"+end+"z\n", "new\n"); err != nil || got != "a\n"+begin+"new\n"+end+"z\n" {
		t.Errorf("%q, %v", got, err)
	}
}
