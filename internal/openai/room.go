package openai

import (
	"fmt"
	"sync/atomic"

	"github.com/benchgate/benchgate/internal/bench"
)

const (
	// mostHeld is how many bytes the unfinished events of all answers at hand may hold together. One event may have maxEvent,
	// but a server that sends such to every one of a thousand requests must not take the machine's memory.
	mostHeld = 256 << 20
	// leastHeld is what one answer may hold without being counted.
	leastHeld = 64 << 10
)

// room counts what the unfinished events of a client's answers hold, in bytes.
type room struct {
	most int64 // that they may hold
	held atomic.Int64
}

// share is what one answer holds of a room.
type share struct {
	room *room
	held int64
}

// hold says that the answer now holds so many bytes. False: that is more than there is room for.
func (s *share) hold(bytes int) bool {
	held := int64(bytes)
	if held <= leastHeld {
		held = 0
	}
	if held == s.held {
		return true
	}
	all := s.room.held.Add(held - s.held)
	grown := held > s.held
	s.held = held
	return !grown || all <= s.room.most
}

// free is called when the answer is over.
func (s *share) free() {
	s.room.held.Add(-s.held)
	s.held = 0
}

func (s *share) crowded() *failure {
	return &failure{bench.Malformed, fmt.Sprintf("the unfinished events of all answers at hand are longer than %d MiB", s.room.most>>20)}
}
