//go:build unix

package openai

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"
)

// isOpen reports whether an idle connection is open as far as this machine knows, and nothing that nobody asked for waits on
// it. Where that cannot be seen it counts as open.
func isOpen(c net.Conn) bool {
	secure, isTLS := c.(*tls.Conn)
	if isTLS {
		c = secure.NetConn()
	}
	sc, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	var b [1]byte
	var n int
	var peeked error
	err = raw.Read(func(fd uintptr) bool {
		n, _, peeked = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return true
	})
	switch {
	case err != nil:
		return false
	case peeked != nil:
		return errors.Is(peeked, syscall.EAGAIN) || errors.Is(peeked, syscall.EINTR)
	}
	return isTLS && n > 0 // tickets for later sessions
}
