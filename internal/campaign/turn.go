package campaign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
)

// turn is the next visit of the part in which both sides are measured in turn, and how many visits a side the last look
// had that every scenario passed; 0 before the first.
func (p *protocol) turn() (next part, passed int, more bool) {
	active, slot, before := p.turned(), 1, p.before()
	for k, look := range p.plan.Config.Campaign.Looks {
		active = slices.DeleteFunc(slices.Clone(active), func(s config.Scenario) bool { return p.spoilt(s.Name, p.plan.lastLook()) != "" })
		if len(active) == 0 {
			return part{}, passed, false
		}
		for ; slot <= 2*look; slot++ {
			next := part{number: before + slot, side: sideOf(slot), slot: slot}
			for _, s := range active {
				if p.lacks(next, s.Name) {
					next.scenarios = append(next.scenarios, s)
				}
			}
			if len(next.scenarios) > 0 {
				return next, passed, true
			}
		}
		passed = look
		active = p.lookAt(k, active)
	}
	return part{}, passed, false
}

// lacks reports whether a scenario lacks runs in a slot and has not used up its replays.
func (p *protocol) lacks(at part, scenario string) bool {
	valid, _ := p.j.tally(func(_ bench.VisitRecord, r bench.RunRecord) bool {
		return r.Scenario == scenario && r.Visit == at.number
	})
	return valid < p.plan.Config.Campaign.VisitRuns && p.spoilt(scenario, p.plan.lastLook()) == ""
}

// spoilt names the side of which more runs were void, up to a look, than may be measured again; empty when neither is. What
// may be is a share of all that a side has at that look. While it is measured that is the last look: an earlier one that has
// more void runs than its own share decides nothing, and the next may.
func (p *protocol) spoilt(scenario string, look int) string {
	before, may := p.before(), replays(look*p.plan.Config.Campaign.VisitRuns)
	for _, side := range []string{reference, candidate} {
		_, void := p.j.tally(func(v bench.VisitRecord, r bench.RunRecord) bool {
			return r.Scenario == scenario && v.Side == side && r.Visit > before && r.Visit <= before+2*look
		})
		if void > may {
			return side
		}
	}
	return ""
}

// before is the number of the last visit before the first slot.
func (p *protocol) before() int {
	last := 0
	for _, v := range p.j.log.Visits {
		if v.Stage == 1 {
			last = max(last, v.Number)
		}
	}
	return last
}

// turned are the scenarios that are measured in turn: all of an interleaved campaign, of a confirm one those that the
// committed part left open or has no baseline for.
func (p *protocol) turned() []config.Scenario {
	first := p.plan.plain()
	if len(first) == 0 || p.o.Stage1 == nil {
		return p.plan.Scenarios
	}
	if p.asked == nil {
		p.asked = map[string]bool{}
		for _, name := range p.o.Stage1(p.plainDigests()) {
			p.asked[name] = true
		}
		p.tell(fmt.Sprintf("first stage, %d runs", p.plan.Runs), first, p.asked, "go to the second stage")
	}
	var open []config.Scenario
	for _, s := range p.plan.Scenarios {
		if p.asked[s.Name] || !slices.Contains(p.plan.Based, s.Name) {
			open = append(open, s)
		}
	}
	return open
}

// plainDigests are the candidate's without what was measured in turn.
func (p *protocol) plainDigests() []bench.Digest {
	log := p.j.log
	log.Runs = slices.DeleteFunc(slices.Clone(log.Runs), func(r bench.RunRecord) bool { return VisitOf(log, r.Visit).Stage != 1 })
	return Digests(log)
}

// lookAt asks which scenarios go on after a look.
func (p *protocol) lookAt(k int, active []config.Scenario) []config.Scenario {
	looks := p.plan.Config.Campaign.Looks
	if p.o.Look == nil || k == len(looks)-1 {
		return active
	}
	if open, ok := p.looked[k]; ok {
		return open
	}
	names := map[string]bool{}
	for _, name := range p.o.Look(References(p.j.log), Digests(p.j.log)) {
		names[name] = true
	}
	open := slices.DeleteFunc(slices.Clone(active), func(s config.Scenario) bool { return !names[s.Name] })
	p.tell(fmt.Sprintf("look %d of %d, %d visits a side", k+1, len(looks), looks[k]), active, names, "go on")
	p.looked[k] = open
	return open
}

// tell says which scenarios a look decided.
func (p *protocol) tell(where string, active []config.Scenario, open map[string]bool, on string) {
	var decided, left []string
	for _, s := range active {
		if open[s.Name] {
			left = append(left, s.Name)
		} else {
			decided = append(decided, s.Name)
		}
	}
	say := where + ": "
	if len(decided) > 0 {
		say += strings.Join(decided, ", ") + " decided"
	}
	if len(decided) > 0 && len(left) > 0 {
		say += "; "
	}
	if len(left) > 0 {
		say += strings.Join(left, ", ") + " open: " + on
	}
	p.o.say("%s", say)
}
