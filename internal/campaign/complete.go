package campaign

import (
	"errors"
	"fmt"

	"github.com/benchgate/benchgate/internal/bench"
)

// hintSpoilt is what to do when too many runs were void.
const hintSpoilt = "see the reasons above; measure on a quieter machine, then start anew with --fresh"

// ErrSpoilt is the cause when a campaign ended for void runs.
var ErrSpoilt = errors.New("the client or the machine spoilt more runs than may be measured again")

// decides is the look that the campaign is judged by at the latest: the last one that the budget left time for.
func (p *protocol) decides() int {
	if p.overAt > 0 {
		return p.overAt
	}
	return p.plan.lastLook()
}

// complete says why a campaign that ended is not fit to be judged: a server that misbehaved, or too many void runs.
func (p *protocol) complete() error {
	if err := p.plainFault(); err != nil {
		return err
	}
	if p.plan.turns() {
		for _, s := range p.turned() {
			if side := p.spoilt(s.Name, p.decides()); side != "" {
				return &ServerError{
					Doing: fmt.Sprintf("scenario %q, %s", s.Name, side), Hint: hintSpoilt,
					Err: fmt.Errorf("%w, a fifth of a side", ErrSpoilt),
				}
			}
		}
	}
	return p.misbehaved(func(bench.VisitRecord) bool { return true })
}

// plainDone reports whether the committed part has all its runs.
func (p *protocol) plainDone() bool {
	for _, s := range p.plan.plain() {
		if valid, _ := p.plainTally(s.Name); valid < p.plan.Runs {
			return false
		}
	}
	return true
}

// plainFault says why the committed part cannot be judged, nor be followed by another.
func (p *protocol) plainFault() error {
	for _, s := range p.plan.plain() {
		if valid, void := p.plainTally(s.Name); valid < p.plan.Runs {
			return &ServerError{
				Doing: fmt.Sprintf("scenario %q", s.Name), Hint: hintSpoilt,
				Err: fmt.Errorf("%d of %d runs are valid, and %d were void: %w", valid, p.plan.Runs, void, ErrSpoilt),
			}
		}
	}
	return p.misbehaved(func(v bench.VisitRecord) bool { return v.Stage == p.plan.stage() && len(p.plan.plain()) > 0 })
}

// misbehaved finds the first run in which the candidate's server did: it stays on record.
func (p *protocol) misbehaved(in func(bench.VisitRecord) bool) error {
	for _, r := range p.j.log.Runs {
		v := VisitOf(p.j.log, r.Visit)
		if r.Invalid != "" && !r.WarmUp && v.Side != reference && in(v) {
			return &ServerError{Doing: fmt.Sprintf("scenario %q, run %d", r.Scenario, r.Order), Err: errors.New(r.Invalid), Hint: hintRecord}
		}
	}
	return nil
}
