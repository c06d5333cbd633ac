package load

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a Doer that takes its time and answers as told. It counts what it sees.
type server struct {
	takes func(openai.Call) time.Duration // nil: none
	class func(openai.Call) bench.Class   // nil: bench.OK

	mu       sync.Mutex
	inFlight int
	most     int // in flight at once
	calls    []openai.Call
}

func (s *server) Do(ctx context.Context, call openai.Call, since func() float64) bench.Request {
	s.enter(call)
	defer s.leave()
	q := bench.Request{Sent: since(), Class: bench.OK}
	if s.class != nil {
		q.Class = s.class(call)
	}
	if s.takes != nil {
		select {
		case <-time.After(s.takes(call)):
		case <-ctx.Done():
			q.Class = bench.Canceled
		}
	}
	q.End = since()
	return q
}

func (s *server) enter(call openai.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
	s.inFlight++
	s.most = max(s.most, s.inFlight)
}

func (s *server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
}

// always is a duration that does not depend on the call.
func always(d time.Duration) func(openai.Call) time.Duration {
	return func(openai.Call) time.Duration { return d }
}

// some prompts to send where nobody reads them.
func prompts(texts ...string) []openai.Prompt {
	var p []openai.Prompt
	for _, t := range texts {
		p = append(p, openai.Prompt{Text: t})
	}
	return p
}
