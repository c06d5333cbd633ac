package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/openai"
)

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
