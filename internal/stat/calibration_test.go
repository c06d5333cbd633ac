package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// In each world both sides are the same build, so that an interval without 0 is a false alarm: at 95 % confidence 2.5 %
// on either side. Bounds are the expected rate and four standard errors of the number of repetitions.
func TestEqualBuildsSeldomDiffer(t *testing.T) {
	repetitions := 6000
	if testing.Short() {
		repetitions = 300
	}
	for _, c := range []struct {
		name       string
		least      float64 // a rate below it would be a gate that is blind
		most       float64
		base, head []int
		day, drift float64 // log-sd between sessions, drift per run
		same       bool
	}{
		{name: "one campaign of 5 and 5", base: []int{5}, head: []int{5}, same: true, least: 0.018, most: 0.027},
		{name: "one campaign of 3 and 3", base: []int{3}, head: []int{3}, same: true, least: 0.016, most: 0.032},
		{name: "one campaign of 10 and 5", base: []int{10}, head: []int{5}, same: true, least: 0.012, most: 0.027},
		{name: "ABBA of 6 with drift", base: []int{6}, head: []int{6}, drift: 0.02, same: true, least: 0.016, most: 0.027},
		{name: "one day before, days differ by 5 %", base: []int{10}, head: []int{5}, day: 0.05, least: 0, most: 0.025},
		{name: "five days before, days differ by 5 %", base: []int{5, 5, 5, 5, 5}, head: []int{5}, day: 0.05, least: 0.006, most: 0.025},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(20260904, uint64(len(c.name))))
			worse, better := 0, 0
			for i := range repetitions {
				base := world(r, c.base, c.day)
				head := world(r, c.head, c.day)
				if c.drift != 0 {
					base.Order, head.Order = abba(c.base[0])
					base, head = base.drift(c.drift), head.drift(c.drift)
				}
				got, err := Compare(base, head, Options{Resamples: 999, Seed: uint64(i), SameSession: c.same})
				if err != nil {
					t.Fatal(err)
				}
				if got.Low > 0 {
					worse++
				}
				if got.High < 0 {
					better++
				}
			}
			room := 4 * math.Sqrt(0.025*0.975/float64(repetitions))
			for side, n := range map[string]int{"worse": worse, "better": better} {
				rate := float64(n) / float64(repetitions)
				t.Logf("%s in %.2f %% of %d comparisons", side, 100*rate, repetitions)
				if rate < c.least-room || rate > c.most+room {
					t.Errorf("%s in %.2f %%, want %.1f to %.1f", side, 100*rate, 100*c.least, 100*c.most)
				}
			}
		})
	}
}

// world draws the logarithms of lognormal latencies around 400 ms, 10 % apart between runs.
func world(r *rand.Rand, sessions []int, day float64) Sample {
	var s Sample
	for _, runs := range normals(r, 0.1, sessions...) {
		shift := day * r.NormFloat64()
		for i, e := range runs {
			runs[i] = math.Log(0.4 * math.Exp(shift+e))
		}
		s.Sessions = append(s.Sessions, runs)
	}
	return s
}

func (s Sample) drift(slope float64) Sample {
	for i, runs := range s.Sessions {
		for j := range runs {
			runs[j] += slope * s.Order[i][j]
		}
	}
	return s
}
