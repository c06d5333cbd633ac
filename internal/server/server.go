// Package server runs the server under test.
package server

import (
	"context"
	"errors"

	"github.com/benchgate/benchgate/internal/config"
)

// Options say which server, and where to keep what it prints.
type Options struct {
	Target   config.Target
	Log      string       // file that stdout and stderr of the command are appended to
	Folder   string       // folder of the config file: Target.Dir is relative to it
	Progress func(string) // told every few seconds what is awaited; may be nil
	// FirstToken asks the server for one token; nil: by the openai client.
	FirstToken func(ctx context.Context, baseURL string) error
}

// Server is a server that was ready once.
type Server struct{}

// Start starts the command, or finds the server that is already there, and returns when it is ready.
func Start(ctx context.Context, o Options) (*Server, error) {
	return nil, errors.New("not built yet")
}

// BaseURL is Target.BaseURL with its port filled in.
func (s *Server) BaseURL() string { return "" }

// Died is closed when the process ends although nobody asked it to.
func (s *Server) Died() <-chan struct{} { return nil }

// LastWords is the end of the log.
func (s *Server) LastWords() string { return "" }

// Stop ends the server.
func (s *Server) Stop(ctx context.Context) error { return nil }

// Facts says what runs: keys "command", "engine", "version".
func (s *Server) Facts() map[string]string { return nil }
