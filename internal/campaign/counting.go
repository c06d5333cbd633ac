package campaign

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/server"
)

// counting looks at a server's own counters before and after a load: never while one runs. What goes wrong here is told
// once and then left alone; it is no reason to stop, and none to distrust what the client measured.
type counting struct {
	look func(context.Context) (server.Counters, bool, error)
	off  bool // nothing is to be had from this server: it is not asked again
}

// Counters may lag behind the answers: a server that counts in its own time is looked at again after these pauses. A look
// and what follows it take no longer than countingWithin together.
var countingPauses = []time.Duration{50 * time.Millisecond, 150 * time.Millisecond, 300 * time.Millisecond, 500 * time.Millisecond}

const countingWithin = 6 * time.Second

// begin is the look before a load; nil where the server tells nothing.
func (c *counting) begin(ctx context.Context) (*server.Counters, error) {
	if c.off {
		return nil, nil
	}
	now, known, err := c.look(ctx)
	if err != nil || !known {
		c.off = true
		return nil, err
	}
	return &now, nil
}

// since is what was counted since the look before a load, looked at until it is enough or has had its time; nil where that
// cannot be told.
func (c *counting) since(ctx context.Context, before *server.Counters, enough func(server.Counters) bool) (*server.Counters, error) {
	if before == nil || c.off {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, countingWithin)
	defer cancel()
	for i := 0; ; i++ {
		now, known, err := c.look(ctx)
		if err == nil && known {
			var counted server.Counters
			if counted, err = now.Since(*before); err == nil && (i == len(countingPauses) || enough(counted)) {
				return &counted, nil
			}
		}
		if err != nil || !known {
			c.off = true
			return nil, err
		}
		if rest(ctx, countingPauses[i]) != nil {
			return nil, nil
		}
	}
}

// holds says whether counters have all of a run in them.
func holds(run bench.Run) func(server.Counters) bool {
	return func(c server.Counters) bool {
		if n, known := c.Of(server.Requests); known {
			return n >= float64(run.OK)
		}
		n, known := c.Of(server.Output)
		return !known || n >= (1-countsDiffer)*run.OutputTokens*float64(run.OK)-c.Doubt()
	}
}

// begin looks at the server's counters before a run. Here and in since the error is that of the journal.
func (v *visit) begin(ctx context.Context) (*server.Counters, error) {
	before, err := v.counts.begin(ctx)
	return before, v.uncounted(ctx, err)
}

// since is what the server counted during a run that came to its end; nil where it does not say.
func (v *visit) since(ctx context.Context, before *server.Counters, run bench.Run, ended error) (*server.Counters, error) {
	if ended != nil || run.OK == 0 {
		return nil, nil // the server may be dead, or in any state
	}
	counted, err := v.counts.since(ctx, before, holds(run))
	return counted, v.uncounted(ctx, err)
}

// uncounted says once in a campaign and side that a server's counters cannot be read.
func (v *visit) uncounted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return nil
	}
	who := v.who() + ": "
	if slices.ContainsFunc(v.j.log.Warnings, func(w bench.Warning) bool {
		return w.Code == "metrics" && strings.HasPrefix(w.Message, who)
	}) {
		return nil
	}
	return v.p.warn("metrics", fmt.Sprintf("%sits own counters cannot be read, and are not asked for again before it is started anew: %v", who, err))
}

// doubtful says of a run where the server's account does not fit what its client saw: each kind once in a scenario and side.
func (v *visit) doubtful(run bench.RunRecord) error {
	if run.WarmUp || run.Server == nil {
		return nil
	}
	for _, what := range slices.Sorted(maps.Keys(run.Server.Doubts)) {
		if v.earlier(run, func(r bench.RunRecord) bool { return r.Server != nil && r.Server.Doubts[what] != "" }) {
			continue
		}
		if err := v.p.warn("server", fmt.Sprintf("%s: %s", v.doing(run.Scenario, run.Order), run.Server.Doubts[what])); err != nil {
			return err
		}
	}
	return nil
}
