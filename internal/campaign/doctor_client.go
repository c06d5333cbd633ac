package campaign

import (
	"context"
	"fmt"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/host"
)

// trial is a load that the client is tested under.
type trial struct {
	name   string
	load   config.Load
	tokens int
}

// trials are the loads of the plan; without one, quiet and busy ones.
func (d *doctor) trials() []trial {
	var all []trial
	if d.Plan == nil {
		for _, n := range []int{1, 8, 64} {
			all = append(all, trial{fmt.Sprintf("%d at a time", n), config.Load{Concurrency: n}, selfTestTokens})
		}
		return all
	}
	for _, s := range d.Plan.Scenarios {
		all = append(all, trial{s.Name, s.Load, s.OutputTokens})
	}
	return all
}

func (d *doctor) limits() config.Client {
	l := config.DefaultClient()
	if d.Plan != nil {
		l = d.Plan.Config.Campaign.Client
	}
	return inMemory(l, d.Dial != nil)
}

// client tests this program on the loopback: what it would add to every number.
func (d *doctor) client(ctx context.Context) {
	for _, t := range d.trials() {
		if ctx.Err() != nil {
			return
		}
		d.Say("self-test of the client: " + t.name)
		watch := host.Watch()
		e, err := selfTest(ctx, t.load, t.tokens, d.Dial != nil)
		account := watch.Stop()
		if err != nil {
			d.add(Check{
				Section: "client", Name: t.name, State: Fail, Found: "the self-test failed: " + err.Error(),
				Why: "what cannot measure a server on the loopback cannot measure another", Next: "does a firewall or a sandbox forbid connections to 127.0.0.1?",
			})
			continue
		}
		account.SelfTest50, account.SelfTest99, account.SelfTestStream99 = e.ttft50, e.ttft99, e.stream99
		d.add(d.judged(t, account))
	}
}

// judged holds the client's account of a self-test against the limits that void runs. The machine's share of work and the
// client's own are left out: a self-test is a load on both ends.
func (d *doctor) judged(t trial, c bench.Client) Check {
	limits := d.limits()
	limits.CPU, limits.HostCPU = 0, 0
	h := held{c, limits, d.ttft, d.e2el}
	found := Check{
		Section: "client", Name: t.name, State: Good,
		Found: fmt.Sprintf("TTFT error p50 %s, p99 %s of at most %s; 1 ms timer late by %s; GC pause %s",
			brief(c.SelfTest50), brief(c.SelfTest99), brief(h.time(limits.Lateness)), brief(c.TimerP99), brief(c.GCPause)),
		Figures: map[string]float64{
			"ttft_error_p50": c.SelfTest50, "ttft_error_p99": c.SelfTest99, "stream_error_p99": c.SelfTestStream99,
			"limit": h.time(limits.Lateness), "timer_p99": c.TimerP99, "sched_p99": c.SchedP99, "gc_pause_max": c.GCPause,
		},
	}
	if why := h.broken(); why != "" {
		found.State, found.Why = Fail, why+": such a run is void"
		found.Next = "end other work on this machine, give the client cores of its own, or lower the scenario's load; https://github.com/benchgate/benchgate/blob/main/docs/client.md says more"
		if d.Plan == nil { // nobody asks for this load
			found.State = Warn
		}
	}
	return found
}
