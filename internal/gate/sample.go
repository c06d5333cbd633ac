package gate

import (
	"math"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// sampleOf turns runs into what the statistics see. The unit is the run; in an interleaved session it is the visit, whose
// runs share one start of the server and are averaged. A session with a single visit was never restarted between its runs
// (imported files), so there the run stays the unit. Every run has to have a value: see side.comparable.
func sampleOf(runs []placed, m bench.Metric) stat.Sample {
	var out stat.Sample
	last := -1
	for _, group := range units(runs) {
		y, order := 0.0, 0.0
		for _, r := range group {
			v, _ := value(m, r)
			y += v / float64(len(group))
			order += float64(r.Order) / float64(len(group))
		}
		if group[0].session != last {
			last = group[0].session
			out.Sessions = append(out.Sessions, nil)
			out.Order = append(out.Order, nil)
		}
		k := len(out.Sessions) - 1
		out.Sessions[k] = append(out.Sessions[k], y)
		out.Order[k] = append(out.Order[k], order)
	}
	return out
}

// units are the runs one by one, or those of a visit together in the order in which visits began.
func units(runs []placed) [][]placed {
	var groups [][]placed
	at := map[[2]int]int{}
	for _, r := range runs {
		visit := [2]int{r.session, r.visit}
		if i, ok := at[visit]; ok && r.turn {
			groups[i] = append(groups[i], r)
			continue
		}
		at[visit] = len(groups)
		groups = append(groups, []placed{r})
	}
	return groups
}

// size is how many numbers a sample has.
func size(s stat.Sample) int {
	n := 0
	for _, session := range s.Sessions {
		n += len(session)
	}
	return n
}

// centre is the mean over sessions of their means: what a change is counted from.
func centre(s stat.Sample) float64 {
	sum := 0.0
	for _, session := range s.Sessions {
		m := 0.0
		for _, y := range session {
			m += y / float64(len(session))
		}
		sum += m / float64(len(s.Sessions))
	}
	return sum
}

// shown is what a reader sees of some runs of one side: the geometric mean of a time or rate, the pooled share of a ratio.
func shown(runs []placed, m bench.Metric) *Side {
	if len(runs) == 0 {
		return nil
	}
	out := &Side{NRuns: len(runs)}
	sessions := map[int]bool{}
	logs := 0.0
	for _, r := range runs {
		sessions[r.session] = true
		out.NRequests += r.Sent
		v, _ := raw(m, r)
		logs += math.Log(v) / float64(len(runs)) // −Inf for a queue that never formed: the mean is then 0
	}
	out.NSessions = len(sessions)
	out.Point = stat.Round(held(math.Exp(logs)))
	if m.Unit == bench.Ratio {
		met, of := tallies(runs, m)
		out.Point = stat.Round(float64(sum(met)) / float64(sum(of)))
	}
	return out
}

// held is a value that a file can hold: an absurd time stays absurd but finite.
func held(x float64) float64 { return math.Min(x, 1e300) }

// tallies are what a share counts, run by run.
func tallies(runs []placed, m bench.Metric) (met, of []int) {
	for _, r := range runs {
		k, n, _ := tally(m, r)
		met, of = append(met, k), append(of, n)
	}
	return met, of
}

func sum(xs []int) int {
	total := 0
	for _, x := range xs {
		total += x
	}
	return total
}
