package sim

import (
	"errors"
	"net"
	"net/http"
	"time"
)

// breaks are faults that end an answer, or the server, before its time.
func breaks(n int) []fault {
	return []fault{
		{
			Fault:  Fault{"error-first", "sends an error object as the first event of a 200 stream"},
			arrive: errorEvent,
		},
		{
			Fault:   Fault{"error-midstream", "sends an error object in the middle of a 200 stream, then [DONE]"},
			halfway: errorEvent,
		},
		{
			Fault:   Fault{"truncate", "ends the body in order in the middle, without a finish reason"},
			halfway: func(*stream) error { return errEnd },
		},
		{
			Fault:   Fault{"cut", "closes the connection in the middle of the body"},
			halfway: func(*stream) error { return errBreak },
		},
		{
			Fault:   Fault{"cut-in-event", "closes the connection in the middle of an event"},
			halfway: cutInEvent,
		},
		{
			Fault:   Fault{"reset", "resets the connection (TCP RST) in the middle of the body"},
			halfway: reset,
		},
		{
			Fault:   Fault{"stall", "falls silent in the middle, until the client goes away"},
			halfway: stall,
		},
		{
			Fault:  Fault{"hang", "accepts a stream and never sends an event"},
			arrive: stall,
		},
		{
			Fault: Fault{"empty", "finishes without one token"},
			shape: func(a *answer) { a.length, a.finish = 0, "stop" },
		},
		{
			Fault:   Fault{"not-json", "sends an event that is no JSON in the middle"},
			halfway: func(st *stream) error { return st.wire.event([]byte(`{"choices":[{"index":0,`)) },
		},
		{
			Fault: Fault{"error-words", "sends an error event in words, in the middle of a 200 stream"},
			halfway: func(st *stream) error {
				return errors.Join(st.wire.raw("event: error\ndata: simulated failure in words\n\n"), errEnd)
			},
		},
		{
			Fault:   Fault{"gives-up", "ends in the middle with finish_reason abort, then [DONE]"},
			halfway: giveUp,
		},
		{
			Fault:   Fault{"done-early", "sends [DONE] in the middle, as a gateway does whose server has died"},
			halfway: func(st *stream) error { return errors.Join(st.wire.event([]byte("[DONE]")), errEnd) },
		},
		{
			Fault:   Fault{"wrong-length", "promises a gigabyte by Content-Length and ends in the middle"},
			shape:   func(a *answer) { a.wire.promised = "1000000000" },
			halfway: func(*stream) error { return errEnd },
		},
		{
			Fault:    Fault{"finish-hangs", "falls silent behind the finish reason: no usage, no [DONE], no end"},
			finished: stall,
		},
		{
			Fault: Fault{"stays-open", "sends everything and never closes the stream"},
			after: func(st *stream) error { _ = stall(st); return nil },
		},
		{
			Fault:  Fault{"die-after-N", "answers N generations, then closes every connection and stops listening"},
			refuse: dieAfter(n),
		},
	}
}

func errorEvent(st *stream) error {
	if err := st.wire.event([]byte(`{"error":{"message":"simulated failure in the stream","type":"server_error","param":null,"code":500}}`)); err != nil {
		return err
	}
	if err := st.wire.event([]byte("[DONE]")); err != nil {
		return err
	}
	return errEnd
}

func cutInEvent(st *stream) error {
	if err := st.wire.raw(`data: {"choices":[{"index":0,"del`); err != nil {
		return err
	}
	return errBreak
}

// reset drops the connection with unsent data discarded, which TCP announces by a RST.
func reset(st *stream) error {
	conn, _, err := st.wire.http.Hijack()
	if err != nil {
		return errBreak // not a connection of its own, such as HTTP/2
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
	return errBreak
}

func stall(st *stream) error {
	select {
	case <-st.ctx.Done():
		return st.ctx.Err()
	case <-st.server.dead:
		return errBreak
	}
}

func giveUp(st *stream) error {
	last := `{"index":0,"delta":{},"text":"","finish_reason":"abort"}`
	return errors.Join(st.choices(last), st.wire.event([]byte("[DONE]")), errEnd)
}

func dieAfter(n int) func(*Server, *http.Request, request) error {
	return func(s *Server, r *http.Request, _ request) error {
		if s.begun.Add(1) <= int64(n) {
			return nil
		}
		s.die()
		// The listener closes first, then the connections: a client that comes back at once is refused.
		select {
		case <-r.Context().Done():
		case <-time.After(time.Second):
		}
		return errBreak
	}
}
