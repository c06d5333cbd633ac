package server

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// status is the number of an answer with the name that the standard gives it. The reason phrase beside the number is the
// server's own text, and net/http hands it on as it came: it may hold escapes of a terminal, or the key that was sent.
func status(code int) string {
	if name := http.StatusText(code); name != "" {
		return fmt.Sprintf("%d %s", code, name)
	}
	return strconv.Itoa(code)
}

// heard makes a text that words of the server may be in fit for a file and a terminal: one line of printable text, of at most
// 400 characters, without the secrets, also where they are written in quotes.
func (s *Server) heard(text string) string {
	secrets := Secrets(s.o.Target, s.o.APIKey, os.Getenv)
	for _, plain := range secrets {
		quoted := strconv.Quote(plain)
		secrets = append(secrets, quoted[1:len(quoted)-1])
	}
	// Escapes go first: they may stand in the middle of a secret.
	line := legible(strings.Join(strings.Fields(text), " "))
	return short(string(Redact([]byte(line), secrets)))
}

// hearsay is an error that words of the server may be in, told as they may be heard.
type hearsay struct {
	error
	said string
}

func (h hearsay) Error() string { return h.said }

func (h hearsay) Unwrap() error { return h.error }

func (s *Server) hearsay(err error) error { return hearsay{err, s.heard(err.Error())} }
