package noise

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

// kinds are the causes that a report names.
func kinds(r Report) string {
	seen := map[string]bool{}
	var list []string
	for _, c := range r.Causes {
		if !seen[c.Kind] {
			list = append(list, c.Kind)
		}
		seen[c.Kind] = true
	}
	return strings.Join(list, ",")
}

// TestCausesAreTold puts worlds whose trouble is known through the report.
func TestCausesAreTold(t *testing.T) {
	seeds := uint64(10)
	if testing.Short() {
		seeds = 2
	}
	for _, c := range []struct {
		name string
		w    world
		want string
	}{
		{"quiet", world{runs: 12, requests: 100, prompt: .45, run: .03, request: .05, rate: 2, slots: 8}, ""},
		{"a noisy machine", world{runs: 12, requests: 300, prompt: .45, run: .15, request: .05, rate: 2, slots: 8}, ""},
		{"few requests", world{runs: 30, requests: 60, prompt: .2, run: .02, request: .7, rate: 1, slots: 32}, TooFewRequests},
		{"near saturation", world{runs: 12, requests: 200, prompt: .45, run: .03, request: .05, rate: 7.4, slots: 4}, NearSaturation},
		{"near saturation, slots unknown", world{runs: 12, requests: 200, prompt: .45, run: .03, request: .05, rate: 7.4, slots: 4, hidden: true}, NearSaturation},
		{"half of what it can do", world{runs: 12, requests: 200, prompt: .45, run: .03, request: .05, rate: 4, slots: 4}, ""},
		{"overload", world{runs: 12, requests: 200, prompt: .45, run: .03, request: .05, rate: 20, slots: 4}, NearSaturation},
		{"overload, slots unknown", world{runs: 12, requests: 200, prompt: .45, run: .03, request: .05, rate: 20, slots: 4, hidden: true}, NearSaturation},
		{"half of what it can do, slots unknown", world{runs: 12, requests: 200, prompt: .45, run: .03, request: .05, rate: 4, slots: 4, hidden: true}, ""},
		{"light, slots unknown", world{runs: 12, requests: 200, prompt: .45, run: .03, request: .05, rate: 1, slots: 4, hidden: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range seeds {
				c.w.seed = seed + 1
				r := Measure(c.w.measure(nil), []string{"ttft.p95", "tpot.mean"})
				if got := kinds(r); got != c.want {
					t.Errorf("seed %d: causes %q, want %q: %+v\n%s", c.w.seed, got, c.want, r.Causes, r.Queue.Words(Load{Rate: 1}))
				}
			}
		})
	}
}

// TestChanceInRequestsIsThatOfRunsThatDifferByNothingElse makes many runs without any effect of the run, so that all of
// their spread is chance in the requests, and holds the answer of twelve of them against it; an effect of the run does not
// change it, nor do prompts that differ more.
func TestChanceInRequestsIsThatOfRunsThatDifferByNothingElse(t *testing.T) {
	sizes := []int{60, 100, 300}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, requests := range sizes {
		w := world{runs: 400, requests: requests, prompt: .45, request: .2, seed: 5}
		for _, name := range []string{"ttft.p50", "ttft.p95", "tpot.mean", "goodput.ratio"} {
			s := w.measure(nil)
			s.Requests = nil // only its runs are asked
			whole, ok := Measure(s, []string{name}).Find(name)
			if !ok {
				t.Fatalf("%s is absent", name)
			}
			few := w
			few.runs, few.run = 12, .1
			if name == "goodput.ratio" {
				few.run = 0 // which requests keep a limit does depend on the run
			}
			m, _ := Measure(few.measure(nil), []string{name}).Find(name)
			if r := m.Workload / whole.SD; !(r > 0.75 && r < 1.3) {
				t.Errorf("%d requests, %s: chance in requests %.4f, the runs differ by %.4f without any other cause", requests, name, m.Workload, whole.SD)
			}
		}
	}
}

func TestAdvisedNumberOfRequestsWouldDo(t *testing.T) {
	w := world{runs: 12, requests: 60, prompt: .2, run: .05, request: .5, rate: 1, slots: 64, seed: 2}
	m, _ := Measure(w.measure(nil), []string{"ttft.p95"}).Find("ttft.p95")
	n, rest := m.Requests(w.requests)
	if n <= w.requests {
		t.Fatalf("%d requests advised where %d are too few: %+v", n, w.requests, m)
	}
	w.runs, w.requests = 24, n
	now, _ := Measure(w.measure(nil), []string{"ttft.p95"}).Find("ttft.p95")
	if more, _ := now.Requests(n); more > 0 || now.Workload > 0.055 || now.SD > 1.5*rest {
		t.Errorf("with %d requests the sd is %.3f (foretold %.3f), of it %.3f chance in requests, and %d are advised", n, now.SD, rest, now.Workload, more)
	}
}

// TestAdvisedRateIsHalfOfWhatTheServerCanDo: four slots of half a second serve eight a second.
func TestAdvisedRateIsHalfOfWhatTheServerCanDo(t *testing.T) {
	w := world{runs: 12, requests: 200, run: .03, request: .05, rate: 7.6, slots: 4, seed: 1}
	q := Measure(w.measure(nil), nil).Queue
	if !q.Saturated || q.Rate < 3.7 || q.Rate > 4.1 {
		t.Errorf("saturated %v, rate %v advised, want about 4", q.Saturated, q.Rate)
	}
	if q.Served < .48 || q.Served > .52 {
		t.Errorf("an answer takes %v s once it is worked on, want about %v", q.Served, service)
	}
	w.rate = q.Rate
	if q = Measure(w.measure(nil), nil).Queue; q.Saturated {
		t.Errorf("the advised rate is called near saturation: %+v", q)
	}
}

// TestInFlightIsLittlesLaw: without a queue the number in flight is rate times service.
func TestInFlightIsLittlesLaw(t *testing.T) {
	w := world{runs: 12, requests: 400, run: .01, request: .01, rate: 2, slots: 64, seed: 1}
	if q := Measure(w.measure(nil), nil).Queue; q.InFlight < .85 || q.InFlight > 1.15 || q.Full != 0 {
		t.Errorf("%v in flight, %v found all slots taken; want about 1 and none", q.InFlight, q.Full)
	}
}

func TestEffectsAndOutlyingRunsAreFound(t *testing.T) {
	slower := func(by func(run int) float64) Scenario {
		w := world{runs: 12, requests: 100, run: .01, request: .02, seed: 4}
		return w.measure(func(run int, qs []bench.Request) {
			for i := range qs {
				f := by(run)
				qs[i].FirstToken = qs[i].Sent + (qs[i].FirstToken-qs[i].Sent)*f
				qs[i].LastToken = qs[i].Sent + (qs[i].LastToken-qs[i].Sent)*f
				qs[i].End = qs[i].LastToken
			}
		})
	}
	for _, c := range []struct {
		name         string
		by           func(run int) float64
		order, first bool
		outlying     []int
	}{
		{"equal", func(int) float64 { return 1 }, false, false, nil},
		{"ever slower", func(run int) float64 { return math.Exp(.03 * float64(run)) }, true, false, nil},
		{"cold start", func(run int) float64 { return 1 + .4*float64(b2i(run == 0)) }, false, true, []int{0}},
		{"one slow run", func(run int) float64 { return 1 + .6*float64(b2i(run == 6)) }, false, false, []int{6}},
	} {
		m, _ := Measure(slower(c.by), []string{"ttft.p95"}).Find("ttft.p95")
		if m.Order.Shown() != c.order || m.First.Shown() != c.first {
			t.Errorf("%s: order %+v, first %+v", c.name, m.Order, m.First)
		}
		if diff := cmp.Diff(c.outlying, m.Outlying); diff != "" {
			t.Errorf("%s: outlying runs (-want +got):\n%s", c.name, diff)
		}
		if c.name == "one slow run" && (!strings.HasPrefix(m.Apart(6), "+5") && !strings.HasPrefix(m.Apart(6), "+6") || m.Orders[6] != 7) {
			t.Errorf("run %d is told as %s", m.Orders[6], m.Apart(6))
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestWhatCannotBeToldSaysWhy(t *testing.T) {
	w := world{runs: 12, requests: 40, run: .1, request: .1, seed: 1}
	two := w
	two.runs = 2
	open := w
	open.rate, open.slots = 1, 4
	noSLO := w.measure(nil)
	noSLO.Digest.SLO = bench.SLO{}
	for _, c := range []struct {
		name, why string
		s         Scenario
	}{
		{"ttft.p95", "run 1 has 40 successful requests, and 59 are needed", w.measure(nil)},
		{"ttft.p50", "2 of 2 runs have it, and 3 are needed", two.measure(nil)},
		{"output.rate", "in an open loop it is the schedule's, not the server's", open.measure(nil)},
		{"goodput.ratio", "the scenario has no slo", noSLO},
		{"error.ratio", "it is held to a limit, not compared", w.measure(nil)},
		{"queue.p50", "0 of 12 runs have it, and 3 are needed", Scenario{Digest: unqueued(w.measure(nil)), Load: Load{}}},
		{"ttft.p105", "unknown statistic", w.measure(nil)},
	} {
		r := Measure(c.s, []string{c.name})
		if len(r.Metrics) != 0 || len(r.Absent) != 1 || !strings.Contains(r.Absent[0].Why, c.why) {
			t.Errorf("%s: %d measured, absent %+v, want %q", c.name, len(r.Metrics), r.Absent, c.why)
		}
	}
	if r := Measure(Scenario{}, usual); len(r.Metrics) != 0 || len(r.Absent) != len(usual) || r.Queue.Saturated {
		t.Errorf("of nothing: %+v", r)
	}
}

// unqueued has no request that waited in the client.
func unqueued(s Scenario) bench.Digest {
	for i := range s.Digest.Sessions[0].Visits[0].Runs {
		s.Digest.Sessions[0].Visits[0].Runs[i].Metrics["queue.p50"] = 0
	}
	return s.Digest
}

// TestVoidAndMisbehavingRunsAreLeftOut: a run that the client or the server spoilt says nothing about equal builds.
func TestVoidAndMisbehavingRunsAreLeftOut(t *testing.T) {
	w := world{runs: 12, requests: 100, run: .05, request: .05, seed: 9}
	want := Measure(w.measure(nil), usual)
	s := w.measure(nil)
	v := &s.Digest.Sessions[0].Visits[0]
	spoilt := v.Runs[3]
	spoilt.Order, spoilt.Void = 98, "the client sent late"
	broken := v.Runs[4]
	broken.Order, broken.Invalid = 99, "the server died"
	for _, b := range []*bench.Run{&spoilt, &broken} {
		b.Metrics = map[string]float64{"ttft.p50": 99, "ttft.p95": 99}
	}
	v.Runs = append([]bench.Run{spoilt, broken}, v.Runs...)
	if diff := cmp.Diff(want, Measure(s, usual), cmp.AllowUnexported(Metric{}), sameMetric); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

var sameMetric = cmp.Comparer(func(a, b bench.Metric) bool { return a.Name == b.Name })

// TestUnitIsTheVisitWhereStartsDiffer averages the runs of a visit.
func TestUnitIsTheVisitWhereStartsDiffer(t *testing.T) {
	w := world{runs: 12, requests: 100, run: .05, request: .05, seed: 9}
	s := w.measure(nil)
	runs := s.Digest.Sessions[0].Visits[0].Runs
	s.Digest.Sessions[0].Visits = nil
	for i := 0; i < 12; i += 2 {
		s.Digest.Sessions[0].Visits = append(s.Digest.Sessions[0].Visits, bench.Visit{Number: i, Runs: runs[i : i+2]})
	}
	s.Starts = true
	r := Measure(s, []string{"ttft.p50"})
	single, _ := Measure(w.measure(nil), []string{"ttft.p50"}).Find("ttft.p50")
	m, _ := r.Find("ttft.p50")
	if r.Design != "interleaved" || r.Runs != 6 || m.N != 6 {
		t.Fatalf("design %q, %d units", r.Design, r.Runs)
	}
	for i, y := range m.levels {
		if mean := (single.levels[2*i] + single.levels[2*i+1]) / 2; math.Abs(mean-y) > 1e-12 {
			t.Errorf("visit %d stands at %v, its runs average %v", i, y, mean)
		}
	}
	if r := m.Workload / single.Workload; math.Abs(r-math.Sqrt(.5)) > 0.1 {
		t.Errorf("chance in two runs' requests is %.2f of one's, want about .71", r)
	}
	n := r.Noise(time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC))
	want := bench.MetricNoise{SD: m.SD, Workload: m.Workload, Order: m.Order.Change, First: m.First.Change}
	if n.Runs != 6 || n.Design != "interleaved" || n.Metrics["ttft.p50"] != want {
		t.Errorf("kept as %+v", n)
	}
}

// TestNoiseLaws: another unit of time changes no spread, and a machine that runs are slower on changes no chance in requests.
func TestNoiseLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world{
			runs: rapid.IntRange(3, 15).Draw(t, "runs"), requests: rapid.IntRange(60, 90).Draw(t, "requests"),
			prompt: rapid.Float64Range(0, .5).Draw(t, "prompt"), run: rapid.Float64Range(0, .3).Draw(t, "run"),
			request: rapid.Float64Range(.01, .5).Draw(t, "request"), seed: rapid.Uint64().Draw(t, "seed"),
		}
		scale := rapid.Float64Range(.01, 100).Draw(t, "scale")
		a := Measure(w.measure(nil), []string{"ttft.p95", "tpot.mean"})
		b := Measure(w.measure(func(_ int, qs []bench.Request) {
			for i := range qs {
				qs[i].FirstToken = qs[i].Sent + (qs[i].FirstToken-qs[i].Sent)*scale
				qs[i].LastToken = qs[i].Sent + (qs[i].LastToken-qs[i].Sent)*scale
			}
		}), []string{"ttft.p95", "tpot.mean"})
		for i, m := range a.Metrics {
			n := b.Metrics[i]
			for what, pair := range map[string][2]float64{
				"sd": {m.SD, n.SD}, "workload": {m.Workload, n.Workload}, "order": {m.Order.Change, n.Order.Change},
				"first": {m.First.Change, n.First.Change}, "scale": {math.Log(m.Typical * scale), math.Log(n.Typical)},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-6 {
					t.Fatalf("%s: %s is %v, times %v it is %v", m.Name, what, pair[0], scale, pair[1])
				}
			}
			if m.SDLow > m.SD || m.SDHigh < m.SD || m.Order.Half < 0 || math.IsNaN(m.Workload) {
				t.Fatalf("%s: %+v", m.Name, m)
			}
		}
	})
}

func TestWordsKeepTwoDigits(t *testing.T) {
	for x, want := range map[float64]string{0: "0.0", .0123: "1.2", .0994: "9.9", .0996: "10", .347: "35", 1.2: "120"} {
		if got := number(x); got != want {
			t.Errorf("number(%v) is %q, want %q", x, got, want)
		}
	}
	m := Metric{Metric: bench.Metric{Scale: bench.Logit}, centre: 0, Typical: .5}
	if got := m.Told(Effect{-.4, .2}); got != "−9.9 pts (−15 to −5.0) *" {
		t.Errorf("a share's effect is told as %q", got)
	}
	if got := fmt.Sprint(twoDigits(183.2, math.Ceil), twoDigits(0.0571, math.Floor)); got != "190 0.057" {
		t.Errorf("two digits: %s", got)
	}
}
