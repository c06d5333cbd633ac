package stat

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// loosely is agreement after arithmetic that rounds differently.
var loosely = cmpopts.EquateApprox(1e-6, 1e-9)

// fixture is a random comparison.
type fixture struct {
	base, head Sample
	o          Options
}

func value() *rapid.Generator[float64] {
	// A grid of 10,000 steps leaves ties in, and keeps the values apart when they are shifted.
	return rapid.Map(rapid.IntRange(-5000, 5000), func(i int) float64 { return float64(i) / 10_000 })
}

func drawSide(t *rapid.T, name string, same bool, most int) Sample {
	sessions := 1
	if !same {
		sessions = rapid.IntRange(1, 4).Draw(t, name+" sessions")
	}
	var s Sample
	for i := range sessions {
		least := 1
		if i == 0 {
			least = max(minRuns, most-6)
		}
		s.Sessions = append(s.Sessions, rapid.SliceOfN(value(), least, most).Draw(t, name))
	}
	return s
}

func drawFixture(t *rapid.T) fixture {
	same := rapid.Bool().Draw(t, "same session")
	most := 8
	if same && rapid.Bool().Draw(t, "enough for Huber's estimate") {
		most = 12
	}
	f := fixture{drawSide(t, "base", same, most), drawSide(t, "head", same, most), Options{
		Confidence: rapid.Float64Range(0.5, 0.999).Draw(t, "confidence"), Resamples: 199,
		Seed: rapid.Uint64().Draw(t, "seed"), SameSession: same,
	}}
	if n := len(f.base.Sessions[0]); same && rapid.Bool().Draw(t, "trend") {
		f.head.Sessions[0] = rapid.SliceOfN(value(), n, n).Draw(t, "head of as many runs")
		f.base.Order, f.head.Order = abba(n)
	}
	return f
}

func (f fixture) compare(t *rapid.T) Comparison {
	t.Helper()
	c, err := Compare(f.base, f.head, f.o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func times(x *float64, by float64) *float64 {
	if x == nil {
		return nil
	}
	y := by * *x
	return &y
}

// each returns a sample with every value changed.
func (s Sample) each(change func(float64) float64) Sample {
	out := Sample{Order: s.Order}
	for _, runs := range s.Sessions {
		var changed []float64
		for _, y := range runs {
			changed = append(changed, change(y))
		}
		out.Sessions = append(out.Sessions, changed)
	}
	return out
}

func (f fixture) each(change func(float64) float64) fixture {
	return fixture{f.base.each(change), f.head.each(change), f.o}
}

func law(t *rapid.T, want, got any, opts ...cmp.Option) {
	t.Helper()
	if d := cmp.Diff(want, got, opts...); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
}

func TestShiftingBothSidesChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFixture(t)
		by := rapid.Float64Range(-20, 20).Draw(t, "by")
		law(t, f.compare(t), f.each(func(y float64) float64 { return y + by }).compare(t), loosely)
	})
}

func TestScalingScalesTheInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFixture(t)
		by := rapid.Float64Range(0.1, 10).Draw(t, "by")
		g := f.each(func(y float64) float64 { return by * y })
		g.o.Floor, g.o.DaySD = 0.005*by, 0.05*by
		want, got := f.compare(t), g.compare(t)
		for _, x := range []*float64{&want.Delta, &want.Low, &want.High, &want.SE, &want.SD} {
			*x *= by
		}
		want.Order, want.DaySD = times(want.Order, by), times(want.DaySD, by)
		want.Warnings, got.Warnings = nil, nil // the noise warning looks at the sd itself
		law(t, want, got, loosely)
	})
}

func TestNegatingMirrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFixture(t)
		want, got := f.compare(t), f.each(func(y float64) float64 { return -y }).compare(t)
		want.Delta, want.Low, want.High = -want.Delta, -want.High, -want.Low
		want.P, want.PLess = want.PLess, want.P
		want.Order = times(want.Order, -1)
		want.PPerm, got.PPerm = nil, nil // one-sided
		law(t, want, got, loosely)
	})
}

// The resamples follow the order of the runs, so only what is not resampled is the same to the last digit.
func TestSwappingSidesMirrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFixture(t)
		o := f.o.orDefault()
		want, got := f.compare(t), fixture{f.head, f.base, f.o}.compare(t)
		law(t, []float64{-want.Delta, want.SD}, []float64{got.Delta, got.SD}, loosely)
		mirror := func(i interval) interval {
			return interval{low: -i.high, high: -i.low, p: i.pLess, pLess: i.p, se: i.se, df: i.df}
		}
		same := cmp.Options{loosely, cmp.AllowUnexported(interval{})}
		b, h := slices.Concat(f.base.Sessions...), slices.Concat(f.head.Sessions...)
		law(t, mirror(welch(b, h, o)), welch(h, b, o), same)
		here, err := fit(b, h, nil)
		there, err2 := fit(h, b, nil)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		law(t, mirror(here.student(o)), there.student(o), same)
		if len(f.base.Sessions) == len(f.head.Sessions) && summarise(f.base.Sessions).size == summarise(f.head.Sessions).size {
			_, _, i := acrossSessions(f.base.Sessions, f.head.Sessions, o)
			_, _, j := acrossSessions(f.head.Sessions, f.base.Sessions, o)
			law(t, mirror(i), j, same)
		}
	})
}

func TestOrderOfRunsAndSessionsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFixture(t)
		if f.base.Order != nil {
			return // there it does
		}
		o := f.o.orDefault()
		o.Resamples = 1
		shuffled := func(s Sample) Sample {
			var out Sample
			for _, runs := range rapid.Permutation(s.Sessions).Draw(t, "sessions") {
				out.Sessions = append(out.Sessions, rapid.Permutation(runs).Draw(t, "runs"))
			}
			return out
		}
		base, head := shuffled(f.base), shuffled(f.head)
		want, got := fixture{f.base, f.head, o}.compare(t), fixture{base, head, o}.compare(t)
		law(t, []any{want.Delta, want.SE, want.DF, want.SD, want.PPerm}, []any{got.Delta, got.SE, got.DF, got.SD, got.PPerm}, loosely)
		_, _, i := acrossSessions(f.base.Sessions, f.head.Sessions, o)
		_, _, j := acrossSessions(base.Sessions, head.Sessions, o)
		law(t, i, j, loosely, cmp.AllowUnexported(interval{}))
	})
}

func TestALinearDriftChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(minRuns, 10).Draw(t, "pairs")
		side := rapid.SliceOfN(value(), n, n)
		f := fixture{one(side.Draw(t, "base")), one(side.Draw(t, "head")), Options{Resamples: 199, SameSession: true}}
		f.base.Order, f.head.Order = abba(n)
		slope := rapid.Float64Range(-0.5, 0.5).Draw(t, "slope")
		drift := func(s Sample) Sample {
			out := Sample{Sessions: [][]float64{nil}, Order: [][]float64{nil}}
			for i, o := range s.Order[0] {
				out.Sessions[0] = append(out.Sessions[0], s.Sessions[0][i]+slope*o)
				out.Order[0] = append(out.Order[0], 3*o+7) // where it counts from, and in what steps, is no matter
			}
			return out
		}
		want, got := f.compare(t), fixture{drift(f.base), drift(f.head), f.o}.compare(t)
		way := float64(2*n - 1)
		law(t, *want.Order+slope*way, *got.Order, loosely)
		want.Order, got.Order = nil, nil
		law(t, want, got, loosely)
	})
}

func TestWiderConfidenceNeverNarrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFixture(t)
		narrow := f.compare(t)
		f.o.Confidence += (1 - f.o.Confidence) * rapid.Float64Range(0, 0.99).Draw(t, "more")
		wide := f.compare(t)
		if wide.Low > narrow.Low || wide.High < narrow.High {
			t.Fatalf("from %v..%v to %v..%v", narrow.Low, narrow.High, wide.Low, wide.High)
		}
		if wide.P != narrow.P || wide.PLess != narrow.PLess {
			t.Fatal("p depends on the confidence")
		}
	})
}

func TestIdenticalSidesNeverExcludeNoChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFixture(t)
		f.base.Order, f.head = nil, Sample{Sessions: f.base.Sessions}
		c := f.compare(t)
		if c.Delta != 0 || c.Low > 0 || c.High < 0 || c.P < 0.5 || c.PLess < 0.5 {
			t.Fatalf("delta %v in %v..%v, p %v and %v", c.Delta, c.Low, c.High, c.P, c.PLess)
		}
	})
}

func TestIntervalHoldsItsEstimate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawFixture(t).compare(t)
		if c.Low > c.Delta || c.High < c.Delta || c.P <= 0 || c.P > 1 || c.PLess <= 0 || c.PLess > 1 || c.SE <= 0 || c.DF <= 0 {
			t.Fatalf("%+v", c)
		}
	})
}

func TestSameInputSameAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFixture(t)
		before := fmt.Sprint(f)
		law(t, f.compare(t), f.compare(t))
		law(t, before, fmt.Sprint(f)) // and nothing handed in is changed
	})
}

func TestHolmKeepsTheOrderAndNeverHelps(t *testing.T) {
	chance := rapid.Float64Range(0, 1)
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(chance, 1, 12).Draw(t, "p")
		adjusted := Holm(p)
		for i := range p {
			if adjusted[i] < p[i] || adjusted[i] > 1 {
				t.Fatalf("%v became %v", p[i], adjusted[i])
			}
			for j := range p {
				if p[i] < p[j] && adjusted[i] > adjusted[j] {
					t.Fatalf("%v < %v became %v > %v", p[i], p[j], adjusted[i], adjusted[j])
				}
			}
		}
		i := rapid.IntRange(0, len(p)-1).Draw(t, "which")
		p[i] += (1 - p[i]) * chance.Draw(t, "larger")
		for j, x := range Holm(p) {
			if x < adjusted[j] {
				t.Fatalf("a larger p lowered %v to %v", adjusted[j], x)
			}
		}
	})
}

func drawCounts(t *rapid.T) (met, of []int) {
	for range rapid.IntRange(1, 8).Draw(t, "runs") {
		n := rapid.IntRange(1, 400).Draw(t, "requests")
		of = append(of, n)
		met = append(met, rapid.IntRange(0, n).Draw(t, "met"))
	}
	return met, of
}

func TestProportionIsMirroredAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		met, of := drawCounts(t)
		confidence := rapid.Float64Range(0.5, 0.99).Draw(t, "confidence")
		s, err := Proportion(met, of, confidence)
		if err != nil {
			t.Fatal(err)
		}
		if !(0 <= s.Low && s.Low <= s.Point && s.Point <= s.High && s.High <= 1 && 0 < s.Rho && s.Rho <= 1 && s.DesignEffect >= 1) {
			t.Fatalf("%+v", s)
		}
		wide, err := Proportion(met, of, confidence+(1-confidence)/2)
		if err != nil || wide.Low > s.Low || wide.High < s.High {
			t.Fatalf("%v: from %+v to %+v", err, s, wide)
		}
		missed := make([]int, len(met))
		for i := range met {
			missed[i] = of[i] - met[i]
		}
		m, err := Proportion(missed, of, confidence)
		if err != nil {
			t.Fatal(err)
		}
		law(t, Share{1 - m.Point, 1 - m.High, 1 - m.Low, m.DesignEffect, m.Rho, m.N}, s, loosely)
	})
}

func TestNoRecordIsBoundedBetterThanThePerfectOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		met, of := drawCounts(t)
		s, err := Proportion(met, of, 0)
		perfect, err2 := Proportion(of, of, 0)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if s.Low > perfect.Low || s.High > perfect.High {
			t.Fatalf("%v of %v: %+v, and %+v when all met", met, of, s, perfect)
		}
	})
}

func TestLevelsSpendAlpha(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var looks []int
		n := 0
		for range rapid.IntRange(1, 5).Draw(t, "looks") {
			n += rapid.IntRange(1, 6).Draw(t, "more runs")
			looks = append(looks, n)
		}
		alpha := rapid.Float64Range(1e-4, 0.05).Draw(t, "alpha")
		levels, err := Levels(looks, alpha)
		half, err2 := Levels(looks, alpha/2)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		first := float64(looks[0]) / float64(n)
		law(t, Round(alpha*first*first), levels[0], loosely)
		sum := 0.0
		for i, l := range levels {
			sum += l
			if l <= 0 || l > alpha*(1+1e-9) || half[i] >= l {
				t.Fatalf("looks %v at %v: %v; at half: %v", looks, alpha, levels, half)
			}
		}
		if sum < 0.97*alpha { // each crossing spends at most its own level
			t.Fatalf("looks %v at %v: levels %v add up to %v", looks, alpha, levels, sum)
		}
	})
}

func TestRoundLeavesTenDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		r := Round(x)
		if math.IsInf(x, 0) || math.Abs(x) > 1e308 || math.Abs(x) < 1e-290 {
			return // no room for ten digits
		}
		if math.Abs(r-x) > 5.000001e-10*math.Abs(x) || Round(r) != r || Round(-x) != -r {
			t.Fatalf("%v became %v", x, r)
		}
	})
}

func TestQuantileLiesBetweenItsNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(value(), 1, 30).Draw(t, "xs")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		got, err := Quantile(xs, q)
		if err != nil {
			t.Fatal(err)
		}
		sorted := slices.Sorted(slices.Values(xs))
		h := q * float64(len(xs)-1)
		low, high := sorted[int(math.Floor(h+1e-9))], sorted[int(math.Ceil(h-1e-9))]
		if low > high {
			low, high = high, low
		}
		if got < low-1e-9 || got > high+1e-9 {
			t.Fatalf("quantile %v of %v is %v, not in %v..%v", q, sorted, got, low, high)
		}
	})
}

func TestDetectableChangeGrowsWithWhatIsAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		se := rapid.Float64Range(0.001, 1).Draw(t, "se")
		df := rapid.Float64Range(1, 100).Draw(t, "df")
		c := rapid.Float64Range(0.5, 0.99).Draw(t, "confidence")
		p := rapid.Float64Range(0.5, 0.98).Draw(t, "power")
		d := SmallestDetectable(se, df, c, p)
		for _, more := range []float64{
			SmallestDetectable(1.1*se, df, c, p), SmallestDetectable(se, df*0.9, c, p),
			SmallestDetectable(se, df, c+0.005, p), SmallestDetectable(se, df, c, p+0.01),
		} {
			if more <= d {
				t.Fatalf("%v became %v", d, more)
			}
		}
	})
}

func TestSmallestFindsWhatSortingFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.OneOf(value(), rapid.SampledFrom([]float64{math.Inf(-1), 0, math.Inf(1)})), 1, 60).Draw(t, "xs")
		k := rapid.IntRange(0, len(xs)-1).Draw(t, "k")
		want := slices.Sorted(slices.Values(xs))
		got := smallest(xs, k)
		law(t, want[k], got)
		law(t, want[:k], slices.Sorted(slices.Values(xs[:k])), cmpopts.EquateEmpty())
	})
}
