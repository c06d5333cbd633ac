package stat

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

type daysCase struct {
	Base  [][]float64
	Head  []float64
	Runs  int
	DaySD float64 `json:"day_sd"`
	Level float64
	After []struct {
		More   int
		SE, DF float64
	}
	SD    float64
	RunSD float64 `json:"run_sd"`
	Means []float64
	Seen  *float64
	P     float64
	Kept  [3]float64
	Gone  [3]float64
}

func (c daysCase) days(t *testing.T) Days {
	t.Helper()
	o := Options{DaySD: c.DaySD}
	d, err := Planned(Sample{Sessions: c.Base}, c.Runs, o)
	if c.Head != nil {
		d, err = Sessions(Sample{Sessions: c.Base}, Sample{Sessions: [][]float64{c.Head}}, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Oracle: testdata/days.json, made by make_days.py.
func TestDaysMatchTheModelSpelledOut(t *testing.T) {
	data, err := os.ReadFile("testdata/days.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []daysCase
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) < 10 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	near := cmpopts.EquateApprox(2e-9, 1e-9)
	for i, c := range cases {
		d := c.days(t)
		got := c
		for j, a := range got.After {
			got.After[j].SE, got.After[j].DF = d.After(a.More)
		}
		got.SD, got.RunSD, got.Means = d.SD(), d.RunSD(), d.Means()
		got.Kept[0], got.Kept[1], got.Kept[2] = d.Away(c.Level, true)
		got.Gone[0], got.Gone[1], got.Gone[2] = d.Away(c.Level, false)
		sd, p, ok := d.Seen()
		if ok != (c.Seen != nil) {
			t.Errorf("case %d: seen %v", i, ok)
		}
		if ok {
			got.Seen, got.P = &sd, p
		}
		if diff := cmp.Diff(reread(t, data, i), got, near); diff != "" {
			t.Errorf("case %d (-want +got):\n%s", i, diff)
		}
	}
}

// reread is a case as the file has it, with lists of its own.
func reread(t *testing.T, data []byte, i int) daysCase {
	t.Helper()
	var cases []daysCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases[i]
}

// What Compare puts into its interval is what the model says of now.
func TestDaysAreThoseOfTheComparison(t *testing.T) {
	base := Sample{Sessions: [][]float64{{0, .1, .2}, {.3, .25, .4}, {.05, .2, .1}}}
	head := Sample{Sessions: [][]float64{{.3, .5, .2, .4, .3}}}
	c, err := Compare(base, head, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Sessions(base, head, Options{})
	if err != nil {
		t.Fatal(err)
	}
	se, df := d.After(0)
	if Round(se) != c.SE || Round(df) != c.DF || Round(d.SD()) != *c.DaySD {
		t.Errorf("se %v, df %v, day sd %v; the comparison has %v, %v, %v", se, df, d.SD(), c.SE, c.DF, *c.DaySD)
	}
}

// More sessions never make the error of a comparison larger. What it could find may be a little larger where the runs alone
// come to set the error: they have fewer degrees of freedom than runs and sessions together.
func TestMoreSessionsNeverHurtLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(rapid.Float64Range(-1, 1), 3, 6)
		base := Sample{Sessions: rapid.SliceOfN(runs, 1, 8).Draw(t, "base")}
		d, err := Planned(base, rapid.IntRange(1, 10).Draw(t, "runs"), Options{DaySD: rapid.Float64Range(0.01, 0.3).Draw(t, "day sd")})
		if err != nil {
			t.Fatal(err)
		}
		before, foundBefore, dfBefore := math.Inf(1), math.Inf(1), 0.0
		for more := range 10 {
			se, df := d.After(more)
			found := SmallestDetectable(se, df, 0.95, 0.8)
			if !(se > 0 && se <= before*(1+1e-9)) {
				t.Fatalf("%d more sessions: error %v after %v", more, se, before)
			}
			if df >= dfBefore && !(found > 0 && found <= foundBefore*(1+1e-9)) {
				t.Fatalf("%d more sessions: %v after %v", more, found, foundBefore)
			}
			before, foundBefore, dfBefore = se, found, df
		}
	})
}

func TestDaysRefuseWhatCompareRefuses(t *testing.T) {
	good := Sample{Sessions: [][]float64{{1, 2, 3}}}
	for name, bad := range map[string]Sample{
		"nothing": {}, "two runs": {Sessions: [][]float64{{1, 2}}}, "no number": {Sessions: [][]float64{{1, 2, math.NaN()}}},
	} {
		if _, err := Planned(bad, 5, Options{}); err == nil {
			t.Errorf("%s: planned", name)
		}
		if _, err := Sessions(good, bad, Options{}); err == nil {
			t.Errorf("%s: as head", name)
		}
		if _, err := Sessions(bad, good, Options{}); err == nil {
			t.Errorf("%s: as base", name)
		}
	}
	if _, err := Planned(good, 5, Options{DaySD: -1}); err == nil {
		t.Error("a negative day sd is planned with")
	}
	if _, err := Sessions(good, good, Options{Confidence: 2}); err == nil {
		t.Error("a confidence of 2 is compared with")
	}
}
