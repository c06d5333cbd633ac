package sim

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

var (
	// errEnd ends a stream as if it were complete: the body closes in order.
	errEnd = errors.New("end of stream")
	// errBreak breaks the connection inside the body.
	errBreak = errors.New("broken connection")
)

// generate answers a request for a generation.
func (s *Server) generate(w http.ResponseWriter, r *http.Request, chat bool) {
	received := time.Now()
	q, err := s.request(w, r, chat)
	if err == nil && s.fault.refuse != nil {
		err = s.fault.refuse(s, r, q)
	}
	if err != nil {
		s.counts.failed.Add(1)
	} else {
		err = s.serve(w, r, q, received)
	}
	var refused apiError
	switch {
	case errors.As(err, &refused):
		s.decline(w, refused)
	case errors.Is(err, errBreak):
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) decline(w http.ResponseWriter, e apiError) {
	if s.fault.decline != nil {
		s.fault.decline(w, e)
		return
	}
	refuse(w, e)
}

// serve plays the answer and counts it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, q request, received time.Time) error {
	a := s.answer(q)
	s.recall(&a)
	if s.fault.coldFor > 0 && s.begun.Add(1) <= s.fault.coldFor {
		a.faster = 10
	}
	if s.fault.shape != nil {
		s.fault.shape(&a)
	}
	s.counts.prompt.Add(int64(q.prompt.tokens()))
	rec := s.records.open(Record{Request: r.Header.Get("X-Request-Id"), Prompt: q.prompt.key, Received: received})
	err := s.respond(w, r, &a, rec)
	switch {
	case err == nil, errors.Is(err, errEnd):
		s.ended(rec)
	case !rec.Ended:
		s.counts.failed.Add(1)
	}
	return err
}

// respond plays the answer: as a stream or whole.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, a *answer, rec *Record) error {
	if !a.streaming || s.fault.unstreamed {
		written := func(from, until int) error { s.wrote(rec, until-from, until == a.length); return nil }
		if err := s.play(r.Context(), a, rec, written); err != nil {
			return err
		}
		whole := a.whole()
		if a.tells != "" {
			whole[a.tells] = rec.told(a)
		}
		answerJSON(w, http.StatusOK, whole)
		return nil
	}
	st := &stream{server: s, answer: a, record: rec, wire: newWire(w, r, a.wire), writer: w, ctx: r.Context()}
	if err := st.open(); err != nil {
		return err
	}
	if err := s.play(r.Context(), a, rec, st.tokens); err != nil {
		return st.broken(err)
	}
	s.ended(rec)
	return st.close()
}

// wrote notes n more tokens before they are written, and with the last of them the end: a client that has the whole answer
// finds it counted.
func (s *Server) wrote(rec *Record, n int, last bool) {
	s.records.wrote(rec, n)
	s.counts.generated.Add(int64(n))
	if last {
		s.ended(rec)
	}
}

func (s *Server) ended(rec *Record) {
	if s.records.ended(rec) {
		s.counts.ok.Add(1)
	}
}

// play takes a slot and calls emit whenever tokens are due. Moments lie on a schedule of their own: a late token makes
// no later one late. The slot is free before the last token leaves, so that a client that answers it with its next
// request does not meet its own shadow in the queue.
func (s *Server) play(ctx context.Context, a *answer, rec *Record, emit func(from, until int) error) error {
	waited, err := s.slots.take(ctx)
	if err != nil {
		return err
	}
	release := sync.OnceFunc(s.slots.give)
	defer release()
	start := rec.Received
	if waited {
		start = time.Now()
	}
	s.records.began(rec, start)
	p := s.options.pace(a.prompt)
	load := func() float64 { return s.options.load(s.slots.busy()) }
	due := start.Add(scale(p.prefill, a.faster*load()))
	t := newAlarm(ctx, s.dead)
	defer t.stop()
	from := 0
	for i := range a.length {
		if err := t.until(due); err != nil {
			return err
		}
		last := i == a.length-1
		if last {
			release()
		}
		if last || (i+1)%a.perChunk == 0 {
			if err := emit(from, i+1); err != nil {
				return err
			}
			from = i + 1
		}
		due = due.Add(max(a.least, scale(p.token, load())))
	}
	if a.length == 0 {
		return t.until(due)
	}
	return nil
}

// asleep is the longest wait that nothing cuts short: so much later a stream whose client has left may notice it.
const asleep = 25 * time.Millisecond

// alarm waits for moments, with one timer for all of them. Short waits are slept through, which costs least; in a long one
// the end of the context sets the timer off, so that nothing else has to be waited on.
type alarm struct {
	ctx    context.Context
	dead   <-chan struct{}
	timer  *time.Timer
	forget func() bool
}

func newAlarm(ctx context.Context, dead <-chan struct{}) *alarm {
	t := time.NewTimer(time.Hour)
	return &alarm{ctx: ctx, dead: dead, timer: t, forget: context.AfterFunc(ctx, func() { t.Reset(0) })}
}

func (a *alarm) until(due time.Time) error {
	wait := time.Until(due)
	if wait <= 0 {
		return a.over()
	}
	if wait <= asleep {
		time.Sleep(wait)
		return a.over()
	}
	a.timer.Reset(wait)
	// A context that ends from here on sets the timer off after it was set; one that had ended before is seen here.
	if err := a.over(); err != nil {
		return err
	}
	<-a.timer.C
	return a.over()
}

// over says why nobody waits any more.
func (a *alarm) over() error {
	err := a.ctx.Err()
	if err == nil {
		return nil
	}
	select {
	case <-a.dead:
		return errBreak
	default:
		return err
	}
}

func (a *alarm) stop() {
	a.forget()
	a.timer.Stop()
}
