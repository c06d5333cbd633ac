package sim

import (
	"slices"
	"sync"
	"time"
)

// Record is the server's own account of one generation: what a client's figures can be held against.
type Record struct {
	Request  string    // the client's X-Request-Id header; "" when it sent none
	Prompt   uint64    // see Key
	Received time.Time // the head of the request had been read
	First    time.Time // just before the first token was written; zero: never
	Last     time.Time // just before the latest token was written; zero: never
	Tokens   int       // written so far
}

// keptRecords bounds what a server that nobody drains remembers.
const keptRecords = 1 << 16

type recorder struct {
	mu      sync.Mutex
	records []*Record
}

func (r *recorder) open(rec Record) *Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.records) >= keptRecords {
		r.records = slices.Delete(r.records, 0, keptRecords/2)
	}
	r.records = append(r.records, &rec)
	return &rec
}

// wrote notes n more tokens. It comes before the write, so that a client that has a token finds it recorded.
func (r *recorder) wrote(rec *Record, n int) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec.First.IsZero() {
		rec.First = now
	}
	rec.Last = now
	rec.Tokens += n
}

// Drain returns the records in order of arrival, the latest 32,768 at least, and forgets them. A generation still under
// way is returned as far as it has come.
func (s *Server) Drain() []Record {
	r := &s.records
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Record, len(r.records))
	for i, rec := range r.records {
		out[i] = *rec
	}
	r.records = nil
	return out
}
