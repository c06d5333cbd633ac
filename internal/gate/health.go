package gate

import "github.com/benchgate/benchgate/internal/bench"

// health is what each side's client says of itself, where it says anything.
func health(pairs []*pair) []Health {
	var out []Health
	for _, x := range pairs {
		for _, s := range []*side{x.base, x.head} {
			if s == nil {
				continue
			}
			if h, known := HealthOf(s.digest); known {
				h.Side = s.name
				out = append(out, h)
			}
		}
	}
	return out
}

// HealthOf is what the client says of itself in a digest, which has no side yet; false where it says nothing. A run in which
// the server misbehaved counts too, as it stands in comparisons.
func HealthOf(d bench.Digest) (Health, bool) {
	h := Health{Scenario: d.Scenario, Topology: d.MustMatch[bench.KeyTopology]}
	for _, s := range d.Sessions {
		for _, r := range s.Runs() {
			if !r.Valid() && r.Invalid == "" {
				h.Void++
				continue
			}
			h.Runs++
			h.Client = h.Worst(r.Client)
		}
	}
	return h, h.Client != (bench.Client{})
}
