package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/benchgate/benchgate/internal/config"
)

const portMark = "{port}"

// address is where the server is asked.
type address struct {
	base   string // base URL, with its port
	origin string // scheme, host and port
	host   string
	port   string
}

// resolve fills in the port: a free one for {port} in the base URL.
func resolve(t config.Target) (address, error) {
	base := t.BaseURL
	if strings.Contains(base, portMark) {
		port, err := freePort(hostOf(base))
		if err != nil {
			return address{}, err
		}
		base = strings.ReplaceAll(base, portMark, port)
	}
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		// The parser's error repeats the URL, and a URL may hold a password.
		return address{}, errors.New("target.base_url is not a URL with a host")
	}
	a := address{base: base, origin: u.Scheme + "://" + u.Host, host: u.Hostname(), port: u.Port()}
	if a.port == "" {
		a.port = map[string]string{"https": "443"}[u.Scheme]
	}
	if a.port == "" {
		a.port = "80"
	}
	return a, nil
}

func hostOf(base string) string {
	u, err := url.Parse(strings.ReplaceAll(base, portMark, "1"))
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// freePort asks the system for a port that nobody listens on.
func freePort(host string) (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil { // the host may be another machine's, or a name only a container knows
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// free returns nil when every address of the host refuses the port.
func (a address) free(ctx context.Context) error {
	served, err := a.served(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("look whether port %s is free: %w", a.port, err)
	case served:
		return hinted(
			"end that process, or write {port} in base_url and command, so that a free port is chosen at every start",
			"port %s is already served by another process", a.port)
	}
	return nil
}

// served says whether anybody accepts connections. The error means that it cannot be told.
func (a address) served(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	hosts, err := net.DefaultResolver.LookupHost(ctx, a.host)
	if err != nil {
		return false, err
	}
	for _, h := range hosts {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(h, a.port))
		if err == nil {
			c.Close()
			return true, nil
		}
		if !nobody(err) {
			return false, err
		}
	}
	return false, nil
}

// nobody tells errors of a connection that show that nobody listens: a refusal, or a family of addresses that this
// machine does not have.
func nobody(err error) bool {
	for _, is := range []syscall.Errno{
		syscall.ECONNREFUSED, syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT, syscall.ENETUNREACH, syscall.EHOSTUNREACH,
	} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}
