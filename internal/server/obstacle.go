package server

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"syscall"

	"github.com/benchgate/benchgate/internal/openai"
)

// patience is the hint of a wait in which nothing was wrong but that it lasted.
const patience = "see the server's log; if it only needs longer, raise target.ready.within"

// standsAlone is the hint where a server is awaited that somebody else starts.
const standsAlone = "target.command is not set, so benchgate starts no server: start it, or set target.command"

// obstacle says why the ready path has not answered 200, and what to do about it if more than time will not mend it. An
// answer's Location stays unsaid: such addresses carry tickets. The names in a certificate, and a line that is no HTTP, are the
// server's own words.
func obstacle(res *http.Response, err error) (said, hint string) {
	if res != nil {
		return status(res.StatusCode), advice(res.StatusCode)
	}
	var timeout net.Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused, nobody listens yet", patience
	case errors.As(err, &certificate):
		return "TLS handshake: " + certificate.Error(), openai.Hint("tls")
	case errors.Is(err, http.ErrSchemeMismatch):
		return "TLS handshake: the server does not speak TLS", "write http:// in target.base_url"
	case errors.As(err, &name):
		return err.Error(), openai.Hint("dns")
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer within 5 s", patience
	}
	return err.Error(), patience
}

// lasting tells errors of the ready path that waiting does not mend.
func lasting(err error) bool {
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &certificate) || errors.Is(err, http.ErrSchemeMismatch)
}

// advice is what to do about a status that stays.
func advice(status int) string {
	switch {
	case status >= 300 && status < 400:
		return "redirects are not followed: set target.base_url, or target.ready.path, to where it leads; a redirect to a login page means that the server wants a key (target.api_key_env)"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return "the server wants another key: name the variable that holds it in target.api_key_env; or choose a target.ready.path that needs none"
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return "is target.ready.path a path of this server? It starts at the origin of target.base_url; if the server answers so until it is ready, raise target.ready.within"
	}
	return patience
}

// advised is the hint that an error of the first token brings, else patience.
func advised(err error) string {
	var e *openai.Error
	if errors.As(err, &e) && e.Hint != "" {
		return e.Hint
	}
	return patience
}
