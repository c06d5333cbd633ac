package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

const (
	cachedDiffers = 0.05 // share of prompt tokens from a cache, between the sides
	lagFloor      = 0.005
	lagShare      = 0.10 // of the median TTFT, where a run does not say its limit
)

// validity lists what was looked at before a number was believed: for each scenario both sides together, then each side.
// A check informs; what it forbids is decided with the rule, and said in its finding.
func validity(pairs []*pair) []Check {
	var out []Check
	for _, x := range pairs {
		if x.head != nil && x.base != nil {
			out = append(out, x.agree(), x.cached(), x.cut())
			out = append(out, x.gaps()...)
			if x.head.digest.MustMatch[bench.KeyOutput] == "ceiling" {
				out = append(out, x.answers())
			}
		}
		for _, s := range []*side{x.base, x.head} {
			if s != nil {
				for _, c := range slices.Concat([]Check{s.enough(), s.unspoilt(), s.served(), s.stream(), s.punctual(), s.unqueued()}, s.paced()) {
					c.Scenario, c.Side = x.scenario, s.name
					out = append(out, c)
				}
			}
		}
	}
	return out
}

func (x *pair) agree() Check {
	c := Check{Scenario: x.scenario, Name: "comparable", OK: len(x.comparable.Incomparable) == 0, Detail: "everything that has to agree agrees"}
	var parts []string
	for _, f := range x.comparable.Incomparable {
		parts = append(parts, fmt.Sprintf("%s: %s at base, %s here", f.Name, known(f.Base), known(f.Head)))
	}
	if len(x.comparable.Unknown) > 0 {
		parts = append(parts, "unknown on both sides: "+strings.Join(x.comparable.Unknown, ", "))
	}
	if len(parts) > 0 {
		c.Detail = strings.Join(parts, "; ")
	}
	return c
}

// cached compares how much of the prompts came from a cache: another share is another work.
func (x *pair) cached() Check {
	c := Check{Scenario: x.scenario, Name: "cached tokens", OK: true, Detail: "the server does not say"}
	b, known := x.base.cachedTokens()
	h, also := x.head.cachedTokens()
	switch {
	case known && also:
		c.OK = math.Abs(h-b) <= cachedDiffers
		c.Detail = fmt.Sprintf("%s of prompt tokens at base, %s here", estimated(b, 0.01), estimated(h, 0.01))
	case known || also:
		c.Detail = "only one side's server says"
	}
	return c
}

func (s *side) cachedTokens() (share float64, known bool) {
	n := 0
	for _, r := range s.fit {
		told := r.CachedTokens
		if told == nil && r.Server != nil {
			told = r.Server.CachedTokens
		}
		if told != nil {
			share += *told
			n++
		}
	}
	return share / math.Max(1, float64(n)), n > 0
}

func (x *pair) answers() Check {
	b, h := x.base.outputLength(), x.head.outputLength()
	return Check{
		Scenario: x.scenario, Name: "length of answers", OK: b > 0 && math.Abs(h/b-1) < lengthDiffers,
		Detail: fmt.Sprintf("%.1f tokens at base, %.1f here; output_tokens is a ceiling for this server", b, h),
	}
}

func (s *side) enough() Check {
	failed, sent := s.failures()
	return Check{
		Name: "runs", OK: len(s.fit) >= leastRuns,
		Detail: fmt.Sprintf("%s fit to compare, %s, %d failed", count(len(s.fit), "run"), count(sent, "request"), failed),
	}
}

func (s *side) unspoilt() Check {
	why := s.which(void)
	c := Check{Name: "void runs", OK: float64(len(why)) <= mostSpoilt*float64(len(s.runs)), Detail: "none"}
	if len(why) > 0 {
		c.Detail = strings.Join(why, "; ")
	}
	return c
}

func (s *side) served() Check {
	why := s.which(misbehaved)
	c := Check{Name: "server", OK: len(why) == 0, Detail: "did its work in every run"}
	if len(why) > 0 {
		c.Detail = strings.Join(why, "; ")
	}
	return c
}

// punctual compares the worst lag of the schedule with what would void a run, by the limit that the run was held to.
func (s *side) punctual() Check {
	var worst, limit float64
	for _, r := range s.fit {
		bound := r.Client.LagLimit
		if bound <= 0 {
			bound = math.Max(lagFloor, lagShare*finite(r.Metrics["ttft.p50"]))
		}
		if lag := finite(r.Client.LagP99); limit == 0 || lag/bound > worst/limit {
			worst, limit = lag, bound
		}
	}
	c := Check{Name: "schedule lag", OK: worst <= limit, Detail: "not recorded"}
	if worst > 0 {
		c.Detail = fmt.Sprintf("p99 at worst %s, limit %s", amount(worst, worst/4, bench.Seconds), amount(limit, limit/4, bench.Seconds))
	}
	return c
}

func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

func (s *side) unqueued() Check {
	share := s.queued()
	return Check{Name: "client queue", OK: share <= queuedTooOften, Detail: fmt.Sprintf("max_concurrency delayed %s of requests", estimated(share, math.Max(share/2, 0.01)))}
}

// paced says whether the server kept up with the schedule in every run; nothing where no run has one.
func (s *side) paced() []Check {
	p := s.pace()
	if p == nil {
		return nil
	}
	return []Check{{Name: "rate", OK: !p.Behind(), Detail: p.String()}}
}

// pace is that of the run in which the server kept up least; nil where no run has a schedule.
func (s *side) pace() *bench.Pace {
	var worst *bench.Pace
	for _, r := range s.fit {
		if p := r.Pace; p != nil && (worst == nil || p.Served*worst.Asked < worst.Served*p.Asked) {
			worst = p
		}
	}
	return worst
}

// hurried warns of a time that was measured while the server fell further and further behind.
func (q *question) hurried() {
	if p := q.head.pace(); q.metric.Unit == bench.Seconds && p.Behind() {
		q.warn("%s: it is over-saturated, so %s says more of the length of a run than of a request; lower load.rate", p, q.metric.Name)
	}
}

// unknowns warns of facts that no side knows, in one line for all scenarios that share it.
func unknowns(pairs []*pair) []string {
	where := map[string][]string{}
	var order []string
	for _, x := range pairs {
		if len(x.comparable.Unknown) == 0 {
			continue
		}
		names := strings.Join(x.comparable.Unknown, ", ")
		if !slices.Contains(order, names) {
			order = append(order, names)
		}
		where[names] = append(where[names], x.scenario)
	}
	var out []string
	for _, names := range order {
		out = append(out, fmt.Sprintf("%s: unknown on both sides and taken to agree: %s", strings.Join(where[names], ", "), names))
	}
	return out
}
