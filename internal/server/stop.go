package server

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// Stop stops the server and returns when it is gone: no process of the group is left, and the port refuses connections.
// First target.stop.command, or SIGTERM to the group; after target.stop.within, or when the context ends, SIGKILL. An
// error means that something survived. Any number of calls are one stop. A server that is not ours is left alone.
func (s *Server) Stop(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.rush)()
	return s.stop()
}

// end is the stop itself. It is bounded whatever the server does.
func (s *Server) end() error {
	if s.process == nil {
		return nil
	}
	s.mu.Lock()
	s.leaving = true
	s.mu.Unlock()
	defer s.process.guard.dismiss()
	asked := s.askToStop()
	gone := func() bool { return s.process.over() && !s.served() }
	if s.until(gone, s.o.Target.StopIn, s.hurry) {
		return nil
	}
	s.process.signal(syscall.SIGKILL)
	if s.until(gone, s.pauses.kill, nil) {
		return nil
	}
	if !s.process.over() {
		return errors.Join(fmt.Errorf("processes of group %d survive SIGKILL", s.process.group), asked)
	}
	return errors.Join(
		hinted("a process left the server's group, or a container goes on: give target.stop.command what ends it",
			"port %s still answers although the server's process is gone", s.address.port),
		asked)
}

// askToStop asks in the way of the target, and by SIGTERM where that fails.
func (s *Server) askToStop() error {
	if s.process.over() {
		return nil
	}
	var err error
	if len(s.o.Target.StopCmd) > 0 {
		if err = s.runStopCommand(); err == nil {
			return nil
		}
		err = fmt.Errorf("target.stop.command: %w", err)
		s.o.Progress(err.Error() + "; going on with SIGTERM")
	}
	s.process.signal(syscall.SIGTERM)
	return err
}

// runStopCommand runs the command of the target, for as long as a stop may take.
func (s *Server) runStopCommand() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.o.Target.StopIn)
	defer cancel()
	go func() {
		select {
		case <-s.hurry:
			cancel()
		case <-ctx.Done():
		}
	}()
	out, _, err := openLog(s.process.log.name)
	if err != nil {
		return err
	}
	defer out.Close()
	args := filled(s.o.Target.StopCmd, s.address.port)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = folder(s.o)
	cmd.Env = s.o.environment(s.address.port)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

// served says whether the port answers; when that cannot be told, it counts as answering.
func (s *Server) served() bool {
	served, err := s.address.served(context.Background())
	return served || err != nil
}

// until polls a condition. False: it did not come about in time, or before enough.
func (s *Server) until(is func() bool, within time.Duration, enough <-chan struct{}) bool {
	late := time.NewTimer(within)
	defer late.Stop()
	t := time.NewTicker(s.pauses.poll)
	defer t.Stop()
	for {
		if is() {
			return true
		}
		select {
		case <-t.C:
		case <-late.C:
			return is()
		case <-enough:
			return is()
		}
	}
}
