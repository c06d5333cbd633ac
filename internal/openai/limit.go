package openai

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// limitError says which phase of a request took too long.
type limitError struct {
	class bench.Class
	what  string
	limit time.Duration
}

func (e *limitError) Error() string { return fmt.Sprintf("%s %v", e.what, e.limit) }

func connectTimeout(d time.Duration) *limitError {
	return &limitError{bench.ConnTimeout, "no connection within", d}
}

func firstTokenTimeout(d time.Duration) *limitError {
	return &limitError{bench.FirstTimeout, "no token within", d}
}

func idleTimeout(d time.Duration) *limitError {
	return &limitError{bench.IdleTimeout, "the stream fell silent for", d}
}

func totalTimeout(d time.Duration) *limitError {
	return &limitError{bench.TooSlow, "not done within", d}
}

// watch ends a request whose phase, or whole, takes too long, or whose context ends. A phase begins with every event of a
// stream, so that beginning one is a store: the timer finds out when it fires that it is too early, and is set again.
type watch struct {
	since func() float64 // the run's clock
	total *limitError
	until float64 // when the whole must be over
	leave func() bool

	limit atomic.Pointer[limitError] // of the running phase
	due   atomic.Uint64              // when it must be over: bits of a float64
	fires atomic.Uint64              // when the timer fires: the same

	mu    sync.Mutex
	timer *time.Timer
	stops func(error) // ends what the request waits for
	cause error       // why the request was ended
	past  bool        // the request is over: nothing may be ended any more
}

// newWatch starts the total limit, which is the running phase until another begins. Stop it when the request is over.
func newWatch(ctx context.Context, since func() float64, total time.Duration) *watch {
	now := since()
	w := &watch{since: since, total: totalTimeout(total), until: now + total.Seconds()}
	w.limit.Store(w.total)
	w.due.Store(math.Float64bits(w.until))
	w.fires.Store(math.Float64bits(w.until))
	w.mu.Lock()
	w.timer = time.AfterFunc(total, w.fired)
	w.mu.Unlock()
	w.leave = context.AfterFunc(ctx, func() { w.end(context.Cause(ctx)) })
	return w
}

// enter begins a phase with its limit at the moment now; the one before it is over.
func (w *watch) enter(limit *limitError, now float64) {
	due := min(now+limit.limit.Seconds(), w.until)
	w.due.Store(math.Float64bits(due))
	w.limit.Store(limit)
	if due < math.Float64frombits(w.fires.Load()) {
		w.set()
	}
}

// set sets the timer to the moment at which the running phase must be over. That may be brought forward meanwhile by an
// enter that saw the moment before: hence the second look.
func (w *watch) set() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.past && w.cause == nil {
		due := w.due.Load()
		w.fires.Store(due)
		w.timer.Reset(inFull(math.Float64frombits(due) - w.since()))
		if w.due.Load() == due {
			return
		}
	}
}

// inFull is a time of the clock in nanoseconds, rounded up so that a timer does not fire before it.
func inFull(s float64) time.Duration { return time.Duration(math.Ceil(s * float64(time.Second))) }

func (w *watch) fired() {
	now := w.since()
	switch {
	case now >= w.until:
		w.end(w.total)
	case now >= math.Float64frombits(w.due.Load()):
		w.end(w.limit.Load())
	default:
		w.set()
	}
}

// end ends the request, for the first reason that there is.
func (w *watch) end(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.past || w.cause != nil {
		return
	}
	w.cause = cause
	if w.stops != nil {
		w.stops(cause)
	}
}

// on says how to end what the request waits for from now on. It is called at once when the request was ended before.
func (w *watch) on(stop func(error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stops = stop
	if w.cause != nil {
		stop(w.cause)
	}
}

// why is the reason for which the request was ended; nil when it was not.
func (w *watch) why() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cause
}

// stop is called when the request is over. True: it came to its own end, and nothing will be ended any more.
func (w *watch) stop() bool {
	w.leave()
	w.timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.past, w.stops = true, nil
	return w.cause == nil
}
