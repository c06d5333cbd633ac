package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
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
	st.data = append(st.data, st.head...)
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
	f := &st.server.fault
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
	if until <= a.unsent {
		st.server.counts.generated.Add(int64(until - from))
		return nil
	}
	if last && !a.wire.finishApart && !a.wire.finishEarly || from == 0 && a.wire.finishEarly {
		finish = a.finish
	}
	st.data = a.choice(st.data[:len(st.head)], from, until, finish)
	if a.twice {
		one := string(st.data[len(st.head):])
		st.data = append(append(st.data, ','), strings.Replace(one, `"index":0`, `"index":1`, 1)...)
	}
	st.server.wrote(st.record, until-from, last)
	st.data = st.finish(until)
	return st.wire.event(st.data)
}

// finish closes the event under way, with usage where that belongs to these tokens.
func (st *stream) finish(written int) []byte {
	place := st.answer.wire.usage
	if st.answer.usage && (place == usageInLast && written == st.answer.length || place == usageEach) {
		return append(append(append(st.data, `],"usage":`...), st.usage(written)...), '}')
	}
	st.data = append(st.data, st.answer.tail()...)
	if written == st.answer.length && !st.answer.usage && st.answer.tells == timings {
		return append(append(st.data[:len(st.data)-1], st.told()...), '}')
	}
	return st.data
}

// told is a member with the server's account of the answer, with the comma before it; empty where the server tells none.
func (st *stream) told() []byte {
	if st.answer.tells == "" {
		return nil
	}
	account, _ := json.Marshal(st.record.told(st.answer)) // numbers only
	return fmt.Appendf(nil, `,%q:%s`, st.answer.tells, account)
}

func (st *stream) usage(written int) []byte {
	u, _ := json.Marshal(st.answer.account(written)) // numbers only
	return u
}

// choices sends an event with these choices.
func (st *stream) choices(c string) error {
	return st.wire.event(append(append(append([]byte(nil), st.head...), c...), st.answer.tail()...))
}

// close sends what follows the last token.
func (st *stream) close() error {
	for _, next := range []func() error{st.hook(st.server.fault.finished), st.sendFinish, st.sendCount, st.sendDone, st.wire.close} {
		if err := next(); err != nil {
			return err
		}
	}
	return st.hook(st.server.fault.after)()
}

// hook is a step that a fault may take.
func (st *stream) hook(f func(*stream) error) func() error {
	return func() error {
		if f == nil {
			return nil
		}
		return f(st)
	}
}

// sendFinish sends the finish reason that no event with tokens carried, behind the usage where that is wanted.
func (st *stream) sendFinish() error {
	a := st.answer
	if !a.wire.finishApart && a.length > 0 {
		return nil
	}
	if a.usage && a.wire.usage == usageBeforeFinish {
		if err := st.sendUsage(); err != nil {
			return err
		}
	}
	st.data = a.choice(st.data[:len(st.head)], a.length, a.length, a.finish)
	return st.wire.event(append(st.data, a.tail()...))
}

func (st *stream) sendCount() error {
	if place := st.answer.wire.usage; st.answer.usage && (place == usageApart || place == usageEach) {
		return st.sendUsage()
	}
	return nil
}

func (st *stream) sendDone() error {
	if st.answer.wire.noDone {
		return nil
	}
	return st.wire.event([]byte("[DONE]"))
}

func (st *stream) sendUsage() error {
	if st.answer.wire.usageDelay > 0 {
		t := newAlarm(st.ctx, st.server.dead)
		defer t.stop()
		if err := t.until(time.Now().Add(st.answer.wire.usageDelay)); err != nil {
			return err
		}
	}
	return st.wire.event(fmt.Appendf(nil, `%s],"usage":%s%s}`, st.head, st.usage(st.answer.length), st.told()))
}

// broken ends a stream early: a clean end still sends what was held back.
func (st *stream) broken(err error) error {
	if errors.Is(err, errEnd) {
		return errors.Join(err, st.wire.close())
	}
	return err
}
