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
	Began    time.Time // it had a slot, and the work on it began; zero: never
	First    time.Time // just before the first token was written; zero: never
	Last     time.Time // just before the latest token was written; zero: never
	Tokens   int       // written so far
	Ended    bool      // all that was to be written is
}

// keptRecords bounds what a server that nobody drains remembers.
const keptRecords = 1 << 16

// recorder keeps the records, and their times in sum for those who ask for metrics.
type recorder struct {
	mu         sync.Mutex
	records    []*Record
	ttft, tpot histogram
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

func (r *recorder) began(rec *Record, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec.Began = at
}

// wrote notes n more tokens. It comes before the write, so that a client that has a token finds it recorded.
func (r *recorder) wrote(rec *Record, n int) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec.First.IsZero() {
		rec.First = now
		r.ttft.add(now.Sub(rec.Received).Seconds())
	}
	rec.Last = now
	rec.Tokens += n
}

// ended notes the end of a generation, once. True: it was not noted before.
func (r *recorder) ended(rec *Record) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec.Ended {
		return false
	}
	rec.Ended = true
	if rec.Tokens > 1 {
		r.tpot.add(rec.Last.Sub(rec.First).Seconds() / float64(rec.Tokens-1))
	}
	return true
}

func (r *recorder) histograms() (ttft, tpot histogram) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ttft, r.tpot
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
