package load

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/sim"
)

// against plays a closed loop against a fault of the simulated server, in virtual time and with the abort rule of a default
// config but for the failures in a row that end the run.
func against(t *testing.T, fault string, concurrency, inARow int) (got []bench.Request, duration float64, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := sim.NewMemory()
		s := sim.Serve(sim.New(sim.Options{TTFT: 10e6, TPOT: 1e6, Fault: fault}), m)
		c, e := openai.New(openai.Options{BaseURL: s.BaseURL(), Model: "simulated-8b", Dial: m.Dial})
		if e != nil {
			t.Fatal(e)
		}
		p := closedLoop(concurrency, 40)
		p.Abort = Abort{Errors: 0.05, InARow: inARow}
		got, duration, err = Run(t.Context(), c, p)
		c.Close()
		if e := s.Close(); e != nil {
			t.Error(e)
		}
	})
	return got, duration, err
}

// A server may answer slowly, for ever, with garbage or not at all: every request has its class within its limits, and a run
// of such requests is ended by the rule.
func TestBadServerEndsARunInBoundedTime(t *testing.T) {
	const (
		first = 5 * 60  // s, the limit on a first token
		idle  = 60      // on silence
		total = 30 * 60 // on a request
	)
	for _, tt := range []struct {
		fault string
		class bench.Class
		each  float64 // seconds that a request may take
		heavy bool    // one request costs the test enough
	}{
		{"drip", bench.FirstTimeout, first, false},
		{"endless-pings", bench.FirstTimeout, first, false},
		{"no-answer", bench.FirstTimeout, first, false},
		{"hang", bench.FirstTimeout, first, false},
		{"stall", bench.IdleTimeout, idle + 1, false},
		{"finish-hangs", bench.IdleTimeout, idle, false},
		{"crawl", bench.TooLong, total, false},
		{"garbage", bench.Malformed, 1, true},
		{"endless-line", bench.Malformed, 1, true},
		{"endless-headers", bench.Malformed, 1, false},
		{"endless-error", bench.HTTP5xx, 1, true},
		{"endless-reasoning", bench.TooLong, 1, false},
		{"redirect", bench.Redirected, 1, false},
		{"expired-certificate", bench.TLS, 1, false},
		{"json-lines", bench.Malformed, 1, false},
		{"error-429", bench.RateLimited, 1, false},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			concurrency, inARow := 2, 10
			if tt.heavy {
				concurrency, inARow = 1, 1
			}
			got, duration, err := against(t, tt.fault, concurrency, inARow)
			if !errors.Is(err, ErrAborted) || !strings.Contains(err.Error(), fmt.Sprintf("%d requests failed in a row; the last: %s", inARow, tt.class)) {
				t.Errorf("ended with %v", err)
			}
			if most := 6 * tt.each; duration > most {
				t.Errorf("took %v s, want at most %v", duration, most)
			}
			for _, q := range got {
				if q.Class != tt.class && q.Class != bench.Canceled {
					t.Errorf("request %d: %s: %s", q.Index, q.Class, q.Error)
				}
			}
		})
	}
}

// What succeeds, however oddly, ends no run; what fails now and then ends one only past the share.
func TestOddServerDoesNotEndARun(t *testing.T) {
	for fault, failed := range map[string]int{
		"": 0, "one-event": 0, "huge-events": 0, "stays-open": 0, "drop-kept": 0, "cold-start": 0, "one-slot": 0, "bad-utf8": 0,
		"fail-every-20": 2, "limit-after-38": 2,
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			got, _, err := against(t, fault, 2, 10)
			run := bench.Condense(got, 1, bench.SLO{})
			if err != nil || run.Sent != 40 || run.OK != 40-failed {
				t.Errorf("%d of %d succeeded, ended with %v; %v %s", run.OK, run.Sent, err, run.Failed, run.FirstError)
			}
		})
	}
}
