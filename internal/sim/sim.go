// Package sim is a simulated server that speaks OpenAI's HTTP API, with known speeds and faults on demand.
//
// It generates nothing: an answer is a row of simple words, and the time it takes follows a small model (see pace) whose
// every draw is a hash of the seed and of the prompt. The same requests meet the same speeds again, so a comparison of
// two simulated builds can be repeated, and its right answer is known.
//
// One word is one token. A chat costs three tokens more per message and three for the answer's opening.
//
// The model's name always says "simulated": no number made here can pass for a real server's.
package sim

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options describe a simulated server. The zero value answers at once and without noise on eight slots; Defaults is the
// server that people meet first.
type Options struct {
	// Model is the only model served. "": "simulated-8b"; a name that does not say so gets "simulated-" in front.
	Model string
	// Slots is how many requests are served at once; more wait in order of arrival. 0: 8.
	Slots int
	// TTFT is the prefill of a prompt of PrefillTokens on an idle server, TPOT the time of each token after the first.
	TTFT, TPOT time.Duration
	// PrefillTokens is the length of prompt that TTFT belongs to: half of the prefill is fixed and half grows with the
	// prompt. 0: prefill takes as long for any prompt.
	PrefillTokens int
	// LoadFactor is how much slower all work is with every slot busy than with one: 0.35 is 35 %.
	LoadFactor float64
	// RunSD and RequestSD are standard deviations of the log of times, between runs and between the requests of a run.
	// Requests belong to one run when their prompts begin with the same word like "#0123abcd", or with none.
	RunSD, RequestSD float64
	// Slow is the slower build: 0.3 makes everything take 30 % longer.
	Slow float64
	// Seed picks the draws.
	Seed uint64
	// Fault is the name of one of Faults. "": none.
	Fault string
}

// Defaults is the server of the demo: eight slots, a first token after about 40 ms when all are busy, then 10 ms a token,
// 3 % between runs. A run of 72 requests of 8 tokens, eight at a time, takes about a second.
func Defaults() Options {
	return Options{
		Slots: 8, TTFT: 30 * time.Millisecond, TPOT: 7500 * time.Microsecond, PrefillTokens: 32,
		LoadFactor: 0.35, RunSD: 0.03, RequestSD: 0.05, Seed: 1,
	}
}

// Check says what makes the options unusable.
func (o Options) Check() error {
	for _, c := range []struct {
		bad  bool
		what string
	}{
		{o.Slots < 0, "slots must not be negative"},
		{o.PrefillTokens < 0, "prefill tokens must not be negative"},
		{o.TTFT < 0 || o.TPOT < 0, "times must not be negative"},
		{!within(o.LoadFactor, 0, 1000), "the load factor must lie between 0 and 1000"},
		{!within(o.RunSD, 0, 3) || !within(o.RequestSD, 0, 3), "standard deviations must lie between 0 and 3"},
		{!within(o.Slow, -0.99, 1000), "the slow-down must lie between -99 % and 1000 times"},
	} {
		if c.bad {
			return errors.New("simulated server: " + c.what)
		}
	}
	_, err := findFault(o.Fault)
	return err
}

func within(x, low, high float64) bool { return !math.IsNaN(x) && low <= x && x <= high }

// Server is the simulated server, an http.Handler. Make it by New.
type Server struct {
	options Options
	fault   fault
	broken  error // of Options.Check: every answer is then a 500 that says so
	mux     *http.ServeMux
	slots   *slots
	started time.Time
	counts  counters
	records recorder
	seen    cache
	ids     atomic.Uint64
	begun   atomic.Int64 // generations
	dead    chan struct{}
	die     func() // closes dead, once
}

// New makes a server that does not listen yet; see Listen. Options that fail their Check make one that answers 500.
func New(o Options) *Server {
	if o.Slots == 0 {
		o.Slots = 8
	}
	if o.Model == "" {
		o.Model = "simulated-8b"
	}
	if !strings.Contains(strings.ToLower(o.Model), "simulated") {
		o.Model = "simulated-" + o.Model
	}
	s := &Server{started: time.Now(), dead: make(chan struct{}), broken: o.Check()}
	s.fault, _ = findFault(o.Fault)
	if s.fault.slots > 0 {
		o.Slots = s.fault.slots
	}
	s.options, s.slots = o, newSlots(o.Slots)
	s.die = sync.OnceFunc(func() { close(s.dead) })
	s.mux = s.routes()
	return s
}

func (s *Server) routes() *http.ServeMux {
	m := http.NewServeMux()
	m.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.generate(w, r, true) })
	m.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) { s.generate(w, r, false) })
	m.HandleFunc("GET /v1/models", s.models)
	m.HandleFunc("GET /health", s.health)
	m.HandleFunc("GET /version", s.version)
	m.HandleFunc("GET /metrics", s.metrics)
	m.HandleFunc("POST /tokenize", s.tokenize)
	m.HandleFunc("POST /reset_prefix_cache", s.reset)
	m.HandleFunc("POST /flush_cache", s.reset)
	m.HandleFunc("GET /flush_cache", s.reset)
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, apiError{http.StatusNotFound, fmt.Sprintf("no such endpoint: %s %s", r.Method, r.URL.Path), "not_found", ""})
	})
	return m
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Server", "benchgate-sim/"+Version)
	switch {
	case s.broken != nil:
		refuse(w, apiError{http.StatusInternalServerError, s.broken.Error(), "simulation", ""})
	case s.gone():
		panic(http.ErrAbortHandler)
	case s.fault.hides(r.URL.Path):
		refuse(w, apiError{http.StatusNotFound, "no such endpoint: " + r.URL.Path, "not_found", ""})
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// Model is the name under which the model is served.
func (s *Server) Model() string { return s.options.Model }

func (s *Server) gone() bool {
	select {
	case <-s.dead:
		return true
	default:
		return false
	}
}
