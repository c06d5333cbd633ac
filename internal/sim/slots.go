package sim

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// slots hands out places to work, first come first served.
type slots struct {
	mu      sync.Mutex
	free    int
	queue   []chan struct{}
	working atomic.Int64
}

func newSlots(n int) *slots { return &slots{free: n} }

// take waits for a place, and says whether it had to wait. The error is the context's.
func (s *slots) take(ctx context.Context) (waited bool, err error) {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.working.Add(1)
		s.mu.Unlock()
		return false, nil
	}
	turn := make(chan struct{})
	s.queue = append(s.queue, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return true, nil
	case <-ctx.Done():
		s.leave(turn)
		return true, ctx.Err()
	}
}

// leave gives up waiting; when the turn has come meanwhile, it goes to the next.
func (s *slots) leave(turn chan struct{}) {
	s.mu.Lock()
	i := slices.Index(s.queue, turn)
	if i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		s.give()
	}
}

// give returns a place: to the longest waiting, if any.
func (s *slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		s.free++
		s.working.Add(-1)
		return
	}
	close(s.queue[0])
	s.queue = s.queue[1:]
}

func (s *slots) busy() int { return int(s.working.Load()) }

func (s *slots) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}
