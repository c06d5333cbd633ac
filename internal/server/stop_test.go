package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestStopIsHardWhenItMustBe(t *testing.T) {
	for _, part := range []string{"stubborn", "parent"} {
		t.Run(part, func(t *testing.T) {
			o := options(t, part)
			o.Target.StopIn = 20 * time.Millisecond
			s := begin(t, o)
			if err := s.Stop(t.Context()); err != nil {
				t.Errorf("stop: %v", err)
			}
			gone(t, s)
		})
	}
}

func TestAnEndedContextHurriesTheStop(t *testing.T) {
	o := options(t, "stubborn")
	o.Target.StopIn = time.Hour
	s := begin(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	gone(t, s)
}

// An interrupt does not wait for target.stop.within, whether the server is ready or still starting.
func TestAnInterruptHurriesTheStop(t *testing.T) {
	o := options(t, "stubborn")
	o.Target.StopIn = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	s, err := start(ctx, o, quick)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := s.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
	gone(t, s)

	ctx, cancel = context.WithCancel(t.Context())
	o.FirstToken = func(ctx context.Context, _ string) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	if _, err := start(ctx, o, quick); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// deadline is a context that is over by its deadline when done is closed.
type deadline struct {
	context.Context
	done chan struct{}
}

func (d deadline) Done() <-chan struct{} { return d.done }

func (d deadline) Err() error {
	select {
	case <-d.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestTheEndOfABudgetDoesNotHurryTheStop(t *testing.T) {
	o := options(t, "stubborn")
	o.Target.StopIn = time.Hour
	over := deadline{t.Context(), make(chan struct{})}
	s, err := start(over, o, quick)
	if err != nil {
		t.Fatal(err)
	}
	close(over.done)
	select {
	case <-s.hurry:
		t.Error("the stop was hurried")
	case <-time.After(10 * quick.leave):
	}
	s.rush()
	if err := s.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
	gone(t, s)
}

func TestWhatLeavesTheGroupIsReported(t *testing.T) {
	o := options(t, "runaway")
	o.Target.StopIn = 20 * time.Millisecond
	p := quick
	p.kill = 50 * time.Millisecond
	s, err := start(t.Context(), o, p)
	if err != nil {
		t.Fatal(err)
	}
	defer get(t, s.address.origin+"/exit")
	if err := s.Stop(t.Context()); err == nil || !strings.Contains(err.Error(), "port "+s.address.port+" still answers") {
		t.Errorf("stop: %v, want an error that names the port", err)
	}
}

func TestTheStopCommandComesFirst(t *testing.T) {
	o := options(t, "stubborn")
	o.Target.StopCmd = []string{"/bin/sh", "-c", `echo stopping $0; kill -s KILL -- -"$(cat pid)"`, portMark}
	s := begin(t, o)
	if err := os.WriteFile(filepath.Join(o.Folder, "pid"), fmt.Append(nil, s.process.group), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
	if words := s.LastWords(); !strings.Contains(words, "stopping "+s.address.port) {
		t.Errorf("the log lacks the stop command's words: %q", words)
	}
	gone(t, s)
}

func TestAFailedStopCommandIsFollowedBySignals(t *testing.T) {
	o := options(t, "plain")
	o.Target.StopCmd = []string{"/bin/sh", "-c", "exit 7"}
	said := ""
	o.Progress = func(msg string) { said = msg }
	s := begin(t, o)
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
	if !strings.Contains(said, "exit status 7") {
		t.Errorf("progress %q does not tell the failure", said)
	}
	gone(t, s)
}

func TestTheContextIsTheServersLife(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := start(ctx, options(t, "plain"), quick)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := s.Stop(t.Context()); err != nil { // the same stop
		t.Error(err)
	}
	gone(t, s)

	ctx, cancel = context.WithCancel(t.Context())
	o := options(t, "plain")
	o.FirstToken = func(ctx context.Context, _ string) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	if _, err := start(ctx, o, quick); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// A benchgate that is killed takes its server with it, the whole group.
func TestOurDeathIsTheServersDeath(t *testing.T) {
	p := port(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, p, filepath.Join(t.TempDir(), "server.log"))
	cmd.Env = append(os.Environ(), play+"=benchgate")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	group := number(t, line)
	if !groupAlive(group) {
		t.Fatal("no server")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "the server is gone", func() bool { return !groupAlive(group) })
}

// The guard alone, without Linux's help.
func TestTheGuardKillsAGroupWhenItsPipeBreaks(t *testing.T) {
	for _, c := range []struct {
		name  string
		leave func(*guard)
		lives bool
	}{
		{"we die", func(g *guard) { g.pipe.Close(); <-g.done }, false},
		{"we dismiss it", (*guard).dismiss, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("/bin/sh", "-c", "read -r word")
			cmd.SysProcAttr = groupOfItsOwn()
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			c.leave(watchOver(cmd.Process.Pid))
			fmt.Fprintln(in, "go on")
			in.Close()
			if err := cmd.Wait(); (err == nil) != c.lives {
				t.Errorf("ended with %v, want it alive until told: %v", err, c.lives)
			}
		})
	}
}
