package load

import (
	"context"
	"math"
	"time"
)

// pacer waits for moments of one run. A timer of the Go runtime sleeps in whole milliseconds where the kernel's poller
// does, so on Linux it wakes about one late; the last stretch is therefore slept in the kernel, which is good to about a
// tenth of that. It does not spin: on two cores a spinning client would take one from the server.
type pacer struct {
	start   time.Time
	precise func(time.Duration) // sleeps a short while
}

// lastStretch is slept precisely: longer than a timer is usually late, short enough that an idle thread is no loss.
const lastStretch = 1500 * time.Microsecond

// farthest keeps a moment within what a time.Duration can hold, in seconds.
const farthest = 1e9

func newPacer(start time.Time) pacer { return pacer{start: start, precise: preciseSleep()} }

// wait returns at the moment at, in seconds after the start, or at once when it has passed; false when the context ended.
func (p pacer) wait(ctx context.Context, at float64) bool {
	due := p.start.Add(time.Duration(math.Ceil(min(at, farthest) * float64(time.Second))))
	if d := time.Until(due) - lastStretch; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
	}
	for d := time.Until(due); d > 0; d = time.Until(due) {
		p.precise(d)
	}
	return ctx.Err() == nil
}
