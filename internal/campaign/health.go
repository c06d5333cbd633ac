package campaign

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/stat"
)

// examine fills in what the requests say of the client, and voids the run when the client or the host was beyond a limit.
func examine(run *bench.Run, requests []bench.Request, l config.Load, limits config.Client) {
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
	h := held{run.Client, limits, ttft, run.Metrics["e2el.p50"]}
	run.Client.LagLimit = h.time(limits.Lateness)
	run.Void = h.broken()
}

// held is a run's client against its limits.
type held struct {
	bench.Client
	limits     config.Client
	ttft, e2el float64 // the run's p50, in seconds
}

// time is what a limit on a time comes to in this run: where the share of TTFT p50 is more than the lateness that never
// voids, all of them grow alike.
func (h held) time(limit float64) float64 { return limit * h.growth(h.ttft) }

func (h held) growth(of float64) float64 { return max(1, h.limits.LatenessShare*of/h.limits.Lateness) }

// check is one figure against its limit.
type check struct {
	figure, limit float64
	says          func(figure, limit string) string
	share         bool // of something, not seconds
	off           bool
}

// broken says which limit the run is beyond, with the figure; empty when it keeps them all. Where it breaks several, the
// one nearest to the cause is told: a container that was stopped makes everything else late.
func (h held) broken() string {
	for _, c := range h.checks() {
		if c.off || c.figure <= c.limit {
			continue
		}
		if c.share {
			return c.says(portion(c.figure), portion(c.limit))
		}
		return c.says(millis(c.figure), millis(c.limit))
	}
	return ""
}

func (h held) checks() []check {
	l := h.limits
	told := func(what string) func(figure, limit string) string {
		return func(figure, limit string) string { return fmt.Sprintf(what, figure) + " against a limit of " + limit }
	}
	return []check{
		{h.Throttled, l.Throttled, told("the container's CPU quota stopped the client's group for %s of the machine's time"), true, l.Throttled == 0},
		{h.HostCPU, l.HostCPU, told("the whole machine was busy: %s of its CPU time"), true, l.HostCPU == 0},
		{h.CPU, l.CPU, told("the client itself took %s of the machine's CPU time"), true, l.CPU == 0},
		{h.SelfTest99, h.time(l.Lateness), told("the client's own error in the loopback self-test: p99 %s"), false, false},
		{
			h.SelfTestStream99, l.Lateness * h.growth(h.e2el),
			told("the client stretched the streams of the loopback self-test: p99 %s"), false, false,
		},
		{h.TimerP99, h.time(l.Timer), told("the client was starved of processor time: a 1 ms timer overslept by %s, p99,"), false, l.Timer == 0},
		{h.SchedP99, h.time(l.Sched), told("the client was starved of processor time: what could run in it waited %s, p99,"), false, l.Sched == 0},
		{h.GCPause, h.time(l.GCPause), told("the client's garbage collector paused for %s"), false, l.GCPause == 0},
		{h.LagP99, h.time(l.Lateness), told("the client sent late: p99 %s"), false, false},
	}
}

func millis(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(10 * time.Microsecond).String()
}

func portion(x float64) string { return strconv.FormatFloat(math.Round(1000*x)/10, 'f', -1, 64) + " %" }

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
func judge(run *bench.Run, f fresh) {
	if run.OK == 0 && run.Sent > 0 {
		run.Invalid = "every request failed"
		return
	}
	run.Invalid = f.warm(*run)
	if share, by, _ := cachedShare(*run); run.Invalid == "" && share > cacheShare && f.shared == 0 {
		run.Warnings = append(run.Warnings, fmt.Sprintf("%.0f%% of the prompt tokens came from the server's cache%s although every run has fresh prompts: is its template so long?", 100*share, by))
	}
}

// cacheShare is the share of cached prompt tokens below which nothing is said: a chat template is cached by right.
const cacheShare = 0.5
