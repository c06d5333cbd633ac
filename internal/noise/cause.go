package noise

import (
	"fmt"
	"math"
	"strconv"
)

// Cause is a flaw of the workload that makes runs differ more than the machine does.
type Cause struct {
	Kind   string // "requests" or "queue"
	Metric string // empty for the load as a whole
	// Says is what was found, Advice what to do about it.
	Says, Advice string
}

// The kinds of causes.
const (
	TooFewRequests = "requests"
	NearSaturation = "queue"
)

// quietEnough is the standard deviation below which more requests buy little: days differ by as much.
const quietEnough = 0.05

func (r Report) causes() []Cause {
	var all []Cause
	if r.Queue.Saturated {
		all = append(all, r.saturation())
	}
	for _, m := range r.Metrics {
		if n, rest := m.Requests(r.Requests); n > 0 {
			all = append(all, Cause{
				Kind: TooFewRequests, Metric: m.Name,
				Says: fmt.Sprintf("too few requests: chance in the %d requests of a run makes an sd of %s by itself, and the runs have %s",
					r.Requests, m.Spread(m.Workload), m.Spread(m.SD)),
				Advice: fmt.Sprintf("%d requests a run would do: an sd of about %s would remain", n, m.Spread(rest)),
			})
		}
	}
	return all
}

// worthwhile is the share of the present standard deviation below which what remains has to be, for advice to be given.
const worthwhile = 0.88

// Requests is how many requests a run needs before chance in them no longer rules its spread, with the standard deviation
// that remains; 0 when the present number is enough. Chance rules when it makes up half of the variance and alone exceeds
// 5 %. It falls as the square root of their number, for a mean exactly and for a percentile nearly so (Mosteller 1946);
// enough is when it is no more than what the runs differ by beyond it, or than 5 %.
func (m Metric) Requests(now int) (n int, rest float64) {
	w := m.Percent(m.Workload)
	sd := m.Percent(m.SD)
	if w <= quietEnough || w*w < sd*sd/2 {
		return 0, 0
	}
	beyond := math.Sqrt(math.Max(0, sd*sd-w*w))
	enough := math.Max(beyond, quietEnough)
	if enough >= w {
		return 0, 0
	}
	rest = math.Sqrt(beyond*beyond + enough*enough)
	if rest > worthwhile*sd {
		return 0, 0
	}
	return int(twoDigits(float64(now)*(w/enough)*(w/enough), math.Ceil)), rest / m.Percent(1)
}

// percent writes a fraction as a percentage.
func percent(x float64) string { return number(x) + " %" }

func (r Report) saturation() Cause {
	q := r.Queue
	c := Cause{Kind: NearSaturation}
	if q.Slots > 0 {
		c.Says = fmt.Sprintf("near saturation: %s requests are in flight on average, for %d slots, and %s of requests found every slot taken, so chance in the queue moves TTFT",
			figure(q.InFlight), q.Slots, percent(q.Full))
		c.Advice = fmt.Sprintf("for latency set rate: %g (half of %d slots ÷ %.2g s an answer)", q.Rate, q.Slots, q.Served)
	} else {
		c.Says = fmt.Sprintf("near saturation: the median TTFT is %s times that of requests that came when fewest others were in flight, so most wait and chance in the queue moves TTFT", figure(q.Climb))
		c.Advice = fmt.Sprintf("for latency set rate: %g (half of what was managed here; the server does not say how many requests it works on at once)", q.Rate)
	}
	c.Says += r.amplified()
	c.Advice += "; for throughput measure a closed loop: load: {concurrency: " + atOnce(q.Slots) + "}"
	return c
}

func atOnce(slots int) string {
	if slots == 0 {
		return "N"
	}
	return strconv.Itoa(slots)
}

// amplified says how much more TTFT's tail scatters than the work on a token does: the queue multiplies what the machine adds.
func (r Report) amplified() string {
	tail, ok := r.Find("ttft.p95")
	work, known := r.Find("tpot.mean")
	if !ok || !known || tail.SD < 2*work.SD || tail.SD < quietEnough {
		return ""
	}
	return fmt.Sprintf(" (ttft.p95 has an sd of %s where tpot.mean has %s)", tail.Spread(tail.SD), work.Spread(work.SD))
}
