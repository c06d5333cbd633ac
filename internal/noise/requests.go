package noise

import (
	"math"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// resamples is how many runs are made up: the standard deviation of so many is right to 3 %.
const resamples = 500

// chance is the standard deviation between runs that chance in single requests explains: what runs would differ by if each
// request took longer or shorter than its own mean by luck, independently of all others. 0 when it cannot be told.
//
// The prompts and arrivals are the same in every run, so how far prompts differ from each other moves all runs alike and
// is not part of it: resampling the requests of one run, as is often done, would count it in. Request i of run r is taken
// as xᵢᵣ = μᵢ + ρᵣ + eᵢᵣ (on logarithms), μᵢ the prompt's mean over the runs and ρᵣ the run's own; a made-up run takes for
// every i the residual of a run drawn at random, so that each prompt keeps a scatter of its own: the residual bootstrap
// (Efron & Tibshirani 1993, §9.4) stratified by request (Davison & Hinkley 1997, §3.2). Residuals of R runs are too small
// by √(1 − 1/R), which is made good. What moves many requests of a run together (the machine, a queue) is left out by
// design: that is what the rest of the standard deviation is for.
func (s Scenario) chance(m bench.Metric, units [][]bench.Run) float64 {
	runs := s.byIndex(units)
	if len(runs) < least {
		return 0
	}
	switch {
	case m.Name == "goodput.ratio":
		return s.chanceOfGood(m, runs)
	case m.Name == "output.rate" || m.Name == "request.rate":
		// A closed loop of c takes Σ e2el ÷ c: the sum alone scatters.
		e2el, err := bench.ParseMetric("e2el.mean")
		if err != nil {
			return 0
		}
		m = e2el
	}
	t := align(m, runs)
	if len(t.prompts) < 2 {
		return 0
	}
	draw := stat.Draws(stat.Seed(m.Name, s.Digest.Scenario, 0))
	return t.resample(m, &draw)
}

// byIndex are the requests of every unit's first run, by index.
func (s Scenario) byIndex(units [][]bench.Run) []map[int]bench.Request {
	var runs []map[int]bench.Request
	for _, u := range units {
		requests := s.Requests[u[0].Order]
		if len(requests) == 0 {
			continue
		}
		byIndex := map[int]bench.Request{}
		for _, q := range requests {
			byIndex[q.Index] = q
		}
		runs = append(runs, byIndex)
	}
	return runs
}

// table holds, for every prompt that all runs answered, its mean and its residuals, one a run.
type table struct {
	prompts   []float64
	residuals [][]float64
}

func align(m bench.Metric, runs []map[int]bench.Request) table {
	var t table
	most := 0
	for _, r := range runs {
		for i := range r {
			most = max(most, i+1)
		}
	}
	for i := range most {
		var xs []float64
		for _, r := range runs {
			if v, ok := m.Value(r[i]); ok && v > 0 {
				xs = append(xs, math.Log(v))
			}
		}
		if len(xs) < len(runs) {
			continue
		}
		mean, _ := moments(xs)
		for j := range xs {
			xs[j] -= mean
		}
		t.prompts = append(t.prompts, mean)
		t.residuals = append(t.residuals, xs)
	}
	t.leaveRunsOut()
	return t
}

// leaveRunsOut takes the runs' own effects out of the residuals and makes their size good.
func (t table) leaveRunsOut() {
	if len(t.prompts) < 2 {
		return
	}
	n, r := float64(len(t.prompts)), float64(len(t.residuals[0]))
	size := math.Sqrt(n / (n - 1) * r / (r - 1))
	for run := range t.residuals[0] {
		effect := 0.0
		for i := range t.residuals {
			effect += t.residuals[i][run] / n
		}
		for i := range t.residuals {
			t.residuals[i][run] = (t.residuals[i][run] - effect) * size
		}
	}
}

func (t table) resample(m bench.Metric, draw *stat.Draws) float64 {
	ys := make([]float64, 0, resamples)
	values := make([]float64, len(t.prompts))
	for range resamples {
		for i, mu := range t.prompts {
			values[i] = math.Exp(mu + t.residuals[i][draw.Below(len(t.residuals[i]))])
		}
		v, err := m.Statistic(values)
		if err != nil || !(v > 0) {
			return 0
		}
		ys = append(ys, math.Log(v))
	}
	_, sd := moments(ys)
	return sd
}

// chanceOfGood draws, for every prompt, whether it kept the SLO in a run taken at random.
func (s Scenario) chanceOfGood(m bench.Metric, runs []map[int]bench.Request) float64 {
	draw := stat.Draws(stat.Seed(m.Name, s.Digest.Scenario, 0))
	n := len(runs[0])
	good := make([][]bool, n)
	for i := range good {
		for _, r := range runs {
			good[i] = append(good[i], s.Digest.SLO.Met(r[i]))
		}
	}
	ys := make([]float64, 0, resamples)
	for range resamples {
		met := 0
		for i := range good {
			if good[i][draw.Below(len(good[i]))] {
				met++
			}
		}
		ys = append(ys, stat.Logit(met, n))
	}
	_, sd := moments(ys)
	return sd
}
