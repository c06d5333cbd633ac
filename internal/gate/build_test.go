package gate

import (
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

var (
	baseDay = time.Date(2026, 5, 4, 2, 0, 0, 0, time.UTC)
	headDay = time.Date(2026, 5, 6, 9, 0, 0, 0, time.UTC)
)

// five runs that differ by about 3 %, as TTFT p95 in seconds.
var quiet = []float64{0.412, 0.405, 0.421, 0.399, 0.410}

// digest is one session of sound runs, one for each value of ttft.p95; other metrics follow from it.
func digest(scenario string, start time.Time, values ...float64) bench.Digest {
	d := bench.Digest{
		Schema: bench.DigestSchema, Runner: "lab", Scenario: scenario,
		MustMatch: map[string]string{},
	}
	for _, k := range []string{
		bench.KeyMachine, bench.KeyAccelerator, bench.KeyDriver, bench.KeyModel, bench.KeyTopology, bench.KeyDefinitions, bench.KeyTool,
	} {
		d.MustMatch[k] = "one " + k
	}
	d.MustMatch[bench.KeyWorkload] = "workload of " + scenario
	d.MustMatch[bench.KeyOutput] = "exact"
	d.Sessions = []bench.Session{session(start, values...)}
	return d
}

func session(start time.Time, values ...float64) bench.Session {
	s := bench.Session{
		ID: start.Format("s-2006-01-02T15"), Started: start, UnderTest: map[string]string{bench.KeyVersion: "0.32"},
		Visits: []bench.Visit{{Number: 1, Started: start}},
	}
	for i, v := range values {
		s.Visits[0].Runs = append(s.Visits[0].Runs, run(i+1, v))
	}
	return s
}

func run(order int, ttft95 float64) bench.Run {
	good := 100
	return bench.Run{
		Order: order, Duration: 12, Sent: 100, OK: 100, Good: &good, OutputTokens: 128,
		Metrics: map[string]float64{
			"ttft.p50": ttft95 / 2, "ttft.p75": ttft95 * 0.7, "ttft.p90": ttft95 * 0.9, "ttft.p95": ttft95, "ttft.p99": ttft95 * 1.2,
			"ttft_sched.p95": ttft95 * 1.01, "tpot.mean": ttft95 / 40, "e2el.p95": ttft95 * 3,
			"output.rate": 400 / ttft95, "request.rate": 4 / ttft95, "goodput.rate": 4 / ttft95,
			"goodput.ratio": 1, "error.ratio": 0,
		},
	}
}

// runs edits every run of a digest.
func runs(d bench.Digest, edit func(i int, r *bench.Run)) bench.Digest {
	i := 0
	for s := range d.Sessions {
		for v := range d.Sessions[s].Visits {
			for r := range d.Sessions[s].Visits[v].Runs {
				edit(i, &d.Sessions[s].Visits[v].Runs[r])
				i++
			}
		}
	}
	return d
}

// times multiplies values.
func times(xs []float64, by float64) []float64 {
	var out []float64
	for _, x := range xs {
		out = append(out, x*by)
	}
	return out
}

// history is a baseline of several sessions, one a night, that differ little.
func history(scenario string, sessions int) bench.Digest {
	d := digest(scenario, baseDay)
	d.Sessions = nil
	for i := range sessions {
		d.Sessions = append(d.Sessions, session(baseDay.AddDate(0, 0, i-sessions+1), times(quiet, 1+0.01*float64(i%3))...))
	}
	return d
}

// primary is a policy of one primary rule on ttft.p95, with the bootstrap of a test.
func primary(more ...Rule) Policy {
	p := Defaults()
	p.Planned = false
	p.Rules = append([]Rule{{Metric: "ttft.p95", Primary: true, Tolerance: ptr(0.05), RuleOut: ptr(0.25)}}, more...)
	return p
}

func one(d bench.Digest) []bench.Digest { return []bench.Digest{d} }

// interleaved gives both sides the same interleaved session: visits in the order that sides says (0 base, 1 head), decided
// once, at the last.
func interleaved(scenario string, sides []int, values []float64) (base, head bench.Digest) {
	both := [2]bench.Digest{digest(scenario, headDay), digest(scenario, headDay)}
	for i := range both {
		both[i].Sessions = []bench.Session{{ID: "turns", Started: headDay, Interleaved: true}}
	}
	for i, side := range sides {
		s := &both[side].Sessions[0]
		s.Visits = append(s.Visits, bench.Visit{Number: i + 1, Started: headDay, Runs: []bench.Run{run(i+1, values[i])}})
	}
	return looks(both[0], len(sides)/2), looks(both[1], len(sides)/2)
}

// looks plans the looks of a digest's only session.
func looks(d bench.Digest, at ...int) bench.Digest {
	d.Sessions[0].Looks = at
	return d
}

// abba is an interleaved campaign in the order ABBA: one run a visit, the base's first.
func abba(scenario string, at []int, base, head []float64) (b, h bench.Digest) {
	var sides []int
	var values []float64
	for i := range base {
		pair, x := []int{0, 1}, []float64{base[i], head[i]}
		if i%2 == 1 {
			pair, x = []int{1, 0}, []float64{head[i], base[i]}
		}
		sides, values = append(sides, pair...), append(values, x...)
	}
	b, h = interleaved(scenario, sides, values)
	return looks(b, at...), looks(h, at...)
}

// early cuts an interleaved digest after its first visits: what it was when a campaign looked.
func early(d bench.Digest, visits int) bench.Digest {
	s := d.Sessions[0]
	s.Visits = s.Visits[:min(visits, len(s.Visits))]
	d.Sessions = []bench.Session{s}
	return d
}

// joined is a candidate of a confirm campaign, with both its stages.
func joined(first, second bench.Digest) bench.Digest {
	first.Sessions = append(append([]bench.Session{}, first.Sessions...), second.Sessions...)
	return first
}
