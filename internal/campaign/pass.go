package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/load"
)

// measure warms the server up, then takes turns over the scenarios until each has its runs: slow changes of the machine
// then touch all scenarios alike.
func (v *visit) measure(ctx context.Context) error {
	if err := v.warmUp(ctx); err != nil {
		return err
	}
	for again := true; again; {
		again = false
		for _, s := range v.o.Plan.Scenarios {
			if !wants(v.j, s.Name, v.o.Plan.Runs) {
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

// warmUp sends the warm-up requests and one whole run of every scenario that still lacks runs. Neither is judged.
func (v *visit) warmUp(ctx context.Context) error {
	first := true
	for _, s := range v.o.Plan.Scenarios {
		if !wants(v.j, s.Name, v.o.Plan.Runs) {
			continue
		}
		if err := v.selfTest(ctx, s); err != nil {
			return err
		}
		if n := v.o.Plan.Config.Campaign.WarmUp; first && n > 0 {
			few := s
			few.Load.Requests = min(n, s.Load.Requests)
			if err := v.pass(ctx, few, true); err != nil {
				return err
			}
		}
		first = false
		if err := v.pass(ctx, s, true); err != nil {
			return err
		}
	}
	return nil
}

// pass plays one run, writing every request as it ends and the run when it is complete.
func (v *visit) pass(ctx context.Context, s config.Scenario, warmUp bool) error {
	if err := v.server.Reset(ctx); err != nil {
		return serverError("reset the server before a run", err)
	}
	if err := v.client.Open(ctx, connections(s)); err != nil {
		return serverError("open connections", err)
	}
	v.order++
	order, done := v.order, 0
	valid, _ := v.j.tally(s.Name)
	at := Progress{Scenario: s.Name, WarmUp: warmUp, Run: valid + 1, Of: v.o.Plan.Runs, Requests: s.Load.Requests}
	v.o.progress(at)
	var writeErr error
	started := v.o.Now().UTC()
	watch := host.Watch()
	requests, duration, err := load.Run(ctx, v.client, load.Pass{
		Load: s.Load, Exact: v.caps.Exact,
		Prompts:      v.workloads[s.Name].Salted(load.Salt(s.Load.Seed, v.o.ID, order)),
		OutputTokens: v.workloads[s.Name].OutputTokens(),
		Abort:        v.abort(),
		OnRequest: func(r bench.Request) {
			done++
			at.Done = done
			v.o.progress(at)
			if writeErr == nil {
				writeErr = v.write(bench.Record{Request: &bench.RequestRecord{Scenario: s.Name, Order: order, Request: r}})
			}
		},
	})
	client := watch.Stop()
	if writeErr != nil {
		return writeErr
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	run := bench.Condense(requests, duration, s.SLO, v.metrics()...)
	run.Order, run.Started = order, started
	client.Reconnects, client.SelfTest99 = run.Client.Reconnects, v.selfTests[s.Name]
	run.Client = client
	examine(&run, requests, s.Load, v.o.Lateness)
	if err := v.conclude(s, run, warmUp, err); err != nil || run.Void == "" {
		return err
	}
	return v.selfTest(ctx, s) // the machine may be calmer now
}

// conclude writes the run and says whether the campaign may go on after it.
func (v *visit) conclude(s config.Scenario, run bench.Run, warmUp bool, err error) error {
	judge(&run, s)
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
	record := bench.RunRecord{Scenario: s.Name, Visit: v.number, WarmUp: warmUp, Run: run}
	if writeErr := v.write(bench.Record{Run: &record}); writeErr != nil {
		return writeErr
	}
	if run.Void != "" && !warmUp {
		if warnErr := v.warn("void", fmt.Sprintf("scenario %q: run %d is void: %s", s.Name, run.Order, run.Void)); warnErr != nil {
			return warnErr
		}
	}
	switch {
	case died:
		return errDied
	case hopeless:
		return &ServerError{
			Doing: fmt.Sprintf("scenario %q, run %d", s.Name, run.Order), Err: errors.Join(err, firstFailure(run)),
			Hint: v.afterwards(),
		}
	}
	return err
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
	c := v.o.Plan.Config.Campaign
	return load.Abort{Errors: c.AbortErrors, InARow: c.AbortInRow}
}

// metrics names what the rules ask beyond the standard statistics.
func (v *visit) metrics() []string {
	var names []string
	for _, r := range v.o.Plan.Config.Policy.Rules {
		names = append(names, r.Metric)
	}
	return names
}
