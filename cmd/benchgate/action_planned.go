package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
)

// foreign says where results name another runner than the config, or of a proposed change another commit than their campaign
// does: a campaign writes the same into both. Empty where they do not.
func (a *action) foreign(q asked, folder string, head, references []bench.Digest) string {
	for _, d := range slices.Concat(head, references) {
		if d.Runner != q.Runner {
			return fmt.Sprintf("The results of %s are of runner %q, and %s is of runner %q.", d.Scenario, d.Runner, q.name, q.Runner)
		}
	}
	h, known := headerOf(filepath.Join(folder, campaign.JournalFile))
	if !known || !a.proposed() {
		return ""
	}
	for _, d := range head {
		for _, s := range d.Sessions {
			if is := s.UnderTest[bench.KeyCommit]; is != "" && is != h.Commit {
				return fmt.Sprintf("The results of %s are of commit %.60q, and their campaign is of commit %.60q.", d.Scenario, is, h.Commit)
			}
		}
	}
	return ""
}

// unplanned says where results of a proposed change are held to something else than the config asks for: they do not choose
// their limits, nor when they are decided. Empty where they are as planned.
func (a *action) unplanned(q asked, sides ...[]bench.Digest) string {
	if !a.proposed() {
		return ""
	}
	for _, d := range slices.Concat(sides...) {
		s, known := q.Scenario(d.Scenario)
		if !known {
			continue
		}
		if why := otherLimits(d.SLO, s.SLO); why != "" {
			return fmt.Sprintf("The results of %s count by %s.", d.Scenario, why)
		}
		for _, session := range d.Sessions {
			if why := otherPlan(session, q.Campaign); why != "" {
				return fmt.Sprintf("The results of %s have %s.", d.Scenario, why)
			}
		}
	}
	return ""
}

// otherLimits names the first limit that is another one than was asked for.
func otherLimits(are, want bench.SLO) string {
	for _, l := range []struct {
		name      string
		are, want *float64
	}{{"ttft", are.TTFT, want.TTFT}, {"tpot", are.TPOT, want.TPOT}, {"e2el", are.E2EL, want.E2EL}} {
		if is, asked := limit(l.are), limit(l.want); is != asked {
			return fmt.Sprintf("slo.%s %s, and the rules ask for %s", l.name, is, asked)
		}
	}
	return ""
}

// limit is a number of seconds in words, to the microsecond: files hold ten digits of it.
func limit(seconds *float64) string {
	if seconds == nil {
		return "none"
	}
	if math.Abs(*seconds) > 1e9 {
		return fmt.Sprintf("%gs", *seconds)
	}
	return time.Duration(math.Round(*seconds*1e6) * 1e3).String()
}

// otherPlan says what a session was to have otherwise than was asked for. A part that is not there yet is for the rules to see.
func otherPlan(s bench.Session, c config.Campaign) string {
	if s.Interleaved {
		return otherTurns(s, c)
	}
	planned := s.Planned
	if planned == 0 {
		planned = validRuns(s.Runs())
	}
	if planned < c.Runs {
		return fmt.Sprintf("a plan of %s, and the rules ask for campaign.runs %d", count(planned, "run"), c.Runs)
	}
	return ""
}

// otherTurns is otherPlan of visits in turn. A campaign may end within a visit, but not within each.
func otherTurns(s bench.Session, c config.Campaign) string {
	if len(s.Looks) > 0 && !slices.Equal(s.Looks, c.Looks) {
		return fmt.Sprintf("looks at %v visits, and the rules ask for campaign.looks %v", s.Looks, c.Looks)
	}
	most := 0
	for _, v := range s.Visits {
		most = max(most, len(v.Runs))
		if n := validRuns(v.Runs); n > c.VisitRuns {
			return fmt.Sprintf("%s in visit %d, and the rules ask for campaign.visit_runs %d", count(n, "valid run"), v.Number, c.VisitRuns)
		}
	}
	if most < c.VisitRuns && len(s.Visits) > 0 {
		return fmt.Sprintf("at most %s a visit, and the rules ask for campaign.visit_runs %d", count(most, "run"), c.VisitRuns)
	}
	return ""
}

func validRuns(runs []bench.Run) int {
	n := 0
	for _, r := range runs {
		if r.Valid() {
			n++
		}
	}
	return n
}
