package sim

import (
	"net"
	"slices"
	"sync"
	"time"
)

// lateListener accepts connections on which what the server writes goes out later by a fixed time.
type lateListener struct {
	net.Listener
	by time.Duration
}

// Accept waits for the next connection.
func (l lateListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	late := &lateConn{
		Conn: c, by: l.by, queue: make(chan lateBytes, 1<<10), closing: make(chan struct{}), gone: make(chan struct{}),
	}
	late.end = sync.OnceFunc(func() { close(late.closing) })
	go late.deliver()
	return late, nil
}

// lateConn is a connection whose writes return at once and go out later. What is under way when it is closed still goes out.
type lateConn struct {
	net.Conn
	by      time.Duration
	queue   chan lateBytes
	closing chan struct{}
	end     func() // closes closing, once
	gone    chan struct{}
}

type lateBytes struct {
	due  time.Time
	data []byte
}

// Write waits only where very much is under way.
func (c *lateConn) Write(b []byte) (int, error) {
	select {
	case <-c.closing:
		return 0, net.ErrClosed
	case <-c.gone:
		return 0, net.ErrClosed
	case c.queue <- lateBytes{time.Now().Add(c.by), slices.Clone(b)}:
		return len(b), nil
	}
}

// Close lets a client that does not read hold what is under way for a second more.
func (c *lateConn) Close() error {
	c.end()
	return c.Conn.SetWriteDeadline(time.Now().Add(c.by + time.Second))
}

// deliver writes what is due, until the connection is closed and nothing is under way.
func (c *lateConn) deliver() {
	defer c.Conn.Close()
	defer close(c.gone)
	for {
		var next lateBytes
		select {
		case next = <-c.queue:
		default:
			select {
			case next = <-c.queue:
			case <-c.closing:
				return
			}
		}
		time.Sleep(time.Until(next.due))
		if _, err := c.Conn.Write(next.data); err != nil {
			return
		}
	}
}
