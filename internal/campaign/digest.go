package campaign

import (
	"maps"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// Digests condenses a campaign's log into one digest of the candidate a scenario, in the order in which they were first
// measured. Scenarios without a finished run are left out. Of a confirm campaign a digest has up to two sessions: the
// committed one, and the one that was measured in turn with the reference.
func Digests(log bench.CampaignLog) []bench.Digest { return digests(log, candidate) }

// References is Digests of the reference; empty where none was measured.
func References(log bench.CampaignLog) []bench.Digest { return digests(log, reference) }

func digests(log bench.CampaignLog, side string) []bench.Digest {
	var all []bench.Digest
	at := map[string]int{}
	for _, r := range log.Runs {
		v := VisitOf(log, r.Visit)
		if r.WarmUp || v.Side != side {
			continue
		}
		i, ok := at[r.Scenario]
		if !ok {
			i = len(all)
			at[r.Scenario] = i
			all = append(all, emptyDigest(log, side, r.Scenario))
		}
		addRun(session(&all[i], log, v), v, r)
	}
	return all
}

// VisitOf is the record of a visit's first start; a candidate's where there is none.
func VisitOf(log bench.CampaignLog, number int) bench.VisitRecord {
	for _, v := range log.Visits {
		if v.Number == number {
			return v
		}
	}
	return bench.VisitRecord{Number: number, Side: candidate}
}

func emptyDigest(log bench.CampaignLog, side, scenario string) bench.Digest {
	h := log.Header
	known, _ := facts(log, side)
	d := bench.Digest{
		Schema: bench.DigestSchema, Runner: h.Runner, Scenario: scenario, Simulated: h.Simulated,
		MustMatch: maps.Clone(known.MustMatch), SLO: h.SLOs[scenario], Text: h.Texts[scenario],
	}
	if d.MustMatch == nil {
		d.MustMatch = map[string]string{}
	}
	if w := h.Workloads[scenario]; w != "" {
		d.MustMatch[bench.KeyWorkload] = w
	}
	return d
}

// session finds the session of a digest that a visit belongs to, or begins it.
func session(d *bench.Digest, log bench.CampaignLog, v bench.VisitRecord) *bench.Session {
	h := log.Header
	turns := h.Looks != nil && v.Stage == 0
	for i, s := range d.Sessions {
		if s.Interleaved == turns {
			return &d.Sessions[i]
		}
	}
	known, _ := facts(log, v.Side)
	s := bench.Session{ID: sessionID(h.Campaign, h.Design, turns), Started: h.Started, Interleaved: turns, UnderTest: maps.Clone(known.UnderTest)}
	if turns {
		s.Looks = slices.Clone(h.Looks)
		s.Started = began(log)
	} else {
		s.Planned = h.Planned
	}
	if v.Side == candidate && len(d.Sessions) == 0 {
		for _, w := range log.Warnings {
			s.Warnings = append(s.Warnings, w.Message)
		}
	}
	d.Sessions = append(d.Sessions, s)
	return &d.Sessions[len(d.Sessions)-1]
}

// began is when the first of the visits in turn did: both sides' sessions begin then.
func began(log bench.CampaignLog) (at time.Time) {
	for _, v := range log.Visits {
		if v.Stage == 0 && (at.IsZero() || v.Started.Before(at)) {
			at = v.Started
		}
	}
	return at
}

// sessionID names the sessions of a campaign: confirm has two.
func sessionID(campaign, design string, turns bool) string {
	switch {
	case design != "confirm":
		return campaign
	case turns:
		return campaign + "-2"
	}
	return campaign + "-1"
}

// session is the name of the session that a part of this campaign belongs to.
func (p *protocol) session(turns bool) string {
	return sessionID(p.o.ID, p.plan.Config.Campaign.Design, turns)
}

func addRun(s *bench.Session, v bench.VisitRecord, r bench.RunRecord) {
	for i := range s.Visits {
		if s.Visits[i].Number == r.Visit {
			s.Visits[i].Runs = append(s.Visits[i].Runs, r.Run)
			return
		}
	}
	at := v.Started
	if at.IsZero() {
		at = r.Started
	}
	s.Visits = append(s.Visits, bench.Visit{Number: r.Visit, Started: at, Runs: []bench.Run{r.Run}})
}
