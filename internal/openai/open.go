package openai

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
)

// isOpen reports whether an idle connection is open as far as this machine knows, and nothing that nobody asked for waits on
// it. Where that cannot be seen it counts as open.
func isOpen(c net.Conn) bool {
	var b [1]byte
	secure, isTLS := c.(*tls.Conn)
	if !isTLS {
		n, ended, err := come(c, b[:], true)
		return n == 0 && !ended && err == nil
	}
	// Tickets for later sessions may wait there, which is right, or an alert.
	below, ok := secure.NetConn().(*sock)
	if !ok {
		return true
	}
	below.peeking = true
	_, err := secure.Read(b[:])
	below.peeking = false
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// sock is the connection below TLS. While it peeks, it does not wait for bytes: a read finds what has come, or times out.
type sock struct {
	net.Conn
	peeking bool
}

func (s *sock) Read(b []byte) (int, error) {
	if !s.peeking {
		return s.Conn.Read(b)
	}
	n, ended, err := come(s.Conn, b, false)
	switch {
	case err != nil:
		return 0, err
	case ended:
		return 0, net.ErrClosed
	case n == 0:
		return 0, os.ErrDeadlineExceeded
	}
	return n, nil
}
