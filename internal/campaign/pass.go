package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/load"
	"github.com/benchgate/benchgate/internal/openai"
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

// pass plays one run, writing every request as it ends and the run when it is complete.
func (v *visit) pass(ctx context.Context, s config.Scenario, warmUp bool) error {
	if err := v.server.Reset(ctx); err != nil {
		return serverError("reset the server before a run", err)
	}
	before, err := v.begin(ctx)
	if err != nil {
		return err
	}
	if err := v.client.Open(ctx, connections(s)); err != nil {
		return serverError("open connections", err)
	}
	v.order++
	order := v.order
	workload, salt := v.p.workloads[s.Name], v.salt(s, warmUp)
	at := v.progress(s, warmUp)
	v.o.progress(at)
	var writeErr error
	started := v.o.Now().UTC()
	watch := host.Watch()
	requests, duration, err := load.Run(ctx, v.client, load.Pass{
		Load: s.Load, Exact: v.caps.Exact,
		Prompts:      workload.Salted(salt),
		More:         func(i int) openai.Prompt { return workload.More(salt, i) },
		OutputTokens: workload.OutputTokens(),
		Abort:        v.abort(),
		OnRequest:    v.noting(s.Name, order, at, &writeErr),
	})
	client := watch.Stop()
	if writeErr != nil {
		return writeErr
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	run := v.condense(s, requests, duration, client)
	run.Order, run.Started = order, started
	counted, writeErr := v.since(ctx, before, run, err)
	if writeErr != nil {
		return writeErr
	}
	run.Server = accountOf(requests, counted)
	examine(&run, requests, s.Load, v.limits())
	if err := v.conclude(s, run, warmUp, err); err != nil || run.Void == "" {
		return err
	}
	return v.selfTest(ctx, s) // the machine may be calmer now
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
func (v *visit) condense(s config.Scenario, requests []bench.Request, duration float64, client bench.Client) bench.Run {
	run := bench.Condense(requests, duration, s.SLO, v.metrics()...)
	client.Reconnects = run.Client.Reconnects
	run.Client = v.account(client, s)
	if s.Load.Open() {
		run.Pace = bench.PaceOf(requests, s.Load.Rate)
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

// conclude writes the run and says whether the campaign may go on after it.
func (v *visit) conclude(s config.Scenario, run bench.Run, warmUp bool, err error) error {
	judge(&run, v.fresh(s.Name))
	hopeless := errors.Is(err, load.ErrAborted) || run.Sent > 0 && run.OK == 0
	died := v.died(hopeless)
	if died {
		run.Invalid = "the server died during this run"
	}
	if err != nil && run.Invalid == "" {
		run.Invalid = err.Error()
	}
	if run.Invalid != "" {
		run.Void = "" // what the server did stays, even where the client was late too
	}
	if run.Pace.Behind() {
		run.Warnings = append(run.Warnings, saturated(*run.Pace))
	}
	record := bench.RunRecord{Scenario: s.Name, Visit: v.number, WarmUp: warmUp, Run: run}
	if writeErr := v.write(bench.Record{Run: &record}); writeErr != nil {
		return writeErr
	}
	if run.Pace.Behind() && !warmUp && !v.earlier(record, func(r bench.RunRecord) bool { return r.Pace.Behind() }) {
		if err := v.p.warn("saturated", fmt.Sprintf("scenario %q, run %d: %s", s.Name, run.Order, saturated(*run.Pace))); err != nil {
			return err
		}
	}
	if err := v.doubtful(record); err != nil {
		return err
	}
	if run.Void != "" && !warmUp {
		if warnErr := v.p.warn("void", fmt.Sprintf("scenario %q: run %d is void: %s", s.Name, run.Order, run.Void)); warnErr != nil {
			return warnErr
		}
	}
	switch {
	case died:
		return errDied
	case hopeless:
		return &ServerError{
			Doing: v.doing(s.Name, run.Order), Err: errors.Join(err, firstFailure(run)),
			Hint: v.afterwards(),
		}
	}
	return err
}

// saturated says what it means that a server did not keep up.
func saturated(p bench.Pace) string {
	return p.String() + ": it is saturated, and latencies grow with the length of the run"
}

// earlier reports whether this was so of a run of the scenario and side before this one: it is said once.
func (v *visit) earlier(run bench.RunRecord, so func(bench.RunRecord) bool) bool {
	return slices.ContainsFunc(v.j.log.Runs, func(r bench.RunRecord) bool {
		return r.Scenario == run.Scenario && !r.WarmUp && r.Order < run.Order && VisitOf(v.j.log, r.Visit).Side == v.side && so(r)
	})
}

// doing names a run in errors.
func (v *visit) doing(scenario string, order int) string {
	if v.slot > 0 {
		return fmt.Sprintf("scenario %q, run %d, %s", scenario, order, v.side)
	}
	return fmt.Sprintf("scenario %q, run %d", scenario, order)
}

// grace is how long a server that just failed everything is given to turn out dead: its connections break a little
// before its process is gone.
const grace = 2 * time.Second

// died reports whether the server's process has ended; when everything failed it waits a little for that.
func (v *visit) died(failing bool) bool {
	select {
	case <-v.server.Died():
		return true
	default:
	}
	if !failing {
		return false
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-v.server.Died():
		return true
	case <-t.C:
		return false
	}
}

// hintRecord is what to do about a server that misbehaved in a run.
const hintRecord = "the run stays on record, so this candidate cannot pass; mend the server, then start anew with --fresh"

var errDied = errors.New("it exited while requests were running")

func firstFailure(run bench.Run) error {
	if run.FirstError == "" {
		return nil
	}
	return fmt.Errorf("%d of %d requests failed; the first said: %s", run.Sent-run.OK, run.Sent, run.FirstError)
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
