package openai

import (
	"sync"
	"time"
)

// spare keeps the connections that no request is on.
type spare struct {
	most int

	mu sync.Mutex
	// used were opened by or for an earlier request, the one used last behind; early were opened ahead, the oldest in front.
	used, early []*conn
	expire      *time.Timer
}

// take takes a connection that is open as far as can be known, nil when there is none.
func (s *spare) take() *conn {
	for {
		c := s.next()
		if c == nil || time.Since(c.known) < keepFor && isOpen(c.Conn) {
			return c
		}
		c.Close()
	}
}

// next is the connection used last; before one was used, the oldest of those opened ahead.
func (s *spare) next() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.used); n > 0 {
		c := s.used[n-1]
		s.used = s.used[:n-1]
		return c
	}
	if len(s.early) > 0 {
		c := s.early[0]
		s.early = s.early[1:]
		return c
	}
	return nil
}

// put keeps a connection whose request is over.
func (s *spare) put(c *conn) {
	c.known = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.used) >= s.most {
		c.Close()
		return
	}
	s.used = append(s.used, c)
	s.wake()
}

// ahead keeps a connection that was opened for requests to come.
func (s *spare) ahead(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.early = append(s.early, c)
	s.wake()
}

// wake sees to it that what is not taken is closed in time.
func (s *spare) wake() {
	if s.expire == nil {
		s.expire = time.AfterFunc(keepFor, s.sweep)
	}
}

// sweep closes what was not taken in time.
func (s *spare) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used, s.early, s.expire = young(s.used), young(s.early), nil
	if len(s.used)+len(s.early) > 0 {
		s.expire = time.AfterFunc(keepFor/4, s.sweep)
	}
}

// young closes what is older than it may become and returns the rest.
func young(all []*conn) []*conn {
	kept := all[:0]
	for _, c := range all {
		if time.Since(c.known) < keepFor {
			kept = append(kept, c)
		} else {
			c.Close()
		}
	}
	clear(all[len(kept):])
	return kept
}

// drop closes all.
func (s *spare) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range append(s.used, s.early...) {
		c.Close()
	}
	s.used, s.early = nil, nil
	if s.expire != nil {
		s.expire.Stop()
		s.expire = nil
	}
}
