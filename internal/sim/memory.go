package sim

import (
	"context"
	"fmt"
	"net"
	"strconv"
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

// Ports are servers in memory by the ports of one machine.
type Ports map[int]*Memory

// Dial connects to the server at the port of the address. The connection knows where it leads, so a client may dial that again.
func (p Ports) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	_, name, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(name)
	m, ok := p[port]
	if err != nil || !ok {
		return nil, fmt.Errorf("no server in memory is at %q", address)
	}
	conn, err := m.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return led{conn, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}}, nil
}

// led is a connection to an address.
type led struct {
	net.Conn
	to net.Addr
}

func (l led) RemoteAddr() net.Addr { return l.to }
