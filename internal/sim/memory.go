package sim

import (
	"context"
	"net"
	"sync"
)

// Memory is a listener whose connections are in memory, so that a server on it can live in virtual time. Make it by
// NewMemory.
type Memory struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// NewMemory makes a listener that nobody has called yet.
func NewMemory() *Memory {
	m := &Memory{conns: make(chan net.Conn), closed: make(chan struct{})}
	m.close = sync.OnceFunc(func() { close(m.closed) })
	return m
}

// Accept waits for the next Dial.
func (m *Memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and every later Dial.
func (m *Memory) Close() error {
	m.close()
	return nil
}

// Addr is a loopback address that nothing listens on.
func (m *Memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// Dial connects to whoever accepts, whatever address is asked for.
func (m *Memory) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
