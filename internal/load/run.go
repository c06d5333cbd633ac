package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// Run plays the pass and returns its requests in the order of their index, and the seconds from the start of the schedule
// to the end of the last request.
//
// With an error the requests are those of a part: all that had been sent, and those that were then in flight have the
// class bench.Canceled. A request that was never sent is not there. The error wraps ErrAborted when a rule of p.Abort ended
// the run, and the context's cause when that did.
func Run(ctx context.Context, d Doer, p Pass) ([]bench.Request, float64, error) {
	if err := p.check(); err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &runner{doer: d, pass: p, start: time.Now(), ended: make(chan *bench.Request, p.room())}
	go func() {
		if p.Load.Open() {
			r.open(ctx)
		} else {
			r.closed(ctx)
		}
		close(r.ended)
	}()
	requests, duration := r.collect(cancel)
	return requests, duration, r.verdict(ctx, requests, duration)
}

// leastRoom is the room for ended requests where nobody knows how many there will be.
const leastRoom = 1 << 16

// room is how many ended requests may wait for OnRequest: all, so that a slow one holds up no worker.
func (p Pass) room() int {
	if p.Load.MinDuration > 0 {
		return max(leastRoom, p.Load.Requests)
	}
	return p.Load.Requests
}

type runner struct {
	doer  Doer
	pass  Pass
	start time.Time
	ended chan *bench.Request // see room
}

// since is the run's clock. time.Since reads the monotonic one: a step of the wall clock moves nothing.
func (r *runner) since() float64 { return time.Since(r.start).Seconds() }

// open sends each request at its time and never waits for an answer. Times are counted from the start, not from the
// request before, so that being late once delays no other.
func (r *runner) open(ctx context.Context) {
	l := r.pass.Load
	slots := newSlots(l.MaxConcurrency)
	var inFlight sync.WaitGroup
	defer inFlight.Wait()
	p := newPacer(r.start)
	for i, at := range Arrivals(l.Seed, l.Rate, l.Burstiness, l.Requests) {
		if !p.wait(ctx, at) {
			return
		}
		inFlight.Go(func() {
			if !slots.take(ctx) {
				return
			}
			defer slots.free()
			r.send(ctx, i, at)
		})
	}
}

// closed keeps as many requests in flight as there are slots. A request is scheduled for the moment its slot fell free. None
// is sent once all are and the time is over; those in flight then end in peace.
func (r *runner) closed(ctx context.Context) {
	l := r.pass.Load
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(l.Concurrency, l.Requests) {
		workers.Go(func() {
			for scheduled := 0.0; ctx.Err() == nil; scheduled = r.since() {
				i := int(next.Add(1)) - 1
				if i >= l.Requests && r.since() >= l.MinDuration || i >= max(l.Requests, MostRequests) {
					return
				}
				r.send(ctx, i, scheduled)
			}
		})
	}
	workers.Wait()
}

// send plays one request. Whatever the Doer says, its index and schedule are ours.
func (r *runner) send(ctx context.Context, i int, scheduled float64) {
	if ctx.Err() != nil {
		return
	}
	sent := r.since()
	q := r.doer.Do(ctx, r.pass.call(i, scheduled), r.since)
	q.Index, q.Scheduled = i, scheduled
	if q.Sent == 0 {
		q.Sent = sent
	}
	if q.End == 0 {
		q.End = r.since()
	}
	r.ended <- &q
}

// collect gathers the requests, applies the abort rules and returns when all is over.
func (r *runner) collect(cancel context.CancelCauseFunc) ([]bench.Request, float64) {
	requests := make([]bench.Request, 0, r.pass.Load.Requests)
	rule := abortRule{Abort: r.pass.Abort, planned: r.pass.Load.Requests, more: r.pass.Load.MinDuration > 0}
	duration := 0.0
	for q := range r.ended {
		requests = append(requests, *q)
		duration = max(duration, q.End)
		if reason := rule.add(*q); reason != nil {
			cancel(reason)
		}
		if r.pass.OnRequest != nil {
			r.pass.OnRequest(*q)
		}
	}
	slices.SortFunc(requests, func(a, b bench.Request) int { return cmp.Compare(a.Index, b.Index) })
	return requests, duration
}

// verdict says how the run ended. A run whose requests all came to an end of their own is whole, even when the context
// ended just then.
func (r *runner) verdict(ctx context.Context, requests []bench.Request, duration float64) error {
	cause := context.Cause(ctx)
	whole := len(requests) >= r.pass.Load.Requests && duration >= r.pass.Load.MinDuration &&
		!slices.ContainsFunc(requests, func(q bench.Request) bool { return q.Class == bench.Canceled })
	switch {
	case cause == nil:
		return nil
	case errors.Is(cause, ErrAborted):
		return cause
	case whole:
		return nil
	default:
		return fmt.Errorf("run interrupted after %d of %d requests: %w", len(requests), r.pass.Load.Requests, cause)
	}
}
