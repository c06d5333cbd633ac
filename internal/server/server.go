// Package server runs the server under test: it starts it, waits until it answers, and stops it.
//
// A server that benchgate starts has a process group of its own, a log, and an environment without the secrets of the
// job (see environment). Its port must be free before the start, so that what answers later is known to be ours; and it
// counts as stopped only when the group is gone and the port refuses again. A server that was there before is measured as
// it is, and left alone.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

// Options say which server, and where its output goes.
type Options struct {
	// Target is read for how to start, await and stop; without a Command the server is taken as running already.
	Target config.Target
	// Log is the file that stdout and stderr of the command are appended to; required with a command.
	Log string
	// Folder is the folder of the config file; Target.Dir is relative to it.
	Folder string
	// APIKey goes with the questions asked while waiting. "": what the environment holds under Target.APIKeyEnv.
	APIKey string
	// Progress is told every few seconds what is awaited. It may be nil, and is called by one goroutine at a time.
	Progress func(string)
	// FirstToken asks for one token. nil: by the openai client.
	FirstToken func(ctx context.Context, baseURL string) error
	// Dial opens connections to a server that is there already; nil is the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Server is a server that has answered. Make it by Start.
type Server struct {
	o       Options
	pauses  pauses
	address address
	process *process     // nil: not ours
	stop    func() error // once
	died    chan struct{}
	mu      sync.Mutex
	leaving bool          // Stop was called: the end of the process is no surprise
	hurry   chan struct{} // closed when nobody waits for a gentle stop any more
	rush    func()
}

// pauses are how often things are tried and told.
type pauses struct {
	poll  time.Duration // between two looks at the ready path, the port, the group
	again time.Duration // between two requests for a first token
	tell  time.Duration // between two progress messages
	kill  time.Duration // for the group to go after SIGKILL, and for the port to close after that
	// leave is how long a server may take to stop once the whole program was interrupted. Who interrupts a job of GitHub
	// Actions sends SIGINT, SIGTERM 7.5 seconds later and SIGKILL 2.5 seconds after that: by then the server has to be gone,
	// and what was measured written.
	leave time.Duration
}

var usual = pauses{poll: 100 * time.Millisecond, again: time.Second, tell: 5 * time.Second, kill: 10 * time.Second, leave: 4 * time.Second}

// Start starts the command of the target and returns when the server is ready: its ready path has answered 200, and one
// token has come. Without a command it waits for the server that should be there.
//
// The context is the server's life and not only that of its start: when it ends, the server is stopped; within seconds where
// it was canceled, which is an interrupt, and not over by its deadline. An error of the start leaves nothing running; when it is an *Error it may hold the server's last words and a hint.
func Start(ctx context.Context, o Options) (*Server, error) { return start(ctx, o, usual) }

// withDefaults fills in what was left out; the config has its own, equal ones.
func (o Options) withDefaults() Options {
	if o.APIKey == "" && o.Target.APIKeyEnv != "" {
		o.APIKey = os.Getenv(o.Target.APIKeyEnv)
	}
	if o.Target.ReadyIn <= 0 {
		o.Target.ReadyIn = 10 * time.Minute
	}
	if o.Target.StopIn <= 0 {
		o.Target.StopIn = time.Minute
	}
	if o.FirstToken == nil {
		o.FirstToken = o.firstToken
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o
}

func start(ctx context.Context, o Options, p pauses) (*Server, error) {
	o = o.withDefaults()
	s := &Server{o: o, pauses: p, died: make(chan struct{}), hurry: make(chan struct{})}
	s.rush = sync.OnceFunc(func() { close(s.hurry) })
	s.stop = sync.OnceValue(s.end)
	var err error
	if s.address, err = resolve(o.Target); err != nil {
		return nil, err
	}
	if len(o.Target.Command) > 0 {
		if err := s.launch(ctx); err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() {
			if errors.Is(ctx.Err(), context.Canceled) {
				time.AfterFunc(s.pauses.leave, s.rush)
			}
		})
	}
	if err := s.await(ctx); err != nil {
		words := s.words()
		return nil, &Error{err: errors.Join(err, s.stop()), words: words, hint: hintFor(err)}
	}
	context.AfterFunc(ctx, func() { _ = s.stop() })
	return s, nil
}

// launch starts the process on a port that nobody serves.
func (s *Server) launch(ctx context.Context) error {
	if err := s.address.free(ctx); err != nil {
		return &Error{err: err, hint: hintFor(err)}
	}
	var err error
	if s.process, err = spawn(s.o, s.address.port); err != nil {
		return err
	}
	go s.mourn()
	return nil
}

// mourn closes died when the process ends unasked.
func (s *Server) mourn() {
	<-s.process.exited
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.leaving {
		close(s.died)
	}
}

// firstToken asks for one token as the measurement will.
func (o Options) firstToken(ctx context.Context, baseURL string) error {
	c, err := openai.New(openai.Options{
		BaseURL: baseURL, Model: o.Target.Model, API: o.Target.API, APIKey: o.APIKey, LimitField: o.Target.LimitField,
		Dial: o.Dial,
	})
	if err != nil {
		return err
	}
	defer c.Close()
	return c.FirstToken(ctx)
}

// BaseURL is Target.BaseURL with its port filled in.
func (s *Server) BaseURL() string { return s.address.base }

// Died is closed when the process ends although nobody stopped it. It never is for a server that is not ours.
func (s *Server) Died() <-chan struct{} { return s.died }

// LastWords are the last lines of the log since this start, at most 20, with its secrets (see Secrets) blotted out; "" for
// a server that is not ours. After a death a line before them says how the process ended.
func (s *Server) LastWords() string {
	select {
	case <-s.died:
		return strings.TrimSuffix(s.process.fate().Error()+"\n"+s.words(), "\n")
	default:
		return s.words()
	}
}

func (s *Server) words() string {
	if s.process == nil {
		return ""
	}
	return s.process.log.tail(Secrets(s.o.Target, s.o.APIKey, os.Getenv))
}

// Facts says what was started: "command" is the command line as the config has it, with secrets blotted out. There are
// none for a server that is not ours.
func (s *Server) Facts() map[string]string {
	if s.process == nil {
		return map[string]string{}
	}
	return map[string]string{"command": commandLine(s.o.Target.Command)}
}

// Error is why a server could not be had.
type Error struct {
	err         error
	words, hint string
}

func (e *Error) Error() string { return e.err.Error() }

func (e *Error) Unwrap() error { return e.err }

// LastWords are the last lines of the server's log; "" when there are none.
func (e *Error) LastWords() string { return e.words }

// Hint says what to do, "" when nothing is known.
func (e *Error) Hint() string { return e.hint }

// errorWithHint carries its own way out.
type errorWithHint struct {
	error
	hint string
}

func (e errorWithHint) Unwrap() error { return e.error }

func hinted(hint, format string, args ...any) error {
	return errorWithHint{fmt.Errorf(format, args...), hint}
}

func hintFor(err error) string {
	var h errorWithHint
	if errors.As(err, &h) {
		return h.hint
	}
	var probe *openai.Error
	if errors.As(err, &probe) {
		return probe.Hint
	}
	return ""
}
