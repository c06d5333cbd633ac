package sim

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// stream is one streamed answer under way.
type stream struct {
	server     *Server
	answer     *answer
	record     *Record
	wire       *wire
	writer     http.ResponseWriter
	ctx        context.Context
	head, data []byte
	halved     bool
}

func (st *stream) open() error {
	st.head = st.answer.head()
	if err := st.wire.open(); err != nil {
		return err
	}
	if st.server.fault.arrive != nil {
		return st.broken(st.server.fault.arrive(st))
	}
	return nil
}

// tokens sends the event that carries these tokens.
func (st *stream) tokens(from, until int) error {
	f := st.server.fault
	if f.halfway != nil && !st.halved && until > st.answer.length/2 {
		st.halved = true
		if err := f.halfway(st); err != nil {
			return err
		}
	}
	if f.each != nil {
		if err := f.each(st); err != nil {
			return err
		}
	}
	a, finish := st.answer, ""
	last := until == a.length
	if last && !a.wire.finishApart {
		finish = a.finish
	}
	st.data = a.choice(append(st.data[:0], st.head...), from, until, finish)
	st.data = st.finish(last)
	st.server.wrote(st.record, until-from)
	return st.wire.event(st.data)
}

// finish closes the event under way, with usage where that belongs in the last.
func (st *stream) finish(last bool) []byte {
	if last && st.answer.usage && st.answer.wire.usage == usageInLast {
		return append(append(append(st.data, `],"usage":`...), st.usage()...), '}')
	}
	return append(st.data, st.answer.tail()...)
}

func (st *stream) usage() []byte {
	u, _ := json.Marshal(st.answer.account(st.answer.length)) // numbers only
	return u
}

// choices sends an event with these choices.
func (st *stream) choices(c string) error {
	return st.wire.event(append(append(append([]byte(nil), st.head...), c...), st.answer.tail()...))
}

// close sends what follows the last token.
func (st *stream) close() error {
	a := st.answer
	if a.wire.finishApart || a.length == 0 {
		st.data = a.choice(append(st.data[:0], st.head...), a.length, a.length, a.finish)
		if err := st.wire.event(st.finish(false)); err != nil {
			return err
		}
	}
	if a.usage && a.wire.usage == usageApart {
		if err := st.sendUsage(); err != nil {
			return err
		}
	}
	if !a.wire.noDone {
		if err := st.wire.event([]byte("[DONE]")); err != nil {
			return err
		}
	}
	return st.wire.close()
}

func (st *stream) sendUsage() error {
	if st.answer.wire.usageDelay > 0 {
		t := newAlarm(st.ctx, st.server.dead)
		defer t.stop()
		if err := t.until(time.Now().Add(st.answer.wire.usageDelay)); err != nil {
			return err
		}
	}
	return st.wire.event(append(append(append(append([]byte(nil), st.head...), `],"usage":`...), st.usage()...), '}'))
}

// broken ends a stream early: a clean end still sends what was held back.
func (st *stream) broken(err error) error {
	if errors.Is(err, errEnd) {
		return errors.Join(err, st.wire.close())
	}
	return err
}
