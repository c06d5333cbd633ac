// Package sim is a simulated OpenAI-compatible server.
package sim

import (
	"errors"
	"net/http"
	"time"
)

// Options describe a simulated server. The zero value is a server that answers at once and without noise, one request
// at a time for each of eight slots; Defaults returns the one that `benchgate sim` and `benchgate demo` run.
type Options struct {
	Model      string        // "": "simulated-8b"; "simulated-" goes before a name that does not say it is simulated
	Slots      int           // requests served at once; others wait in order of arrival. 0: 8
	TTFT       time.Duration // prefill of a prompt of PrefillTokens on an idle server
	TPOT       time.Duration // time per token after the first, on an idle server
	LoadFactor float64       // 0.35: 35 % slower with every slot busy than with one

	PrefillTokens int     // prompt length that TTFT is for; 0: prefill takes TTFT whatever the length
	RunSD         float64 // log-sd between runs
	RequestSD     float64 // log-sd between requests
	Slow          float64 // 0.3: everything takes 30 % longer
	Seed          uint64
	Fault         string // name of a fault, see Faults; "": none
}

// Defaults is the server of the demo.
func Defaults() Options { return Options{} }

// Check reports what makes the options unusable.
func (o Options) Check() error { return errors.New("not built yet") }

// Fault is a way to misbehave.
type Fault struct{ Name, Does string }

// Faults lists every fault.
func Faults() []Fault { return nil }

// Record is the server's own account of one generation.
type Record struct {
	Request  string    // the client's X-Request-Id header; "" when it sent none
	Prompt   uint64    // Key of the prompt
	Received time.Time // the request's headers had been read
	First    time.Time // just before the first token was written; zero: never
	Last     time.Time // just before the last token was written; zero: never
	Tokens   int
}

// Key is what Record.Prompt holds for a completion prompt, or for a chat of one message, of this text.
func Key(text string) uint64 { return 0 }

// Server is the simulated server.
type Server struct{}

// New returns a server that has not begun to listen.
func New(o Options) *Server { return &Server{} }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {}

// Drain returns the records so far, in order of arrival, and forgets them.
func (s *Server) Drain() []Record { return nil }

// Running is a listening server.
type Running struct{}

// Listen starts a server on an address such as "127.0.0.1:0".
func Listen(o Options, addr string) (*Running, error) { return nil, errors.New("not built yet") }

// URL is the origin, such as "http://127.0.0.1:8000".
func (r *Running) URL() string { return "" }

// BaseURL is what an OpenAI client is given: the origin and "/v1".
func (r *Running) BaseURL() string { return "" }

// Server gives access to the records.
func (r *Running) Server() *Server { return nil }

// Done is closed when the server has stopped listening, by Close or by a fault.
func (r *Running) Done() <-chan struct{} { return nil }

// Close stops listening and breaks every connection.
func (r *Running) Close() error { return nil }
