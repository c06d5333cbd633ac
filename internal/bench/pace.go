package bench

import (
	"errors"
	"fmt"

	"github.com/benchgate/benchgate/internal/stat"
)

// Pace says whether a server kept up with the schedule of an open loop, in requests a second.
type Pace struct {
	Asked  float64 `json:"asked"`  // rate of the schedule
	Served float64 `json:"served"` // rate at which the server finished them, between the first quarter of a run and the last
}

// What PaceOf needs, and what counts as keeping up.
const (
	leastPaced = 20  // successful requests
	keepsUp    = 0.9 // share of the asked rate
)

// PaceOf holds the ends of requests, in the order of their index, against the moments at which they were due: where the last
// quarter ends as long after the first as it was due after it, the server kept up, however long an answer takes. Nil with
// fewer than 20 successful requests.
func PaceOf(requests []Request, rate float64) *Pace {
	var due, ended []float64
	for _, q := range requests {
		if q.Class == OK {
			due, ended = append(due, q.Scheduled), append(ended, q.LastToken)
		}
	}
	if len(due) < leastPaced {
		return nil
	}
	asked, took := quarters(due), quarters(ended)
	if !(asked > 0) || !(took > 0) {
		return nil
	}
	return &Pace{Asked: rate, Served: rate * min(1, asked/took)}
}

// quarters is the time between the median of the first quarter and that of the last.
func quarters(times []float64) float64 {
	n := len(times) / 4
	first, err := stat.Quantile(times[:n], 0.5)
	last, err2 := stat.Quantile(times[len(times)-n:], 0.5)
	if errors.Join(err, err2) != nil {
		return 0
	}
	return last - first
}

// Behind reports whether the server was clearly slower than the schedule: it finished less than 90 % of what was asked.
func (p *Pace) Behind() bool { return p != nil && p.Served < keepsUp*p.Asked }

// String says it in a sentence without its end.
func (p Pace) String() string {
	return fmt.Sprintf("the server finished %.3g of %.3g requests/s asked", p.Served, p.Asked)
}

func (p *Pace) check() error {
	if p == nil {
		return nil
	}
	return notNegative(number{"asked", p.Asked}, number{"served", p.Served})
}
