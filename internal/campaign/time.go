package campaign

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/load"
)

// Share is the part of a campaign that one design measures.
type Share struct {
	// Design is "committed" or "interleaved".
	Design    string
	Scenarios int
	// LeastStarts and MostStarts count starts of a server, replays in a start of their own not among them.
	LeastStarts, MostStarts int
	Best, Worst             time.Duration
	Requests                int // at most, warm-up included
}

// Assumed speeds of a server about which nothing is known: they bound the time of a closed loop.
const (
	bestFirst, bestToken   = 20 * time.Millisecond, 2 * time.Millisecond
	worstFirst, worstToken = 2 * time.Second, 100 * time.Millisecond
)

// estimate bounds the campaign's time. At worst both stages of confirm are measured to the last look; at best the first one
// decides all that has a baseline, and the first look decides the rest.
func (p *Plan) estimate() error {
	p.Parts, p.Best, p.Worst, p.Requests, p.Tokens, p.Guessed = nil, 0, 0, 0, 0, false
	plain := p.plain()
	if len(plain) > 0 {
		if err := p.plainShare(plain); err != nil {
			return err
		}
	}
	if !p.turns() {
		return nil
	}
	best := p.Best
	if err := p.turnShare(); err != nil {
		return err
	}
	if pause := p.Config.Campaign.CoolDown; len(plain) > 0 {
		p.Worst += pause
		if len(plain) == len(p.Scenarios) {
			p.Best = best
		} else {
			p.Best += pause
		}
	}
	return nil
}

// plainShare is one visit: the warm-up requests, then one warm-up run and the runs of every scenario.
func (p *Plan) plainShare(scenarios []config.Scenario) error {
	share := Share{Design: "committed", Scenarios: len(scenarios), LeastStarts: 1, MostStarts: 1, Worst: startTime(p.Config.Target)}
	for i, s := range scenarios {
		one, few, err := p.pass(s)
		if err != nil {
			return err
		}
		if i > 0 {
			few = passed{}
		}
		most := p.Runs + 1 + replays(p.Runs)
		share.Best += few.best + time.Duration(p.Runs+1)*one.best
		share.Worst += few.worst + time.Duration(most)*one.worst
		share.Requests += few.requests + most*one.requests
		p.Tokens += few.tokens + most*one.tokens
	}
	p.add(share)
	return nil
}

// turnShare is the visits of both sides, each with a start, the warm-up requests of every scenario and its runs.
func (p *Plan) turnShare() error {
	c := p.Config.Campaign
	least, most := c.Looks[0], c.Looks[len(c.Looks)-1]
	share := Share{Design: "interleaved", Scenarios: len(p.Scenarios), LeastStarts: 2 * least, MostStarts: 2 * most}
	share.Best = time.Duration(2*least-1) * c.CoolDown
	share.Worst = time.Duration(2*most-1)*c.CoolDown + time.Duration(most)*(startTime(p.Config.Target)+startTime(*p.Config.Reference))
	free := len(p.plain()) == len(p.Scenarios) // nothing has to be measured here: if anything is, it may be everything
	for _, s := range p.Scenarios {
		one, few, err := p.pass(s)
		if err != nil {
			return err
		}
		runs := 2 * (most*c.VisitRuns + replays(most*c.VisitRuns))
		if free || p.Config.Campaign.Design == "interleaved" || !slices.Contains(p.Based, s.Name) {
			share.Best += time.Duration(2*least) * (few.best + time.Duration(c.VisitRuns)*one.best)
		}
		share.Worst += time.Duration(2*most)*few.worst + time.Duration(runs)*one.worst
		share.Requests += 2*most*few.requests + runs*one.requests
		p.Tokens += 2*most*few.tokens + runs*one.tokens
	}
	p.add(share)
	return nil
}

func (p *Plan) add(s Share) {
	p.Parts = append(p.Parts, s)
	p.Best += s.Best
	p.Worst += s.Worst
	p.Requests += s.Requests
}

// startTime is the longest that a start and its stop may take. At best they take no time worth counting.
func startTime(t config.Target) time.Duration {
	if len(t.Command) == 0 {
		return t.ReadyIn
	}
	return t.ReadyIn + t.StopIn
}

// passed bounds one pass.
type passed struct {
	best, worst      time.Duration
	requests, tokens int
}

// pass bounds one run of a scenario, and its warm-up requests.
func (p *Plan) pass(s config.Scenario) (one, few passed, err error) {
	ask, err := p.asks(s)
	if err != nil {
		return one, few, fmt.Errorf("scenario %q: %w", s.Name, err)
	}
	one = passTime(s, ask)
	if d, ok := p.known[s.Name]; ok && d > 0 {
		one.best, one.worst = time.Duration(max(0.8*d, s.Load.MinDuration)*1e9), time.Duration(2*d*1e9)
	} else if !s.Load.Open() {
		p.Guessed = true
	}
	warmUp := s
	warmUp.Load.Requests, warmUp.Load.MinDuration = min(p.Config.Campaign.WarmUp, s.Load.Requests), 0
	if warmUp.Load.Requests > 0 {
		few = passTime(warmUp, ask)
		share := float64(warmUp.Load.Requests) / float64(s.Load.Requests)
		if d, ok := p.known[s.Name]; ok && d > 0 {
			few.best, few.worst = time.Duration(0.8*share*d*1e9), time.Duration(2*d*1e9)
		}
	}
	return one, few, nil
}

// passTime bounds one pass at assumed speeds.
func passTime(s config.Scenario, ask demand) passed {
	tokens := time.Duration(max(0, ask.longest-1))
	fast, slow := bestFirst+tokens*bestToken, worstFirst+tokens*worstToken
	p := passed{requests: s.Load.Requests, tokens: int(math.Ceil(float64(s.Load.Requests) * ask.perRequest))}
	if s.Load.Open() {
		schedule := time.Duration(float64(s.Load.Requests) / s.Load.Rate * float64(time.Second))
		p.best, p.worst = schedule+fast, schedule+slow
		return p
	}
	rounds := func(n int) time.Duration {
		return time.Duration(math.Ceil(float64(n) / float64(max(1, s.Load.Concurrency))))
	}
	p.best, p.worst = rounds(s.Load.Requests)*fast, rounds(s.Load.Requests)*slow
	if least := time.Duration(s.Load.MinDuration * float64(time.Second)); least > 0 {
		// The last requests may be sent just before the time is over. How many there are depends on the server: at most as many
		// as the fastest assumed one answers.
		p.best, p.worst = max(p.best, least), max(p.worst, least+slow)
		p.requests = max(s.Load.Requests, min(load.MostRequests, int(least/fast+1)*s.Load.Concurrency))
		p.tokens = int(math.Ceil(float64(p.requests) * ask.perRequest))
	}
	return p
}
