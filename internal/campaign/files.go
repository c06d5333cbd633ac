package campaign

import (
	"fmt"

	"github.com/benchgate/benchgate/internal/config"
)

// reserve is how many files this process holds open beside its connections: the journal, logs, the lock, the runtime's own.
const reserve = 64

// Files is how many files this process will hold open at once, as far as can be told beforehand, and the scenario that
// needs so many: a connection for each request in flight, and both ends of those of the self-test, which is repeated while
// the others stay open.
func (p Plan) Files() (need int, scenario string) {
	for _, s := range p.Scenarios {
		if n := files(s); n > need {
			need, scenario = n, s.Name
		}
	}
	return need, scenario
}

func files(s config.Scenario) int {
	return connections(s) + 2*selfTestConnections(likeness(s.Load)) + reserve
}

// Crowded are the scenarios of which so many open files may not do: an open loop without a bound, should the server fall
// so far behind that every request of a run is in flight.
func (p Plan) Crowded(limit uint64) []string {
	var notes []string
	for _, s := range p.Scenarios {
		if most := s.Load.Requests + reserve; limit > 0 && s.Load.Open() && s.Load.MaxConcurrency == 0 && uint64(most) > limit {
			notes = append(notes, fmt.Sprintf("scenario %q: a server that falls behind may have all %d requests of a run in flight, and this process may hold %d files open: load.max_concurrency bounds them",
				s.Name, s.Load.Requests, limit))
		}
	}
	return notes
}
