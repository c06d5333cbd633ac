package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/openai"
)

// The whole of it: a free port, a server that speaks, a first token by the client that measures, a gentle stop.
func TestACommandIsStartedAwaitedAndStopped(t *testing.T) {
	o := options(t, "simulated")
	o.FirstToken = nil
	s := begin(t, o)
	if strings.Contains(s.BaseURL(), portMark) || get(t, s.address.origin+"/health") == "" {
		t.Errorf("base URL %q does not answer", s.BaseURL())
	}
	if s.process.group == syscall.Getpgrp() || !groupAlive(s.process.group) {
		t.Errorf("group %d is ours, or empty", s.process.group)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
	gone(t, s)
	select {
	case <-s.Died():
		t.Error("a stop counts as a death")
	default:
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("second stop: %v", err)
	}
}

func TestTheCommandRunsInItsFolderWithItsEnvironment(t *testing.T) {
	t.Setenv("HF_TOKEN", "hf_secret")
	o := options(t, "plain")
	o.Target.Dir = "build"
	o.Target.Env["GIVEN"] = "port=" + portMark
	if err := os.Mkdir(filepath.Join(o.Folder, "build"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := begin(t, o)
	want := fmt.Sprintf("listening on %[1]s in build with port=%[1]s and token", s.address.port)
	eventually(t, "the log says "+want, func() bool { return s.LastWords() == want })
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAPortInUseIsRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, p, _ := net.SplitHostPort(l.Addr().String())
	o := options(t, "plain")
	o.Target = target("plain", p)
	_, err = start(t.Context(), o, quick)
	var e *Error
	if !errors.As(err, &e) || e.Error() != "port "+p+" is already served by another process" || !strings.Contains(e.Hint(), portMark) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(o.Log); err == nil {
		t.Error("the command was started all the same")
	}
}

func TestADeathAtTheStartIsToldAtOnce(t *testing.T) {
	o := options(t, "fails", "sk-topsecret")
	o.APIKey = "sk-topsecret"
	_, err := start(t.Context(), o, quick)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "exit status 3") {
		t.Fatalf("error %v, want one with the exit status", err)
	}
	var want []string
	for i := 20; i < 40; i++ {
		want = append(want, fmt.Sprintf("line %d key [redacted]", i))
	}
	if diff := cmp.Diff(want, strings.Split(e.LastWords(), "\n")); diff != "" {
		t.Errorf("last words (-want +got):\n%s", diff)
	}
}

func TestWhatCannotRunIsNamed(t *testing.T) {
	o := options(t, "plain")
	o.Target.Command = []string{"no-such-server", portMark}
	_, err := start(t.Context(), o, quick)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), `"no-such-server"`) || !strings.Contains(e.Hint(), "PATH") {
		t.Errorf("error %v", err)
	}
	o = options(t, "plain")
	o.Target.Dir = "no-such-folder"
	if _, err = start(t.Context(), o, quick); !errors.As(err, &e) || !strings.Contains(err.Error(), "no-such-folder") || !strings.Contains(e.Hint(), "git worktree") {
		t.Errorf("error %v", err)
	}
	o = options(t, "plain")
	o.Log = ""
	if _, err := start(t.Context(), o, quick); err == nil {
		t.Error("started without a log")
	}
}

func TestTheCommandIsFoundByItsOwnPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "my-server")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"my-server": filepath.Join(dir, "my-server"), "other": "other", "./my-server": "./my-server"} {
		if got := program(name, "/nowhere:"+dir); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestReadinessHasProgressAndALimit(t *testing.T) {
	started := filepath.Join(t.TempDir(), "go")
	o := options(t, "slow", started)
	var told atomic.Int64
	o.Progress = func(msg string) {
		if told.Add(1) != 3 {
			return
		}
		if !strings.Contains(msg, "/health") || !strings.Contains(msg, "connection refused") || !strings.Contains(msg, "of at most 1m0s") {
			t.Errorf("progress %q", msg)
		}
		if err := os.WriteFile(started, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	s := begin(t, o)
	if told.Load() < 3 {
		t.Errorf("ready after %d messages, want at least 3", told.Load())
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}

	o = options(t, "slow", filepath.Join(t.TempDir(), "never"))
	o.Target.ReadyIn = 50 * time.Millisecond
	_, err := start(t.Context(), o, quick)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "not ready within 50ms: waiting for 200 from") || !strings.Contains(e.Hint(), "ready.within") {
		t.Errorf("error %v", err)
	}
}

func TestReadyMeansThatATokenCame(t *testing.T) {
	o := options(t, "plain")
	asked := 0
	o.FirstToken = func(_ context.Context, base string) error {
		if asked++; asked < 4 {
			return errors.New("model is loading")
		}
		return nil
	}
	s := begin(t, o)
	if asked != 4 {
		t.Errorf("asked %d times, want 4", asked)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestARefusedRequestEndsTheWait(t *testing.T) {
	o := options(t, "plain")
	asked := 0
	o.FirstToken = func(context.Context, string) error {
		asked++
		return &openai.Error{Doing: "ask", Class: bench.HTTP4xx, Said: "no such model", Hint: "try another"}
	}
	_, err := start(t.Context(), o, quick)
	var e *Error
	if !errors.As(err, &e) || e.Hint() != "try another" {
		t.Errorf("error %v without the hint of the request", err)
	}
	if err == nil || !strings.Contains(err.Error(), "no such model") || asked != refusals {
		t.Errorf("error %v after %d requests", err, asked)
	}
	for _, c := range bench.Classes() {
		want := map[bench.Class]bool{
			bench.HTTP4xx: true, bench.NotStreaming: true, bench.Redirected: true, bench.Empty: true, bench.DNS: true, bench.TLS: true,
		}[c]
		if got := final(fmt.Errorf("wrapped: %w", &openai.Error{Class: c})); got != want {
			t.Errorf("class %q is final: %v, want %v", c, got, want)
		}
	}
}

func TestADeathLaterIsNoticed(t *testing.T) {
	s := begin(t, options(t, "plain"))
	get(t, s.address.origin+"/exit")
	<-s.Died()
	if words := s.LastWords(); !strings.HasPrefix(words, "the process ended after ") || !strings.Contains(words, "exit status 5\n") ||
		!strings.HasSuffix(words, "asked to exit") {
		t.Errorf("last words %q", words)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("stop of the dead: %v", err)
	}
	gone(t, s)
}

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

func TestAnAnswerFromAnotherProcessIsNotReady(t *testing.T) {
	s := &Server{process: &process{how: errors.New("the process ended after 1s: exit status 1")}, address: address{port: "8000"}}
	if err := s.stillOurs(); err == nil || !strings.Contains(err.Error(), "port 8000 answers: another process serves it") {
		t.Errorf("error %v", err)
	}
	s.process.how = nil
	if err := s.stillOurs(); err != nil {
		t.Errorf("error %v for a living process", err)
	}
}

func TestARunningServerIsLeftAlone(t *testing.T) {
	var key string
	h := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { key = r.Header.Get("Authorization") }))
	defer h.Close()
	t.Setenv("MY_KEY", "sk-mine")
	o := Options{Target: target("", "1"), FirstToken: speaks}
	o.Target.Command = nil
	o.Target.BaseURL = h.URL + "/v1"
	o.Target.APIKeyEnv = "MY_KEY"
	s, err := start(t.Context(), o, quick)
	if err != nil {
		t.Fatal(err)
	}
	if s.BaseURL() != h.URL+"/v1" || len(s.Facts()) != 0 || s.LastWords() != "" {
		t.Errorf("base %q, facts %v, words %q", s.BaseURL(), s.Facts(), s.LastWords())
	}
	if key != "Bearer sk-mine" {
		t.Errorf("asked with %q", key)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if res, err := h.Client().Get(h.URL); err != nil {
		t.Error("it was stopped")
	} else {
		res.Body.Close()
	}
}

func TestFactsHoldTheCommandAsWritten(t *testing.T) {
	s := &Server{o: Options{}, process: &process{}}
	s.o.Target.Command = []string{"vllm", "serve", "m", "--port", portMark}
	if diff := cmp.Diff(map[string]string{bench.KeyCommand: "vllm serve m --port {port}"}, s.Facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}
