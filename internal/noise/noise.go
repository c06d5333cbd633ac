// Package noise says how far equal runs differ on one machine, and what can be seen through that.
//
// A calibration measures one build many times. [Measure] turns its runs and their requests into the spread of every
// metric, whether it changed along the way, how much of it chance in the requests explains, and whether the load leads to
// a queue in which chance rules. [Plan] turns a spread into what each design of a comparison would see. All of it is a
// function of what was measured: the same runs give the same report on every machine.
package noise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// Scenario is what a calibration measured of one scenario.
type Scenario struct {
	// Digest holds the runs. Void runs, and those in which the server misbehaved, are left out.
	Digest bench.Digest
	// Requests are the requests of each run, by its order. Without them nothing is said of the workload.
	Requests map[int][]bench.Request
	Load     Load
	// Starts says that every visit is a fresh start of the server: the unit is then the visit, else the run.
	Starts bool
}

// Load is how the requests were sent.
type Load struct {
	Rate        float64 // requests per second of an open loop; 0: a closed loop
	Concurrency int     // of a closed loop
	Slots       int     // requests that the server works on at once; 0: it does not say
}

// Report is the noise of one scenario.
type Report struct {
	Scenario string
	Design   string // "interleaved" when every unit had a start of the server of its own, else "committed"
	Runs     int    // how many units stand
	Requests int    // requests a run
	Metrics  []Metric
	// Absent are the metrics of which nothing can be said, with the reason.
	Absent []Absent
	Queue  Queue
	// Causes are the flaws of the workload that were found; empty when none was.
	Causes []Cause
}

// Absent is a metric that was asked for in vain.
type Absent struct{ Name, Why string }

// least is how few runs still have a spread worth naming: a line through three has one degree of freedom.
const least = 3

// Measure reports the noise of the named metrics.
func Measure(s Scenario, names []string) Report {
	units := s.units()
	r := Report{Scenario: s.Digest.Scenario, Design: "committed", Runs: len(units)}
	if s.Starts {
		r.Design = "interleaved"
	}
	for _, u := range units {
		for _, run := range u {
			r.Requests = max(r.Requests, run.Sent)
		}
	}
	for _, name := range names {
		m, why := s.metric(name, units)
		if why != "" {
			r.Absent = append(r.Absent, Absent{name, why})
			continue
		}
		r.Metrics = append(r.Metrics, m)
	}
	r.Queue = s.queue(units)
	r.Causes = r.causes()
	return r
}

// Find returns the metric of that name; false when it was not measured.
func (r Report) Find(name string) (Metric, bool) {
	for _, m := range r.Metrics {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// Noise is what a digest keeps of the report.
func (r Report) Noise(at time.Time) bench.Noise {
	n := bench.Noise{Measured: at.UTC(), Design: r.Design, Runs: r.Runs, Metrics: map[string]bench.MetricNoise{}}
	for _, m := range r.Metrics {
		n.Metrics[m.Name] = bench.MetricNoise{SD: m.SD, Workload: m.Workload, Order: m.Order.Change, First: m.First.Change}
	}
	return n
}

// units are the sound runs in the order in which they were measured, those of one start together where the start is the unit.
func (s Scenario) units() [][]bench.Run {
	var groups [][]bench.Run
	for _, session := range s.Digest.Sessions {
		for _, v := range session.Visits {
			var group []bench.Run
			for _, r := range v.Runs {
				if r.Sound() {
					group = append(group, r)
				}
			}
			for _, r := range group {
				if !s.Starts {
					groups = append(groups, []bench.Run{r})
				}
			}
			if s.Starts && len(group) > 0 {
				groups = append(groups, group)
			}
		}
	}
	slices.SortStableFunc(groups, func(a, b []bench.Run) int { return cmp.Compare(a[0].Order, b[0].Order) })
	return groups
}

// metric measures one; why is empty unless nothing can be said of it.
func (s Scenario) metric(name string, units [][]bench.Run) (m Metric, why string) {
	m.Metric, why = s.known(name, units)
	if why != "" {
		return m, why
	}
	for _, u := range units {
		y, ok := level(m.Metric, u)
		if !ok {
			continue
		}
		m.levels = append(m.levels, y)
		m.Orders = append(m.Orders, u[0].Order)
	}
	if len(m.levels) < least {
		return m, fmt.Sprintf("%d of %d runs have it, and %d are needed", len(m.levels), len(units), least)
	}
	m.each = float64(requests(units)) / float64(len(units))
	if m.Scale == bench.Logit {
		m.Typical = stat.Round(pooled(units))
	}
	m.spread()
	m.Workload = stat.Round(s.chance(m.Metric, units) / math.Sqrt(m.each/float64(units[0][0].Sent))) // of runs averaged
	return m, ""
}

// known says why a metric could not be compared here, however quiet its runs.
func (s Scenario) known(name string, units [][]bench.Run) (bench.Metric, string) {
	m, err := bench.ParseMetric(name)
	switch {
	case err != nil:
		return m, err.Error()
	case m.Scale == bench.Point:
		return m, "it is held to a limit, not compared"
	case name == "goodput.ratio" && s.Digest.SLO.IsZero():
		return m, "the scenario has no slo"
	case name == "output.rate" && s.Load.Rate > 0, name == "request.rate" && s.Load.Rate > 0:
		return m, "in an open loop it is the schedule's, not the server's"
	}
	for _, u := range units {
		for _, r := range u {
			if m.Scale == bench.Log && r.OK < m.Least {
				return m, fmt.Sprintf("run %d has %d successful requests, and %d are needed", r.Order, r.OK, m.Least)
			}
		}
	}
	return m, ""
}

// level is a unit's mean on the scale on which it is compared; false where one of its runs has none.
func level(m bench.Metric, unit []bench.Run) (float64, bool) {
	sum := 0.0
	for _, r := range unit {
		y, ok := value(m, r)
		if !ok {
			return 0, false
		}
		sum += y / float64(len(unit))
	}
	return sum, true
}

func value(m bench.Metric, r bench.Run) (float64, bool) {
	if m.Scale == bench.Logit {
		if r.Good == nil || r.Sent == 0 {
			return 0, false
		}
		return stat.Logit(*r.Good, r.Sent), true
	}
	v := r.Metrics[m.Name]
	return math.Log(v), v > 0 && !math.IsInf(v, 1)
}

// pooled is the share of all requests that kept the SLO.
func pooled(units [][]bench.Run) float64 {
	good, sent := 0, 0
	for _, u := range units {
		for _, r := range u {
			if r.Good != nil {
				good += *r.Good
				sent += r.Sent
			}
		}
	}
	return float64(good) / float64(sent)
}

func requests(units [][]bench.Run) int {
	n := 0
	for _, u := range units {
		for _, r := range u {
			n += r.Sent
		}
	}
	return n
}
