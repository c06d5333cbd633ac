package stat

import (
	"math"
	"testing"
)

// alive is the chance that no look has decided so far.
func (w walk) alive() float64 {
	sum := 0.0
	for _, m := range w.mass {
		sum += m
	}
	return sum
}

// However close two looks are, what a step drops is what crossed, and nothing else is lost.
func TestAStepLosesOnlyWhatCrossed(t *testing.T) {
	shares := []float64{0.2, 0.5, 0.9, 0.999, 0.9999}
	if testing.Short() {
		shares = []float64{0.2, 0.9999}
	}
	for _, share := range shares {
		r := correlation(share, 1)
		const first, second = 400.5 * grid, 380.5 * grid // in the middle of a cell, where the cut is
		w := walk{}.step(0, r, first)
		diff(t, "first", 1-normalTail(first), w.alive())
		next := w.step(r, 1, second)
		if lost, crossed := w.alive()-next.alive(), w.crossing(r, second); math.Abs(lost-crossed) > 1e-9 {
			t.Errorf("share %v: lost %v, crossed %v", share, lost, crossed)
		}
	}
}
