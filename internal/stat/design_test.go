package stat

import (
	"fmt"
	"math"
	"testing"
)

// mde80 is a published table of smallest changes found four times in five, in whole per cent: rows are standard deviations
// of a run's logarithm, columns runs a side (Student's test, two-sided 95 %). They are those of the noncentral t; the sum of
// two quantiles falls short of it by 1.5 % of the change at 4 degrees of freedom, and by nothing that shows from 8 on.
var mde80 = map[float64]map[int]int{
	.05:  {3: 17, 5: 11, 7: 9, 10: 7, 15: 5, 20: 5},
	.10:  {3: 36, 5: 22, 7: 18, 10: 14, 15: 11, 20: 10},
	.125: {3: 47, 5: 29, 7: 23, 10: 18, 15: 14, 20: 12},
	.17:  {3: 69, 5: 41, 7: 32, 10: 25, 15: 20, 20: 17},
	.21:  {3: 91, 5: 53, 7: 41, 10: 32, 15: 25, 20: 21},
	.27:  {3: 129, 5: 73, 7: 55, 10: 43, 15: 33, 20: 28},
}

func TestSmallestDetectableChangeIsThatOfTheTable(t *testing.T) {
	for sd, row := range mde80 {
		for n, want := range row {
			got := 100 * math.Expm1(Design{Runs: n}.Detects(sd, 0.95, 0.80))
			allowed := 0.51 // the table's rounding
			if n == 3 {
				allowed = 2.1
			}
			if math.Abs(got-float64(want)) > allowed {
				t.Errorf("sd %v, %d runs: %.2f %%, want %d %%", sd, n, got, want)
			}
		}
	}
}

// TestDesignForeseesTheComparison holds the standard error that is foretold against the one that stat.Compare reports, for
// runs whose standard deviations and session means are just what they are expected to be.
func TestDesignForeseesTheComparison(t *testing.T) {
	const sd, day = 0.1, 0.07
	for _, d := range []Design{
		{Runs: 5},
		{Runs: 5, Base: 7},
		{Runs: 6, Interleaved: true},
		{Runs: 10, Interleaved: true},
		{Runs: 5, Sessions: 1, DaySD: day},
		{Runs: 5, Sessions: 5, DaySD: day},
		{Runs: 5, Base: 12, Sessions: 5, DaySD: day},
		{Runs: 8, Base: 5, Sessions: 10, DaySD: day, DayDF: 6},
	} {
		t.Run(fmt.Sprintf("%+v", d), func(t *testing.T) {
			base, head := exact(d, sd)
			c, err := specified(base, head, Options{
				Resamples: 99, SameSession: d.Sessions == 0, DaySD: d.DaySD, DayDF: d.DayDF,
			})
			if err != nil {
				t.Fatal(err)
			}
			se, df := d.Error(sd)
			if math.Abs(se/c.SE-1) > 1e-6 || math.Abs(df/c.DF-1) > 1e-6 {
				t.Errorf("foretold se %v on %v degrees of freedom, compared with se %v on %v", se, df, c.SE, c.DF)
			}
		})
	}
}

// exact makes samples whose residual variances are those that the design is told.
func exact(d Design, sd float64) (base, head Sample) {
	m := d.Base
	if m == 0 {
		m = d.Runs
	}
	if d.Interleaved {
		return turns(d.Runs, sd)
	}
	k := max(1, d.Sessions)
	between := make([]float64, k)
	if d.Sessions > 1 {
		between = spread(k, math.Sqrt(d.DaySD*d.DaySD+sd*sd/float64(m)))
	}
	for i := range k {
		runs := spread(m, sd)
		for j := range runs {
			runs[j] += between[i]
		}
		base.Sessions = append(base.Sessions, runs)
	}
	return base, Sample{Sessions: [][]float64{spread(d.Runs, sd)}}
}

// spread is n numbers around 0 of exactly this sample standard deviation.
func spread(n int, sd float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = float64(i) - float64(n-1)/2
	}
	now := math.Sqrt(sumSquares(xs, 0) / float64(n-1))
	for i := range xs {
		xs[i] *= sd / now
	}
	return xs
}

// turns is an interleaved pair, ABBA, whose residuals around the model of side and order have this standard deviation.
func turns(n int, sd float64) (base, head Sample) {
	var y, order [2][]float64
	for i := range 2 * n {
		side := []int{0, 1, 1, 0}[i%4]
		order[side] = append(order[side], float64(i+1))
		y[side] = append(y[side], float64(i*i%7))
	}
	m, err := fit(y[0], y[1], append(append([]float64{}, order[0]...), order[1]...))
	if err != nil {
		panic(err)
	}
	for side := range y {
		for i := range y[side] {
			y[side][i] *= sd / m.sd
		}
	}
	return Sample{Sessions: y[:1], Order: order[:1]}, Sample{Sessions: y[1:], Order: order[1:]}
}
