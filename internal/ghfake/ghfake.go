// Package ghfake is a GitHub for tests: it answers the calls that benchgate makes, and fails them on demand.
//
// Each request, and each answer of its own, is held against GitHub's description of its API; rules that the description
// lacks (the longest comment, who may write, pages of 100) are added by hand. It keeps what was written, and each call
// with it.
package ghfake

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
)

// Options say which GitHub this is.
type Options struct {
	Repository string       // "owner/name"; "" answers for every repository as if it were one
	Token      string       // the only token that is believed; "" believes any
	Login      string       // whose token that is; "" is Bot
	ReadOnly   bool         // the token may write nothing, as on a fork's pull request
	State      State        // what is there from the start
	Faults     []Fault      // what goes wrong
	Listener   net.Listener // where to listen; nil is a loopback port that the system chooses
	Record     func(Call)   // sees each call when it is over; nil for nobody
}

// Server is a GitHub that runs. Make it by New or Start.
type Server struct {
	URL       string // the base of the API: a GitHub Enterprise Server's is at URL + "/api/v3"
	Elsewhere string // the base of another host: faults redirect there, and no token may follow

	spec    *spec
	options Options
	problem func(string)
	close   func()

	mu     sync.Mutex
	state  State
	faults []*fault
	calls  []Call
}

// New starts a GitHub for one test. A request that the description of the API does not know or allow fails the test.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := Start(o, func(p string) { t.Errorf("ghfake: %s", p) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a GitHub that tells problem of each request that GitHub would not understand. Close it.
func Start(o Options, problem func(string)) (*Server, error) {
	sp, err := description()
	if err != nil {
		return nil, err
	}
	o.Login = cmp.Or(o.Login, Bot)
	s := &Server{spec: sp, options: o, problem: problem}
	s.seed(o.State)
	if err := s.Fail(o.Faults...); err != nil {
		return nil, err
	}
	return s, s.listen(o.Listener)
}

func (s *Server) seed(from State) {
	for _, p := range from.Pulls {
		s.state.AddPull(p)
	}
	for _, c := range from.Comments {
		s.state.AddComment(c)
	}
	s.state.Statuses = slices.Clone(from.Statuses)
}

// listen serves on two hosts: GitHub's, and the one that no token may reach. In memory both are one listener, and the
// name that is asked for tells them apart.
func (s *Server) listen(here net.Listener) error {
	web := &http.Server{Handler: s}
	s.close = func() { _ = web.Close() }
	there, err := net.Listener(nil), error(nil)
	switch here.(type) {
	case nil:
		here, err = net.Listen("tcp", "127.0.0.1:0")
	case *net.TCPListener:
	default:
		s.URL, s.Elsewhere = "http://"+here.Addr().String(), "http://127.0.0.2:2"
		go func() { _ = web.Serve(here) }()
		return nil
	}
	if err == nil {
		there, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.URL, s.Elsewhere = "http://"+here.Addr().String(), "http://"+there.Addr().String()
	go func() { _ = web.Serve(here) }()
	go func() { _ = web.Serve(there) }()
	return nil
}

// Close ends the server and every call in it.
func (s *Server) Close() { s.close() }

// Calls are the calls so far, in the order in which they came.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Made are the short names of the calls so far: "list", "create". A call to the other host is "elsewhere".
func (s *Server) Made() []string {
	var all []string
	for _, c := range s.Calls() {
		switch {
		case c.Foreign:
			all = append(all, "elsewhere")
		default:
			all = append(all, cmp.Or(c.Short(), c.Method+" "+c.Path))
		}
	}
	return all
}

// State is a copy of all that is kept.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.clone()
}

// Comments are the comments below one issue, in the order in which they were made.
func (s *Server) Comments(issue int) []Comment {
	all := s.State().Comments
	return slices.DeleteFunc(all, func(c Comment) bool { return c.Issue != issue })
}

// Change changes what is kept, as other people would.
func (s *Server) Change(change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
}
