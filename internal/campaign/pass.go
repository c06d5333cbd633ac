package campaign

import (
	"context"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/load"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/server"
)

// measure warms the server up, then takes turns over the scenarios until each has its runs: slow changes of the machine
// then touch all scenarios alike.
func (v *visit) measure(ctx context.Context) error {
	if err := v.warmUp(ctx); err != nil {
		return err
	}
	for again := true; again; {
		again = false
		for _, s := range v.scenarios {
			if !v.wants(s.Name) {
				continue
			}
			again = true
			if err := v.pass(ctx, s, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// wants reports whether a scenario lacks a run that this visit may measure.
func (v *visit) wants(scenario string) bool {
	if v.slot > 0 {
		return v.p.lacks(v.part, scenario)
	}
	return v.p.wants(scenario)
}

// warmUp sends what is not judged. The one visit of a committed session gets the warm-up requests and one whole run of
// every scenario: what is still settling after it would stand in every later run. Where both sides are measured in turn
// every visit is a start and both sides settle alike, so whole runs would double the hours and show no more: each scenario
// gets the warm-up requests alone. A server that needs longer asks for more of them: campaign.warmup.
func (v *visit) warmUp(ctx context.Context) error {
	for i, s := range v.scenarios {
		if _, done := v.p.selfTests[s.Name]; !done {
			if err := v.selfTest(ctx, s); err != nil {
				return err
			}
		}
		if n := v.p.plan.Config.Campaign.WarmUp; n > 0 && (i == 0 || v.slot > 0) {
			few := s
			few.Load.Requests, few.Load.MinDuration = min(n, s.Load.Requests), 0
			if err := v.pass(ctx, few, true); err != nil {
				return err
			}
		}
		if v.slot > 0 {
			continue
		}
		if err := v.pass(ctx, s, true); err != nil {
			return err
		}
	}
	return nil
}

// salt makes the prompts of a run new to the server. The k-th visits of both sides share theirs; two scenarios never do,
// since both may have the same dataset. A run that is measured again in the same start must not find its prompts in the
// cache, so it gets others of the same lengths.
func (v *visit) salt(s config.Scenario, warmUp bool) string {
	id := v.p.session(v.slot > 0)
	if v.slot == 0 {
		return load.Salt(s.Load.Seed, id, v.order)
	}
	id += "/" + s.Name
	switch valid, void := v.tally(s.Name); {
	case void > 0, v.again && len(v.target.Command) == 0:
		return load.Salt(s.Load.Seed, id+"/again", v.order)
	case warmUp:
		return load.Salt(s.Load.Seed, id+"/warm-up", v.pair())
	default:
		return load.Salt(s.Load.Seed, id, (v.pair()-1)*v.p.plan.Config.Campaign.VisitRuns+valid+1)
	}
}

// tally counts the runs of a scenario in this visit.
func (v *visit) tally(scenario string) (valid, void int) {
	return v.j.tally(func(_ bench.VisitRecord, r bench.RunRecord) bool {
		return r.Scenario == scenario && r.Visit == v.number
	})
}

// progress is where the visit stands in the runs of a scenario.
func (v *visit) progress(s config.Scenario, warmUp bool) Progress {
	at := Progress{Scenario: s.Name, WarmUp: warmUp, Of: v.p.plan.Runs, Requests: s.Load.Requests}
	if v.slot == 0 {
		valid, _ := v.p.plainTally(s.Name)
		at.Run = valid + 1
		return at
	}
	c := v.p.plan.Config.Campaign
	valid, _ := v.tally(s.Name)
	at.Side, at.Run, at.Of = v.side, (v.pair()-1)*c.VisitRuns+valid+1, c.Looks[len(c.Looks)-1]*c.VisitRuns
	return at
}

// pass measures one run and writes it, and every request as it ends.
func (v *visit) pass(ctx context.Context, s config.Scenario, warmUp bool) error {
	before, err := v.ready(ctx, s)
	if err != nil {
		return err
	}
	p, err := v.play(ctx, s, warmUp)
	if err != nil {
		return err
	}
	run := v.condense(s, p)
	counted, err := v.since(ctx, before, run, p.ended)
	if err != nil {
		return err
	}
	run.Server = accountOf(p.requests, counted)
	examine(&run, p.requests, s.Load, v.limits())
	if err := v.conclude(s, run, warmUp, p.ended); err != nil || run.Void == "" {
		return err
	}
	return v.selfTest(ctx, s) // the machine may be calmer now
}

// ready brings the server to where every run begins: reset, its counters looked at, the connections open.
func (v *visit) ready(ctx context.Context, s config.Scenario) (*server.Counters, error) {
	if err := v.server.Reset(ctx); err != nil {
		return nil, serverError("reset the server before a run", err)
	}
	before, err := v.begin(ctx)
	if err != nil {
		return nil, err
	}
	if err := v.client.Open(ctx, connections(s)); err != nil {
		return nil, serverError("open connections", err)
	}
	return before, nil
}

// played is what came of sending the requests of a run.
type played struct {
	order    int
	started  time.Time
	requests []bench.Request
	duration float64      // in seconds
	client   bench.Client // what the host says of it
	ended    error        // why the run was broken off; nil: it came to its end
}

// play sends the requests of a run. Its error is that of the journal or of the context, and the run then does not count.
func (v *visit) play(ctx context.Context, s config.Scenario, warmUp bool) (played, error) {
	v.order++
	p := played{order: v.order}
	workload, salt := v.p.workloads[s.Name], v.salt(s, warmUp)
	at := v.progress(s, warmUp)
	v.o.progress(at)
	var writeErr error
	p.started = v.o.Now().UTC()
	watch := host.Watch()
	p.requests, p.duration, p.ended = load.Run(ctx, v.client, load.Pass{
		Load: s.Load, Exact: v.caps.Exact,
		Prompts:      workload.Salted(salt),
		More:         func(i int) openai.Prompt { return workload.More(salt, i) },
		OutputTokens: workload.OutputTokens(),
		Abort:        v.abort(),
		OnRequest:    v.noting(s.Name, p.order, at, &writeErr),
	})
	p.client = watch.Stop()
	if writeErr != nil {
		return played{}, writeErr
	}
	if ctx.Err() != nil {
		return played{}, context.Cause(ctx)
	}
	return p, nil
}

// noting writes each request of a run as it ends and shows how far the run is. The first error of writing is kept.
func (v *visit) noting(scenario string, order int, at Progress, failed *error) func(bench.Request) {
	return func(r bench.Request) {
		if at.Done++; at.Done > at.Requests { // a time to fill: nobody knows how many there will be
			at.Requests *= 2
		}
		v.o.progress(at)
		if *failed == nil {
			*failed = v.write(bench.Record{Request: &bench.RequestRecord{Scenario: scenario, Order: order, Request: r}})
		}
	}
}

// condense makes a run of its requests, with what the client knows of itself.
func (v *visit) condense(s config.Scenario, p played) bench.Run {
	run := bench.Condense(p.requests, p.duration, s.SLO, v.metrics()...)
	run.Order, run.Started = p.order, p.started
	p.client.Reconnects = run.Client.Reconnects
	run.Client = v.account(p.client, s)
	if s.Load.Open() {
		run.Pace = bench.PaceOf(p.requests, s.Load.Rate)
	}
	return run
}

// account adds to what the host says of the client in a run what was known of it before.
func (v *visit) account(c bench.Client, s config.Scenario) bench.Client {
	e := v.p.selfTests[s.Name]
	c.SelfTest50, c.SelfTest99, c.SelfTestStream99 = e.ttft50, e.ttft99, e.stream99
	c.SameHost = host.Local(v.caps.Address)
	c.OpenFiles, c.Connections = v.files, connections(s)
	return c
}

// limits are those of the config. A server in memory lives in the client's own process, and its time may be virtual: what
// the machine says of the process then says nothing of the client.
func (v *visit) limits() config.Client {
	return inMemory(v.p.plan.Config.Campaign.Client, v.o.Dial != nil)
}

func inMemory(l config.Client, is bool) config.Client {
	if is {
		l.Sched, l.GCPause, l.CPU, l.HostCPU, l.Throttled = 0, 0, 0, 0, 0
	}
	return l
}

func (v *visit) abort() load.Abort {
	c := v.p.plan.Config.Campaign
	return load.Abort{Errors: c.AbortErrors, InARow: c.AbortInRow}
}

// metrics names what the rules ask beyond the standard statistics.
func (v *visit) metrics() []string {
	var names []string
	for _, r := range v.p.plan.Config.Policy.Rules {
		names = append(names, r.Metric)
	}
	return names
}
