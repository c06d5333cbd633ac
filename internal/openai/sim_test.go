package openai

import (
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/sim"
)

// The simulated server was written apart from this client: what it breaks on purpose is the other half of a contract.
func TestFaultsOfTheSimulatedServerHaveTheirClass(t *testing.T) {
	for fault, want := range map[string]bench.Class{
		"": bench.OK, "bare": bench.OK, "utf8": bench.OK, "usage-in-last": bench.OK, "two-per-chunk": bench.OK, "tool-call": bench.OK,
		"text-plain": bench.OK, "role-only-first": bench.OK, "reasoning": bench.OK, "reasoning-field": bench.OK, "pings": bench.OK,
		"one-byte-writes": bench.OK, "odd-chunks": bench.OK, "no-usage": bench.OK, "no-space": bench.OK, "no-done": bench.OK,
		"multiline": bench.OK, "late-finish": bench.OK, "late-usage": bench.OK, "huge-events": bench.OK, "fields": bench.OK, "crlf": bench.OK,
		"cr": bench.OK, "comment-in-event": bench.OK, "drop-kept": bench.OK, "buffered": bench.OK, "warm-cache": bench.OK,
		"truncate": bench.Truncated, "reset": bench.Reset, "cut": bench.Reset, "cut-in-event": bench.Reset,
		"refuse-stream": bench.HTTP4xx, "completions-only": bench.HTTP4xx, "echo-key": bench.HTTP4xx, "redirect": bench.Redirected,
		"not-streaming": bench.NotStreaming, "not-json": bench.Malformed, "negative-usage": bench.Malformed, "gzip": bench.Malformed,
		"endless-line": bench.Malformed, "stall": bench.IdleTimeout, "hang": bench.FirstTimeout, "loading": bench.Overloaded,
		"wrong-usage": bench.TooLong, "ignores-limit": bench.TooLong, "empty": bench.Empty,
		"error-first": bench.InBand, "error-midstream": bench.InBand, "error-500": bench.HTTP5xx, "error-503": bench.Overloaded,
		"error-429": bench.RateLimited, "fail-every-1": bench.HTTP5xx,
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			s, err := sim.Listen(sim.Options{TTFT: 10 * time.Millisecond, TPOT: time.Millisecond, Fault: fault}, "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			c := client(t, s.URL(), func(o *Options) {
				o.Model, o.APIKey = "simulated-8b", secret
				if want == bench.IdleTimeout || want == bench.FirstTimeout {
					o.Timeouts.FirstToken, o.Timeouts.Idle = 300*time.Millisecond, 300*time.Millisecond
				}
			})
			for range 2 {
				r := c.Do(t.Context(), Call{Prompt: Prompt{Text: "hello"}, MaxTokens: 20, Exact: true}, clock())
				leaks(t, "request", r)
				if want == bench.IdleTimeout && r.Class == bench.FirstTimeout {
					continue // on a busy machine
				}
				if r.Class != want || want == bench.OK && r.OutputTokens != 20 {
					t.Fatalf("%s, %d tokens: %s", r.Class, r.OutputTokens, r.Error)
				}
			}
		})
	}
}
