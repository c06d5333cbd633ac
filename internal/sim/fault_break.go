package sim

import (
	"net"
	"net/http"
	"strings"
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
			Fault:  Fault{"endless-line", "sends 32 MiB of one line, which never becomes an event"},
			arrive: endlessLine,
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

func endlessLine(st *stream) error {
	if err := st.wire.raw("data: "); err != nil {
		return err
	}
	block := strings.Repeat("x", 64<<10)
	for range 512 {
		if err := st.wire.raw(block); err != nil {
			return err
		}
	}
	return errEnd
}

func dieAfter(n int) func(*Server, *http.Request, request) error {
	return func(s *Server, _ *http.Request, _ request) error {
		if s.begun.Add(1) <= int64(n) {
			return nil
		}
		s.die()
		return errBreak
	}
}
