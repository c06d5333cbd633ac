package sim

import (
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	block  = 64 << 10
	flood  = 1 << 30          // bytes that stand for endless
	crawls = 50 * time.Second // for one token
)

// floods are faults that send too much, or for too long.
func floods() []fault {
	return []fault{
		{
			Fault:  Fault{"drip", "answers a stream by one byte a second, for ever"},
			arrive: drip,
		},
		{
			Fault:  Fault{"endless-pings", "sends a comment every second instead of tokens, for ever"},
			arrive: func(st *stream) error { return st.every(time.Second, ": ping\n\n") },
		},
		{
			Fault: Fault{"crawl", "takes 50 s for each token and does not stop at the limit"},
			shape: func(a *answer) { a.length, a.finish, a.least = 4*a.limit+16, "stop", crawls },
		},
		{
			Fault: Fault{"endless-reasoning", "thinks for a million tokens, whatever the limit"},
			shape: func(a *answer) {
				a.length = 1 << 20
				if a.chat {
					a.thoughts, a.thoughtsIn = a.length, "reasoning_content"
				}
			},
		},
		{
			Fault:  Fault{"endless-line", "sends 32 MiB of one line, which never becomes an event"},
			arrive: endlessLine,
		},
		{
			Fault:  Fault{"garbage", "sends 1 GiB of random bytes as a stream"},
			arrive: garbage,
		},
		{
			Fault: Fault{"endless-headers", "sends 1 GiB of headers"},
			refuse: func(*Server, *http.Request, request) error {
				return apiError{status: http.StatusOK, message: "endless headers"}
			},
			decline: endlessHeaders,
		},
		{
			Fault: Fault{"endless-error", "answers 500 with 1 GiB of text"},
			refuse: func(*Server, *http.Request, request) error {
				return apiError{status: http.StatusInternalServerError, message: "simulated failure "}
			},
			decline: endlessError,
		},
	}
}

func drip(st *stream) error {
	for _, b := range "data: " {
		if err := st.pause(time.Second); err != nil {
			return err
		}
		if err := st.wire.raw(string(b)); err != nil {
			return err
		}
	}
	return st.every(time.Second, "x")
}

// every sends a text again and again until the client leaves.
func (st *stream) every(d time.Duration, text string) error {
	for {
		if err := st.pause(d); err != nil {
			return err
		}
		if err := st.wire.raw(text); err != nil {
			return err
		}
	}
}

func (st *stream) pause(d time.Duration) error {
	t := newAlarm(st.ctx, st.server.dead)
	defer t.stop()
	return t.until(time.Now().Add(d))
}

func endlessLine(st *stream) error {
	if err := st.wire.raw("data: "); err != nil {
		return err
	}
	x := strings.Repeat("x", block)
	for range 512 {
		if err := st.wire.raw(x); err != nil {
			return err
		}
	}
	return errEnd
}

func garbage(st *stream) error {
	b := make([]byte, block)
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], mix(uint64(i)))
	}
	b[0] = 0 // never the beginning of JSON
	for sent := 0; sent < flood; sent += block {
		if err := st.wire.raw(string(b)); err != nil {
			return err
		}
	}
	return errEnd
}

func endlessHeaders(w http.ResponseWriter, e apiError) {
	if e.status != http.StatusOK {
		refuse(w, e)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // not a connection of its own, such as HTTP/2
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // nobody else ends this connection
	_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
	line := "X-Pad: " + strings.Repeat("x", 1<<10) + "\r\n"
	for sent := 0; err == nil && sent < flood; sent += len(line) {
		_, err = io.WriteString(conn, line)
	}
}

func endlessError(w http.ResponseWriter, e apiError) {
	if e.status != http.StatusInternalServerError {
		refuse(w, e)
		return
	}
	w.WriteHeader(e.status)
	text := strings.Repeat(e.message, block/len(e.message))
	for sent := 0; sent < flood; sent += len(text) {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}
