package stat

import (
	"fmt"
	"math"
)

// side is a checked sample: no session is empty, every value is finite.
type side struct {
	sessions [][]float64
	runs     []float64 // of all sessions
	order    []float64 // parallel to runs; nil when unknown
}

// side checks a sample and lays its sessions end to end.
func (s Sample) side(name string, ordered bool) (side, error) {
	var out side
	if ordered && s.Order != nil {
		if len(s.Order) != len(s.Sessions) {
			return side{}, fmt.Errorf("order of %s has %d sessions instead of %d: %w", name, len(s.Order), len(s.Sessions), ErrOrder)
		}
		out.order = []float64{}
	}
	for i, runs := range s.Sessions {
		if len(runs) == 0 {
			continue
		}
		out.sessions = append(out.sessions, runs)
		out.runs = append(out.runs, runs...)
		if out.order == nil {
			continue
		}
		if len(s.Order[i]) != len(runs) {
			return side{}, fmt.Errorf("order of %s has %d places for %d runs: %w", name, len(s.Order[i]), len(runs), ErrOrder)
		}
		out.order = append(out.order, s.Order[i]...)
	}
	for _, xs := range [][]float64{out.runs, out.order} {
		if err := finite(xs); err != nil {
			return side{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	if n := len(out.runs); n < minRuns {
		return side{}, fmt.Errorf("%s has %d runs, a comparison needs %d: %w", name, n, minRuns, ErrTooFew)
	}
	return out, nil
}

// jointOrder lays the orders of both sides end to end: nil when neither is known, an error when only one is.
func jointOrder(b, h side) ([]float64, error) {
	if (b.order == nil) != (h.order == nil) {
		return nil, fmt.Errorf("only one side has an order: %w", ErrOrder)
	}
	if b.order == nil {
		return nil, nil
	}
	return append(append([]float64{}, b.order...), h.order...), nil
}

// finite refuses what is no number, and what is so large that the square of a variance would be none.
func finite(xs []float64) error {
	for _, x := range xs {
		if !(math.Abs(x) < 1e74) {
			return fmt.Errorf("value %v: %w", x, ErrNotFinite)
		}
	}
	return nil
}
