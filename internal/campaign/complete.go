package campaign

import (
	"errors"
	"fmt"

	"github.com/benchgate/benchgate/internal/bench"
)

// hintSpoilt is what to do when too many runs were void.
const hintSpoilt = "see the reasons above; measure on a quieter machine, then start anew with --fresh"

// complete says why a campaign that ended is not fit to be judged: a server that misbehaved, or too many void runs.
func (p *protocol) complete() error {
	if err := p.plainFault(); err != nil {
		return err
	}
	if p.plan.turns() {
		looks := p.plan.Config.Campaign.Looks
		for _, s := range p.turned() {
			for _, look := range looks {
				if side := p.spoilt(s.Name, look); side != "" {
					return &ServerError{
						Doing: fmt.Sprintf("scenario %q, %s", s.Name, side), Hint: hintSpoilt,
						Err: errors.New("more runs were spoilt than may be measured again, a fifth of a side"),
					}
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
				Err: fmt.Errorf("%d of %d runs are valid, and %d were void: the client or the machine spoilt more than may be measured again", valid, p.plan.Runs, void),
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
