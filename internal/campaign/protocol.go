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

// The sides of a campaign, as records name them.
const (
	candidate = "candidate"
	reference = "reference"
)

// protocol says what a campaign measures next. It knows nothing but the plan and the journal, so a campaign that was
// killed goes on exactly where it stopped.
//
// Where both sides are measured in turn, the place of a visit is its slot, from 1, and sides stand R C C R | R C C R …
// (R the reference, C the candidate). In every four slots both sides then have the same mean place, so at each look, an
// even number of visits a side, the order tells nothing of the side, and a machine that slowly gets faster or slower
// touches both alike. The reference begins: what only the first start of all suffers, such as a model file that is not in
// the page cache yet, can then turn no candidate red.
type protocol struct {
	o    Options
	j    *journal
	plan Plan
	// asked and looked keep the answers of Options.Stage1 and Options.Look: what a look decided stays so.
	asked  map[string]bool
	looked map[int][]config.Scenario
	// overAt is the last look that every scenario had passed when the budget was over, in visits a side; 0 otherwise.
	overAt int
	// unstopped is why a server could not be stopped.
	unstopped error
	// Shared by the visits: prompts, and the client's own error by scenario.
	workloads map[string]load.Workload
	selfTests map[string]clientError
}

func newProtocol(j *journal, o Options) *protocol {
	if began := j.log.Header.Campaign; began != "" {
		o.ID = began
	}
	return &protocol{
		o: o, j: j, plan: o.Plan, looked: map[int][]config.Scenario{},
		workloads: map[string]load.Workload{}, selfTests: map[string]clientError{},
	}
}

// part is what one start of a server is for.
type part struct {
	number    int // of the visit
	side      string
	stage     int // 1: the committed part of a confirm campaign
	slot      int // place in the order of sides, from 1; 0 where only the candidate is measured
	scenarios []config.Scenario
}

// pair is which visit of its side this is: the k-th of both sides send the same prompts.
func (p part) pair() int { return (p.slot + 1) / 2 }

// who names the server in sentences.
func (p part) who() string {
	if p.side == reference {
		return "the reference"
	}
	return "the server under test"
}

// sideOf is whose turn a slot is: R C C R, over and over.
func sideOf(slot int) string {
	if slot%4 == 0 || slot%4 == 1 {
		return reference
	}
	return candidate
}

func (p *protocol) finished() bool {
	_, more := p.next()
	return !more
}

// next is what to measure now; false when nothing is missing that may be measured.
func (p *protocol) next() (part, bool) {
	if len(p.plan.plain()) > 0 {
		var todo []config.Scenario
		for _, s := range p.plan.plain() {
			if p.wants(s.Name) {
				todo = append(todo, s)
			}
		}
		if len(todo) > 0 {
			return part{number: len(p.j.log.Visits) + 1, side: candidate, stage: p.plan.stage(), scenarios: todo}, true
		}
		if p.plan.stage() == 0 || p.plainFault() != nil {
			return part{}, false
		}
	}
	next, _, more := p.turn()
	return next, more
}

// wants reports whether a scenario of the committed part lacks a run and has not used up its replays.
func (p *protocol) wants(scenario string) bool {
	valid, void := p.plainTally(scenario)
	return valid < p.plan.Runs && void <= replays(p.plan.Runs)
}

func (p *protocol) plainTally(scenario string) (valid, void int) {
	return p.j.tally(func(v bench.VisitRecord, r bench.RunRecord) bool {
		return r.Scenario == scenario && v.Stage == p.plan.stage() && v.Side != reference
	})
}

// ErrBudget is the cause when campaign.budget is over.
var ErrBudget = errors.New("campaign.budget is over")

// ErrLocked is the cause when the device was waited for long enough.
var ErrLocked = errors.New("it did not come free in time")

// lock takes the device. A server in memory has none to itself.
func (p *protocol) lock(ctx context.Context) (unlock func() error, err error) {
	device := p.o.Lock
	switch {
	case device == "" && p.o.Dial != nil:
		return func() error { return nil }, nil
	case device == "":
		device = p.o.Host.Device()
	}
	if p.o.LockTimeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, p.o.LockTimeout, ErrLocked)
		defer cancel()
		ctx = limited
	}
	unlock, err = host.Lock(ctx, device, func(msg string) { p.o.say("%s", msg) })
	switch {
	case errors.Is(err, ErrLocked):
		return nil, &ServerError{
			Doing: "lock the device", Err: fmt.Errorf("%w, %s", err, p.o.LockTimeout),
			Hint: "nothing was measured: run the same command again, or wait longer with --lock-timeout",
		}
	case err != nil:
		return nil, fmt.Errorf("lock the device: %w", err)
	}
	return unlock, nil
}

// within measures as long as the budget lasts. Waiting for the device does not count. Once every scenario has passed a
// look, the end of the budget is no error: the last look decides.
func (p *protocol) within(ctx context.Context) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	limited := ctx
	budget := p.plan.Config.Campaign.Budget
	if budget > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, budget, ErrBudget)
		defer cancel()
	}
	err = p.measure(limited)
	if !errors.Is(err, ErrBudget) && !(errors.Is(err, context.DeadlineExceeded) && limited.Err() != nil && ctx.Err() == nil) {
		return err
	}
	if p.plan.turns() && p.plainDone() {
		if _, passed, _ := p.turn(); passed > 0 {
			p.overAt = passed
			said := p.warn("budget", fmt.Sprintf("campaign.budget, %s, was over before the last look: that at %d visits a side decides", budget, passed))
			return errors.Join(said, p.unstopped)
		}
	}
	over := &ServerError{Doing: "measure", Err: ErrBudget, Hint: "what was measured is on disk: run the same command again to measure the rest"}
	return errors.Join(over, p.unstopped)
}

// measure makes one visit after the other, with a pause between them.
func (p *protocol) measure(ctx context.Context) error {
	for first := true; ; first = false {
		next, more := p.next()
		if !more {
			return nil
		}
		if !first {
			if err := rest(ctx, p.plan.Config.Campaign.CoolDown); err != nil {
				return err
			}
		}
		if next.slot > 0 {
			looks := p.plan.Config.Campaign.Looks
			p.o.say("visit %d: %s, %d of at most %d", next.number, next.side, next.pair(), looks[len(looks)-1])
		}
		if err := newVisit(p, next).run(ctx); err != nil {
			return err
		}
	}
}

// rest waits, as long as nobody asks for the end.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

func (p *protocol) warn(code, message string) error {
	p.o.say("warning: %s", message)
	return p.j.write(bench.Record{Warning: &bench.Warning{At: p.o.Now().UTC(), Code: code, Message: message}})
}
