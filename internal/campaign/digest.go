package campaign

import (
	"maps"

	"github.com/benchgate/benchgate/internal/bench"
)

// Digests condenses a campaign's log into one digest a scenario, in the order in which they were first measured.
// Scenarios without a finished run are left out.
func Digests(log bench.CampaignLog) []bench.Digest {
	var digests []bench.Digest
	at := map[string]int{}
	for _, r := range log.Runs {
		if r.WarmUp {
			continue
		}
		i, ok := at[r.Scenario]
		if !ok {
			i = len(digests)
			at[r.Scenario] = i
			digests = append(digests, emptyDigest(log, r.Scenario))
		}
		addRun(&digests[i].Sessions[0], log, r)
	}
	return digests
}

func emptyDigest(log bench.CampaignLog, scenario string) bench.Digest {
	h := log.Header
	d := bench.Digest{
		Schema: bench.DigestSchema, Runner: h.Runner, Scenario: scenario, Simulated: h.Simulated,
		MustMatch: maps.Clone(h.MustMatch), SLO: h.SLOs[scenario], Text: h.Texts[scenario],
		Sessions: []bench.Session{{ID: h.Campaign, Started: h.Started, Planned: h.Planned, UnderTest: maps.Clone(h.UnderTest)}},
	}
	if d.MustMatch == nil {
		d.MustMatch = map[string]string{}
	}
	if w := h.Workloads[scenario]; w != "" {
		d.MustMatch[bench.KeyWorkload] = w
	}
	for _, w := range log.Warnings {
		d.Sessions[0].Warnings = append(d.Sessions[0].Warnings, w.Message)
	}
	return d
}

func addRun(s *bench.Session, log bench.CampaignLog, r bench.RunRecord) {
	for i := range s.Visits {
		if s.Visits[i].Number == r.Visit {
			s.Visits[i].Runs = append(s.Visits[i].Runs, r.Run)
			return
		}
	}
	v := bench.Visit{Number: r.Visit, Started: r.Started, Runs: []bench.Run{r.Run}}
	for _, known := range log.Visits {
		if known.Number == r.Visit {
			v.Started = known.Started
		}
	}
	s.Visits = append(s.Visits, v)
}
