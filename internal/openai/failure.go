package openai

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/benchgate/benchgate/internal/bench"
)

// failure is how a request failed. The message is raw: it is cleaned when it is put into a Request.
type failure struct {
	class   bench.Class
	message string
}

// classify names an error of opening a connection, of sending on it or of reading from it. Cause is why the request was
// ended by ourselves; nil when it was not.
func classify(cause, err error) *failure {
	var limit *limitError
	if errors.As(cause, &limit) || errors.As(err, &limit) {
		return &failure{limit.class, limit.Error()}
	}
	if cause != nil {
		return &failure{bench.Canceled, "stopped before the answer was complete"}
	}
	var at *stage
	if errors.As(err, &at) {
		return opening(at)
	}
	var link *net.OpError
	switch {
	case errors.As(err, &link) && (link.Op == "remote error" || link.Op == "local error"):
		// So crypto/tls names alerts; with TLS 1.3 a server may refuse a client after the handshake.
		return &failure{bench.TLS, "TLS: " + err.Error()}
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return &failure{bench.Reset, "the server broke the connection: " + err.Error()}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &failure{bench.Reset, "the server closed the connection in the middle of its answer"}
	case isProtocol(err):
		return &failure{bench.Malformed, "not HTTP as it should be: " + err.Error()}
	}
	return &failure{bench.Other, err.Error()}
}

// opening names an error of opening a connection.
func opening(at *stage) *failure {
	var name *net.DNSError
	var late net.Error
	switch {
	case at.tls:
		return &failure{bench.TLS, "TLS handshake: " + handshake(at.err)}
	case errors.As(at.err, &name):
		return &failure{bench.DNS, at.err.Error()}
	case errors.As(at.err, &late) && late.Timeout():
		return &failure{bench.ConnTimeout, at.err.Error()}
	}
	return &failure{bench.Refused, at.err.Error()}
}

func handshake(err error) string {
	var plain tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &plain):
		return "the server does not speak TLS: try http:// in target.base_url"
	case errors.As(err, &unknown):
		return err.Error() + ": add its authority to the system's certificates, or set SSL_CERT_FILE"
	}
	return err.Error()
}

// isProtocol reports whether net/http could not read an answer. It has no error values for that, only words.
func isProtocol(err error) bool {
	text := err.Error()
	for _, words := range []string{"malformed", "chunk", "response headers exceeded", "transfer encoding", "Content-Length", "invalid header", "bad Content"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
