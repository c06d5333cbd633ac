//go:build unix

package openai

import (
	"errors"
	"net"
	"syscall"
)

// come takes the bytes that have come on a connection, without waiting for any, or looks whether there are some. Ended says
// that the other side has closed. Where a connection cannot be asked, none have.
func come(c net.Conn, b []byte, look bool) (n int, ended bool, err error) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return 0, false, nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, false, err
	}
	flags := syscall.MSG_DONTWAIT
	if look {
		flags |= syscall.MSG_PEEK
	}
	var got error
	err = raw.Read(func(fd uintptr) bool {
		n, _, got = syscall.Recvfrom(int(fd), b, flags)
		return true
	})
	switch {
	case err != nil:
		return 0, false, err
	case errors.Is(got, syscall.EAGAIN), errors.Is(got, syscall.EINTR):
		return 0, false, nil
	case got != nil:
		return 0, false, got
	}
	return n, n == 0, nil
}
