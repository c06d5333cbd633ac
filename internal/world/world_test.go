package world

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// named is a world that a test knows to exist.
func named(t testing.TB, name string) World {
	t.Helper()
	w, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// values are a metric's logarithms on one side, all sessions together.
func values(d bench.Digest, metric string) []float64 {
	var all []float64
	for _, s := range Logs(d, metric).Sessions {
		all = append(all, s...)
	}
	return all
}

// within is the standard deviation between runs of one session, pooled over many workloads.
func within(t *testing.T, w World, metric string, workloads, runs int) float64 {
	t.Helper()
	squares := 0.0
	for seed := range workloads {
		sd, err := stat.SD(values(w.Committed(uint64(seed), 1, runs, 0).At(Effect{}).Base, metric))
		if err != nil {
			t.Fatal(err)
		}
		squares += sd * sd
	}
	return math.Sqrt(squares / float64(workloads))
}

// The figures are those of an independent implementation of the same worlds, in numpy: sd of log TTFT p95 between runs of
// one session. What a world adds to typical follows from its definition.
func TestRunsScatterAsTheWorldSays(t *testing.T) {
	workloads, room := 600, 0.06
	if testing.Short() {
		workloads, room = 50, 0.15
	}
	slow := math.Log(1.4) * math.Sqrt(1.0/12*11/12)
	for _, c := range []struct {
		world     string
		low, high float64
	}{
		{"quiet", 0.091, 0.091},
		{"typical", 0.125, 0.125},
		{"noisy", 0.168, 0.168},
		{"queue", 0.19, 0.21},
		{"outlier", math.Hypot(0.125, slow), math.Hypot(0.125, slow)},
		{"heavy", 0.125, 0.125},
		{"quiet_outlier", math.Hypot(0.091, 0.157), math.Hypot(0.091, 0.157)},
		{"day10", 0.125, 0.125}, // days differ, the runs of one day do not
	} {
		t.Run(c.world, func(t *testing.T) {
			sd := within(t, named(t, c.world), "ttft.p95", workloads, 20)
			t.Logf("sd of log TTFT p95 is %.3f", sd)
			more := room
			if c.world == "heavy" {
				more = 2 * room // the spread of a spread of Student's t with 3 degrees of freedom
			}
			if sd < c.low*(1-more) || sd > c.high*(1+more) {
				t.Errorf("sd of log TTFT p95 is %.3f, want %.3f to %.3f", sd, c.low, c.high)
			}
		})
	}
}

func TestDaysScatterAsTheWorldSays(t *testing.T) {
	w := named(t, "day10")
	w.Run = 0
	var means []float64
	for seed := range 400 {
		both := w.Committed(uint64(seed), 2, 3, 1).At(Effect{}).Base
		mean := func(session int) float64 {
			m, err := stat.Mean(Logs(both, "ttft.gmean").Sessions[session])
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		means = append(means, (mean(0)-mean(1))/math.Sqrt2)
	}
	sd, err := stat.SD(means)
	if err != nil {
		t.Fatal(err)
	}
	if sd < 0.09 || sd > 0.12 {
		t.Errorf("sessions differ by %.3f, want about 0.10", sd)
	}
}

// Trends and waves are in the order of the runs, over both sides.
func TestCampaignDrifts(t *testing.T) {
	w := World{Drift: 0.01}
	var sum float64
	const draws = 200
	for seed := range draws {
		s := w.Interleaved(uint64(seed), 6).At(Effect{})
		for side, d := range map[float64]bench.Digest{-1: s.Reference, 1: s.Head} {
			logs := Logs(d, "ttft.gmean")
			for i, y := range logs.Sessions[0] {
				sum += (y - 0.01*(logs.Order[0][i]-1)) * side
			}
		}
	}
	if mean := sum / (6 * draws); math.Abs(mean) > 0.015 {
		t.Errorf("with the drift taken out the sides differ by %.4f", mean)
	}
	s := w.Interleaved(1, 10).At(Effect{})
	ys := values(s.Head, "ttft.gmean")
	if rise := ys[9] - ys[0]; rise < 0.02 || rise > 0.4 {
		t.Errorf("from the first visit to the last TTFT rose by %.2f, want about 0.18", rise)
	}
}

func TestNeighboursShareTheWave(t *testing.T) {
	w := World{Slow: 0.2, Memory: 0.8}
	var near, all float64
	for seed := range 300 {
		ys := values(w.Committed(uint64(seed), 1, 20, 0).At(Effect{}).Base, "ttft.gmean")
		for i := range ys[1:] {
			d := ys[i+1] - ys[i]
			near += d * d / 19
		}
		sd, err := stat.SD(ys)
		if err != nil {
			t.Fatal(err)
		}
		all += sd * sd
	}
	if near > all {
		t.Errorf("neighbours differ by %.3f, runs at large by %.3f: no wave", near, all)
	}
}

func TestTheCandidateOfHeteroScattersMore(t *testing.T) {
	w := named(t, "hetero")
	var base, head float64
	for seed := range 200 {
		s := w.Committed(uint64(seed), 1, 5, 5).At(Effect{})
		for sum, d := range map[*float64]bench.Digest{&base: s.Base, &head: s.Head} {
			sd, err := stat.SD(values(d, "ttft.gmean"))
			if err != nil {
				t.Fatal(err)
			}
			*sum += sd * sd
		}
	}
	if ratio := math.Sqrt(head / base); ratio < 1.5 || ratio > 2.1 {
		t.Errorf("the candidate scatters %.2f times as much, want nearly 2", ratio)
	}
}

func TestTrueEffectIsExact(t *testing.T) {
	for _, w := range All() {
		d := w.Confirm(7, 2, 3, 3, 4)
		equal, slower := d.At(Effect{}), d.At(Effect{TTFT: 0.2})
		if diff := cmp.Diff(equal.Base, slower.Base); diff != "" {
			t.Errorf("%s: an effect on the candidate changes the baseline\n%s", w.Name, diff)
		}
		for _, metric := range []string{"ttft.p50", "ttft.p95", "ttft.mean", "ttft.gmean"} {
			before, after := values(equal.Head, metric), values(slower.Head, metric)
			for i := range before {
				if got := after[i] - before[i]; math.Abs(got-math.Log(1.2)) > 1e-12 {
					t.Fatalf("%s: %s of run %d changes by the factor %v, want 1.2", w.Name, metric, i, math.Exp(got))
				}
			}
		}
	}
}

func TestSlowerServiceSlowsEverything(t *testing.T) {
	for _, name := range []string{"typical", "queue"} {
		d := named(t, name).Committed(3, 1, 3, 3)
		before, after := d.At(Effect{}).Head, d.At(Effect{Service: 0.1}).Head
		for metric, least := range map[string]float64{"ttft.p95": 1.0999, "tpot.mean": 1.0999, "e2el.p95": 1.0999, "output.rate": 0} {
			change := math.Exp(values(after, metric)[0] - values(before, metric)[0])
			if metric == "output.rate" && (change > 0.95 || change < 0.85) || change < least {
				t.Errorf("%s: %s changes by the factor %.3f", name, metric, change)
			}
		}
	}
}

func TestSameSeedSameDraw(t *testing.T) {
	for _, w := range All() {
		draw := func(seed uint64) Sides { return w.Confirm(seed, 2, 3, 3, 2, 4).At(Effect{TTFT: 0.1}) }
		if diff := cmp.Diff(draw(5), draw(5)); diff != "" {
			t.Errorf("%s: the same seed gives another draw\n%s", w.Name, diff)
		}
		if cmp.Equal(values(draw(5).Head, "ttft.p95"), values(draw(6).Head, "ttft.p95")) {
			t.Errorf("%s: another seed gives the same draw", w.Name)
		}
	}
}

func TestDesignsHaveTheirShape(t *testing.T) {
	type session struct {
		ID          string
		Interleaved bool
		Looks       []int
		Orders      []int
		Visits      int
	}
	shape := func(d bench.Digest) (out []session) {
		for _, s := range d.Sessions {
			one := session{ID: s.ID, Interleaved: s.Interleaved, Looks: s.Looks, Visits: len(s.Visits)}
			for _, r := range s.Runs() {
				one.Orders = append(one.Orders, r.Order)
			}
			out = append(out, one)
		}
		return out
	}
	s := named(t, "typical").Confirm(1, 2, 2, 3, 2, 4).At(Effect{})
	want := [][]session{
		{{ID: "night-1", Orders: []int{1, 2}, Visits: 1}, {ID: "night-2", Orders: []int{1, 2}, Visits: 1}},
		{{ID: "campaign-2", Interleaved: true, Looks: []int{2, 4}, Orders: []int{1, 4, 5, 8}, Visits: 4}},
		{
			{ID: "campaign-1", Orders: []int{1, 2, 3}, Visits: 1},
			{ID: "campaign-2", Interleaved: true, Looks: []int{2, 4}, Orders: []int{2, 3, 6, 7}, Visits: 4},
		},
	}
	if diff := cmp.Diff(want, [][]session{shape(s.Base), shape(s.Reference), shape(s.Head)}); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDigestsAreFilesOfTheProduct(t *testing.T) {
	for _, w := range All() {
		s := w.Confirm(1, 2, 2, 3, 2).At(Effect{})
		for name, d := range map[string]bench.Digest{"base": s.Base, "reference": s.Reference, "head": s.Head} {
			var b bytes.Buffer
			if err := bench.WriteDigest(&b, d); err != nil {
				t.Errorf("%s: %s: %v", w.Name, name, err)
			}
		}
	}
}

func TestRequestsAreThoseOfTheRuns(t *testing.T) {
	d := named(t, "queue").Interleaved(4, 4)
	base, head := d.TTFT()
	s := d.At(Effect{})
	for side, c := range map[string]struct {
		requests [][]float64
		digest   bench.Digest
	}{"base": {base, s.Reference}, "head": {head, s.Head}} {
		for i, r := range c.digest.Sessions[0].Runs() {
			if got := quantile(c.requests[i], 0.95); got != r.Metrics["ttft.p95"] {
				t.Errorf("%s, run %d: p95 of the requests is %v, of the run %v", side, i, got, r.Metrics["ttft.p95"])
			}
		}
	}
}

func TestUnknownWorldIsAnError(t *testing.T) {
	if _, err := Named("calm"); err == nil {
		t.Error("want an error")
	}
}

func BenchmarkCommitted(b *testing.B) {
	for _, name := range []string{"typical", "queue"} {
		b.Run(name, func(b *testing.B) {
			w := named(b, name)
			for seed := uint64(0); b.Loop(); seed++ {
				w.Committed(seed, 5, 5, 5).At(Effect{})
			}
		})
	}
}
