package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchgate/benchgate/internal/campaign"
)

// The exit codes. A verdict brings its own; these are those of errors.
const (
	exitOK          = 0
	exitUsage       = 2   // bad flag, bad config, unreadable or foreign file
	exitServer      = 3   // server down or dead, or its code may not run here: nothing can be said of it
	exitInterrupted = 130 // everything measured is on disk
)

// verdictError carries the exit code of a verdict that was told in full already.
type verdictError int

func (v verdictError) Error() string { return fmt.Sprintf("verdict with exit code %d", int(v)) }

// hinted is an error with a line that says what to do next.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

func withHint(err error, format string, args ...any) error {
	return hinted{err, fmt.Sprintf(format, args...)}
}

func exitCode(ctx context.Context, err error) int {
	var server *campaign.ServerError
	var missing notMeasured
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &server), errors.As(err, &missing):
		return exitServer
	}
	return exitUsage
}

// hints collects what an error has to say beyond its own line: the server's last words, and what to do.
func hints(err error) []string {
	var lines []string
	var server *campaign.ServerError
	if errors.As(err, &server) {
		if server.LastWords != "" {
			lines = append(lines, "its last words:", indent(server.LastWords))
		}
		if server.Hint != "" {
			lines = append(lines, "hint: "+server.Hint)
		}
	}
	var h hinted
	if errors.As(err, &h) {
		lines = append(lines, "hint: "+h.hint)
	}
	return lines
}
