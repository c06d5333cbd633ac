package stat

import (
	"encoding/json"
	"math"
	"math/rand/v2"
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

// days is the model of the case.
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

// What is foretold of a comparison as it stands is what Compare says of it, by whichever interval.
func TestDaysAreThoseOfTheComparison(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	widest := map[string]int{}
	for range 300 {
		var sizes []int
		for range 1 + r.IntN(6) {
			sizes = append(sizes, 3+r.IntN(5))
		}
		base := Sample{Sessions: normals(r, []float64{0.01, 0.1, 0.4}[r.IntN(3)], sizes...)}
		head := Sample{Sessions: normals(r, []float64{0.01, 0.1, 0.4}[r.IntN(3)], 3+r.IntN(20))}
		o := Options{Resamples: 9, DaySD: []float64{0, 0.01, 0.2}[r.IntN(3)], Confidence: []float64{0, 0.9}[r.IntN(2)]}
		c, err := Compare(base, head, o)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Sessions(base, head, o)
		if err != nil {
			t.Fatal(err)
		}
		se, df := d.widest(0)
		name := d.kind(se)
		widest[name]++
		want := []float64{c.SE, c.DF, *c.DaySD, SmallestDetectable(c.SE, c.DF, d.o.Confidence, 0.8)}
		got := []float64{se, df, d.SD(), d.Detects(0, 0.8)}
		if d := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 1e-12)); d != "" {
			t.Errorf("%s: se, df, day sd, found four times in five (-compared +foretold):\n%s", name, d)
		}
	}
	for _, kind := range []string{"welch", "days"} {
		if widest[kind] == 0 {
			t.Errorf("no comparison of the kind %q among %v", kind, widest)
		}
	}
}

// kind tells which interval an error is that of.
func (d Days) kind(se float64) string {
	if days, _ := d.After(0); days == se {
		return "days"
	}
	if welch, _ := d.sides.welch(); welch == se {
		return "welch"
	}
	return "runs"
}

// A baseline whose sessions are each the same runs, and a head of those too: what is then found is what was foretold for
// one session more, and a little less, since one session more has the same level. From seven sessions on Welch's interval is
// the widest, and both agree but for the last digits: more runs alike move the base's variance a little.
func TestForecastComesTrueWhereNothingChanges(t *testing.T) {
	night := []float64{0, 0.03, -0.02, 0.01, 0.25}
	nights := func(k int) Sample {
		var s Sample
		for range k {
			s.Sessions = append(s.Sessions, night)
		}
		return s
	}
	for k := 2; k < 10; k++ {
		found := [2]float64{}
		for more := range 2 {
			d, err := Sessions(nights(k+1-more), nights(1), Options{})
			if err != nil {
				t.Fatal(err)
			}
			found[more] = d.Detects(more, 0.8)
		}
		plan, err := Planned(nights(k), len(night), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for name, then := range map[string]float64{"foretold": found[1], "planned": plan.Detects(1, 0.8)} {
			if now := found[0]; !(then >= now*(1-1e-5) && then <= 1.1*now) {
				t.Errorf("%d sessions and one more: %v %s, %v found", k, then, name, now)
			}
		}
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
