package sim

import (
	"net/http"
	"sync"
)

// cache remembers prompts, for the faults that have one.
type cache struct {
	mu   sync.Mutex
	keys map[uint64]bool
}

const keptPrompts = 1 << 16

// met says whether the key was here before, and remembers it.
func (c *cache) met(key uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys[key] {
		return true
	}
	if c.keys == nil || len(c.keys) >= keptPrompts {
		c.keys = map[uint64]bool{}
	}
	c.keys[key] = true
	return false
}

func (c *cache) empty() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = nil
}

// recall makes a repeated prompt cheap: all but its last token come from the cache.
func (s *Server) recall(a *answer) {
	key := a.prompt.key
	if s.fault.saltBlind {
		key = a.prompt.unsalted()
	}
	if !s.fault.caches || !s.seen.met(key) {
		return
	}
	a.cached, a.faster = a.prompt.tokens()-1, 0.1
	s.counts.cached.Add(int64(a.cached))
}

// reset empties the cache. vLLM has it at /reset_prefix_cache and SGLang at /flush_cache; both answer 200 with no or any words.
func (s *Server) reset(w http.ResponseWriter, _ *http.Request) {
	s.seen.empty()
	w.WriteHeader(http.StatusOK)
}
