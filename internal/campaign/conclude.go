package campaign

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/load"
)

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
