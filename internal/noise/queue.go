package noise

import (
	"cmp"
	"math"
	"slices"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// Queue is what the requests say of waiting at the server. The zero value is that nothing is known of them.
type Queue struct {
	// InFlight is how many requests were at the server on average, by Little's law (1961): arrivals a second times the mean
	// time from sending to the last token.
	InFlight float64
	Slots    int
	// Full is the share of requests that found every slot taken when they were sent; 0 when the slots are not known.
	Full float64
	// Served is the mean E2EL of requests that found a free slot while at least half of the slots were taken: what an answer
	// takes once it is worked on. Where there are no such requests it is that of all that found a free slot.
	Served float64
	// Climb is the median TTFT over that of the tenth of requests that came when fewest others were in flight: near 1 as long
	// as most requests do not wait.
	Climb float64
	// Saturated says that the load is so near what the server can do that the length of its queue is chance.
	Saturated bool
	// Rate is a rate at which it is not: half of slots ÷ Served; where the slots are not known, half of what was managed. 0
	// unless Saturated.
	Rate float64
}

const (
	// nearFull is the share of slots in use, requests that wait counted in, from which a load is near saturation. In a
	// queue with Poisson arrivals and four servers that is a load of 0.62, with one server of 0.43, with many of 0.75: the
	// delay and its scatter grow as 1/(1 − load) beyond (Kingman 1961).
	nearFull = 0.75
	// Without slots a queue shows by what it does: half of the requests wait at least as long as the work before a first token
	// takes, which no batch shared by more requests costs.
	steepClimb = 2.0
	// fewest is how many requests a mean needs to be of use here.
	fewest = 5
)

// arrival is one answered request with how many others were at the server when it was sent.
type arrival struct {
	others     int
	ttft, e2el float64
}

func (s Scenario) queue(units [][]bench.Run) Queue {
	q := Queue{Slots: s.Load.Slots}
	var all []arrival
	spent, lasted, sent := 0.0, 0.0, 0
	for _, u := range units {
		for _, r := range u {
			arrivals := arrivalsOf(s.Requests[r.Order])
			for _, a := range arrivals {
				spent += a.e2el
			}
			if len(arrivals) > 0 {
				lasted += r.Duration
				sent += r.Sent
			}
			all = append(all, arrivals...)
		}
	}
	if len(all) < 4*fewest || lasted <= 0 {
		return q
	}
	q.InFlight = stat.Round(spent / lasted)
	q.climb(all)
	q.slots(all)
	if s.Load.Rate > 0 {
		q.judge(float64(sent) / lasted)
	}
	return q
}

// arrivalsOf finds, for every answered request of a run, how many others had been sent and not ended.
func arrivalsOf(requests []bench.Request) []arrival {
	var all []arrival
	for _, q := range requests {
		ttft, ok := q.TTFT()
		e2el, answered := q.E2EL()
		if !ok || !answered {
			continue
		}
		a := arrival{ttft: ttft, e2el: e2el}
		for _, o := range requests {
			if o.Index != q.Index && o.Sent <= q.Sent && max(o.LastToken, o.End) > q.Sent {
				a.others++
			}
		}
		all = append(all, a)
	}
	return all
}

func (q *Queue) climb(all []arrival) {
	byOthers := slices.Clone(all)
	slices.SortStableFunc(byOthers, func(a, b arrival) int { return cmp.Compare(a.others, b.others) })
	n := len(all)
	few := ttfts(byOthers[:max(fewest, n/10)])
	q.Climb = ratio(quantile(ttfts(all), 0.5), quantile(few, 0.5))
}

// slots fills in what only known slots can tell.
func (q *Queue) slots(all []arrival) {
	if q.Slots <= 0 {
		return
	}
	var free, busy []float64
	full := 0
	for _, a := range all {
		switch {
		case a.others >= q.Slots:
			full++
			continue
		case 2*(a.others+1) > q.Slots:
			busy = append(busy, a.e2el)
		}
		free = append(free, a.e2el)
	}
	q.Full = stat.Round(float64(full) / float64(len(all)))
	if len(busy) >= fewest {
		free = busy
	}
	if len(free) >= fewest {
		mean, _ := moments(free)
		q.Served = stat.Round(mean)
	}
}

// judge holds the load of an open loop against what the server can do.
func (q *Queue) judge(rate float64) {
	if q.Slots <= 0 {
		q.Saturated = q.Climb >= steepClimb
	} else {
		q.Saturated = q.InFlight >= nearFull*float64(q.Slots)
	}
	if !q.Saturated {
		return
	}
	q.Rate = rate / 2
	if q.Served > 0 {
		q.Rate = math.Min(float64(q.Slots)/q.Served/2, rate)
	}
	q.Rate = twoDigits(q.Rate, math.Floor)
}

func ttfts(all []arrival) []float64 {
	xs := make([]float64, len(all))
	for i, a := range all {
		xs[i] = a.ttft
	}
	return xs
}

func quantile(xs []float64, p float64) float64 {
	v, err := stat.Quantile(xs, p)
	if err != nil {
		return 0
	}
	return v
}

func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return stat.Round(a / b)
}

// twoDigits rounds to two significant digits, up or down as the function does.
func twoDigits(x float64, round func(float64) float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return x
	}
	scale := math.Pow(10, math.Floor(math.Log10(x))-1)
	return stat.Round(round(stat.Round(x/scale)) * scale)
}
