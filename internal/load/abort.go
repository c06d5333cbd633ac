package load

import (
	"fmt"

	"github.com/benchgate/benchgate/internal/bench"
)

// abortRule counts failures as requests end.
type abortRule struct {
	Abort
	planned                int
	more                   bool // the planned ones may not be all
	ended, failed, running int  // running: failures since the last success
	fired                  bool
}

// add counts a request and returns why the run should end, once. The last request ends no run: there is nothing left to
// save. A request that we canceled says nothing about the server.
func (a *abortRule) add(q bench.Request) error {
	if q.Class == bench.Canceled {
		return nil
	}
	a.ended++
	if q.Class == bench.OK {
		a.running = 0
		return nil
	}
	a.failed++
	a.running++
	if a.fired || a.ended >= a.planned && !a.more {
		return nil
	}
	reason := a.reason()
	if reason == "" {
		return nil
	}
	a.fired = true
	return fmt.Errorf("%w: %s; the last: %s", ErrAborted, reason, describe(q))
}

func (a *abortRule) reason() string {
	planned := max(a.planned, a.ended)
	switch {
	case a.InARow > 0 && a.running >= a.InARow:
		return fmt.Sprintf("%d requests failed in a row", a.running)
	case a.Errors > 0 && a.ended >= leastForShare && float64(a.failed) > a.Errors*float64(planned):
		return fmt.Sprintf("%d of %d requests have failed, more than %.3g%% of the %d planned", a.failed, a.ended, 100*a.Errors, planned)
	}
	return ""
}

func describe(q bench.Request) string {
	if q.Error == "" {
		return string(q.Class)
	}
	return fmt.Sprintf("%s: %s", q.Class, q.Error)
}
