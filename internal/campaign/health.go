package campaign

import (
	"fmt"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/stat"
)

// leastLateness is the lateness in seconds that never voids a run: with less, any hiccup of a scheduler would.
const leastLateness = 0.005

// latenessShare is the share of TTFT p50 that lateness may reach.
const latenessShare = 0.10

// starved is how many times the limit of lateness a 1 ms timer of this process may oversleep, p99. Beyond it the process
// got no processor: its sends may be punctual, since a slot falls free when it wakes, but what it stamps is late.
const starved = 5

// examine fills in what the requests say of the client, and voids the run when the client was too late to be believed.
// Least is the lateness that never does, in seconds; 0 means leastLateness.
func examine(run *bench.Run, requests []bench.Request, l config.Load, least float64) {
	lags, queued := lateness(requests, l)
	if run.Sent > 0 {
		run.Client.Queued = float64(queued) / float64(run.Sent)
	}
	run.Client.LagP50, _ = stat.Quantile(lags, 0.50)
	run.Client.LagP99, _ = stat.Quantile(lags, 0.99)
	run.Client.LagMax, _ = stat.Quantile(lags, 1)
	run.Client.Coalesced = coalesced(requests)
	ttft, ok := run.Metrics["ttft.p50"]
	if !ok {
		return
	}
	if least == 0 {
		least = leastLateness
	}
	limit := max(least, latenessShare*ttft)
	if run.Client.LagP99 > limit {
		run.Void = fmt.Sprintf("the client sent late: p99 %s against a limit of %s", millis(run.Client.LagP99), millis(limit))
	}
	if run.Client.TimerP99 > starved*limit {
		run.Void = fmt.Sprintf("the client was starved of processor time: a 1 ms timer overslept by %s, p99, against a limit of %s",
			millis(run.Client.TimerP99), millis(starved*limit))
	}
	if run.Client.SelfTest99 > limit {
		run.Void = fmt.Sprintf("the client's own error in the loopback self-test: p99 %s against a limit of %s",
			millis(run.Client.SelfTest99), millis(limit))
	}
}

func millis(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(10 * time.Microsecond).String()
}

// lateness returns sent − scheduled of the requests that no concurrency limit held back, and counts those that one did.
func lateness(requests []bench.Request, l config.Load) (lags []float64, queued int) {
	for _, r := range requests {
		if r.Class == bench.Canceled && r.Sent == 0 {
			continue
		}
		if l.Open() && l.MaxConcurrency > 0 && inFlight(requests, r.Scheduled) >= l.MaxConcurrency {
			queued++
			continue
		}
		lags = append(lags, max(0, r.Sent-r.Scheduled))
	}
	return lags, queued
}

func inFlight(requests []bench.Request, at float64) int {
	n := 0
	for _, r := range requests {
		if r.Sent < at && at < r.End {
			n++
		}
	}
	return n
}

func coalesced(requests []bench.Request) float64 {
	chunks, together := 0, 0
	for _, r := range requests {
		chunks += r.Chunks
		together += r.Coalesced
	}
	if chunks == 0 {
		return 0
	}
	return float64(together) / float64(chunks)
}

// connections is how many requests of a load may be in flight at once, as far as can be told beforehand.
func connections(s config.Scenario) int {
	switch l := s.Load; {
	case !l.Open():
		return l.Concurrency
	case l.MaxConcurrency > 0:
		return l.MaxConcurrency
	default:
		return min(l.Requests, max(16, int(8*l.Rate)))
	}
}

// judge marks a run whose server misbehaved: such a run stays, and its candidate can no longer pass.
func judge(run *bench.Run, s config.Scenario) {
	if run.OK == 0 && run.Sent > 0 {
		run.Invalid = "every request failed"
	}
	if c := run.CachedTokens; c != nil && *c > cacheShare && !s.Load.ReusePrompts {
		run.Warnings = append(run.Warnings, fmt.Sprintf("%.0f%% of the prompt tokens came from the server's cache although every run has fresh prompts", 100**c))
	}
}

// cacheShare is the share of cached prompt tokens below which nothing is said: a chat template is cached by right.
const cacheShare = 0.5
