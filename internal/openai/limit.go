package openai

import (
	"context"
	"fmt"
	"sync"
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

// watch cancels a request whose phase, or whole, takes too long. http.Client.Timeout has one limit for everything.
type watch struct {
	cancel context.CancelCauseFunc
	total  *time.Timer

	mu    sync.Mutex
	phase *time.Timer
	why   *limitError // of the running phase
}

// newWatch starts the total limit. Stop it when the request is over.
func newWatch(ctx context.Context, total time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{cancel: cancel}
	w.total = time.AfterFunc(total, func() { cancel(totalTimeout(total)) })
	w.phase = time.AfterFunc(total, w.expired)
	w.phase.Stop()
	return ctx, w
}

func (w *watch) expired() {
	w.mu.Lock()
	why := w.why
	w.mu.Unlock()
	if why != nil {
		w.cancel(why)
	}
}

// enter begins a phase with its limit; the one before it is over.
func (w *watch) enter(limit *limitError) {
	w.mu.Lock()
	w.why = limit
	w.mu.Unlock()
	w.phase.Reset(limit.limit)
}

func (w *watch) stop() {
	w.phase.Stop()
	w.total.Stop()
	w.cancel(nil)
}
