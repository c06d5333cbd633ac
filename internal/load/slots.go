package load

import "context"

// slots limits how many requests are in flight; a nil one does not. Who waits longest is served first.
type slots chan struct{}

func newSlots(n int) slots {
	if n < 1 {
		return nil
	}
	return make(slots, n)
}

// take waits for a slot; false when the context ended first.
func (s slots) take(ctx context.Context) bool {
	if s == nil {
		return true
	}
	select {
	case s <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s slots) free() {
	if s != nil {
		<-s
	}
}
