package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// The gap between the client's ttft and the server's may differ between the sides by this much: of the base's median ttft,
// or in seconds, whichever is more.
const (
	gapShare = 0.05
	gapFloor = 0.005
)

// accounts is what each side's server says of itself, where it says anything.
func accounts(pairs []*pair) []Account {
	var out []Account
	for _, x := range pairs {
		for _, s := range []*side{x.base, x.head} {
			if s == nil {
				continue
			}
			if a, known := s.account(); known {
				out = append(out, a)
			}
		}
	}
	return out
}

// AccountOf is what the server says of itself in a digest, which has no side yet; false where it says nothing of times,
// caches and chunks.
func AccountOf(d bench.Digest) (Account, bool) {
	var runs []bench.Run
	for _, s := range d.Sessions {
		runs = append(runs, slices.DeleteFunc(s.Runs(), func(r bench.Run) bool { return !r.Sound() })...)
	}
	a, known := accountOf(runs)
	a.Scenario = d.Scenario
	return a, known
}

func (s *side) account() (Account, bool) {
	var runs []bench.Run
	for _, r := range s.fit {
		runs = append(runs, r.Run)
	}
	a, known := accountOf(runs)
	a.Scenario, a.Side = s.digest.Scenario, s.name
	return a, known
}

// accountOf is the mean of the accounts of runs. Times are of those runs alone that took theirs from the same source, and to
// the first token with the same clock: others have another meaning.
func accountOf(runs []bench.Run) (Account, bool) {
	a := Account{}
	a.Source, a.TTFTFrom = clockOf(runs)
	var ttft, gap, tpot, cached, chunks average
	for _, r := range runs {
		s := r.Server
		if s == nil {
			continue
		}
		alike := a.Source != "" && s.Source == a.Source
		timed := alike && s.Gap != nil && s.TTFTFrom == a.TTFTFrom
		if timed {
			ttft.add(s.TTFT, true)
			gap.add(*s.Gap, true)
		}
		tpot.add(s.TPOT, alike && s.TPOT > 0)
		if timed || alike && s.TPOT > 0 {
			a.Runs++
		}
		if s.Counters != "" {
			a.Counters = s.Counters
		}
		if s.CachedTokens != nil {
			cached.add(*s.CachedTokens, true)
		}
		chunks.add(s.ChunkTokens, s.ChunkTokens > 0)
	}
	a.TTFT, a.TPOT, a.ChunkTokens = ttft.mean(), tpot.mean(), chunks.mean()
	if gap.n > 0 {
		a.Gap, a.ClientTTFT = ptr(gap.mean()), finite(stat.Round(a.TTFT+gap.mean()))
	}
	if cached.n > 0 {
		a.CachedTokens = ptr(cached.mean())
	}
	return a, a.Source != "" || a.Counters != "" || a.ChunkTokens > 0
}

// clockOf is the source of times, and the clock of the first token, of the first run that tells both: a run whose server told
// its time per token alone does not speak for the others. Where none tells both it is the first source.
func clockOf(runs []bench.Run) (source, from string) {
	for _, r := range runs {
		switch s := r.Server; {
		case s == nil:
		case s.Source != "" && s.Gap != nil:
			return s.Source, s.TTFTFrom
		case source == "":
			source = s.Source
		}
	}
	return source, ""
}

// average is a mean in the making. Numbers that leave what a float holds are 0: a digest may hold anything.
type average struct {
	sum float64
	n   int
}

func (m *average) add(x float64, known bool) {
	if known {
		m.sum += finite(x)
		m.n++
	}
}

func (m *average) mean() float64 { return finite(stat.Round(m.sum / math.Max(1, float64(m.n)))) }

// shift is how much more, or less, than the server's own time lies in the ttft of the head than in that of the base.
type shift struct {
	base, head Account
	by, limit  float64 // seconds
	compared   bool    // both sides told the same
}

func (x *pair) shift() shift {
	var m shift
	if x.base == nil || x.head == nil {
		return m
	}
	m.base, _ = x.base.account()
	m.head, _ = x.head.account()
	if m.base.Gap == nil || m.head.Gap == nil || m.base.Source != m.head.Source || m.base.TTFTFrom != m.head.TTFTFrom {
		return m
	}
	var median average
	for _, r := range x.base.fit {
		v, known := r.Metrics["ttft.p50"]
		median.add(v, known)
	}
	m.by, m.limit, m.compared = finite(stat.Round(*m.head.Gap-*m.base.Gap)), math.Max(gapFloor, gapShare*median.mean()), true
	return m
}

func (m shift) far() bool { return m.compared && math.Abs(m.by) > m.limit }

// says tells both gaps, with what is in them.
func (m shift) says() string {
	of := func(x float64) string { return amount(x, 0.0005, bench.Seconds) }
	from, between := "the arrival of a request", "the network, or the client"
	if m.base.TTFTFrom == bench.FromWork {
		from, between = "the start of work on a prompt", "the wait for a slot, the network, or the client"
	}
	return fmt.Sprintf("by %s, which counts from %s, the mean ttft is %s at base and %s here, and the client saw %s and %s: what lies between, %s and %s, is %s",
		m.base.Source, from, of(m.base.TTFT), of(m.head.TTFT), of(m.base.ClientTTFT), of(m.head.ClientTTFT), of(*m.base.Gap), of(*m.head.Gap), between)
}

// gaps is the check of both sides; nothing where no side's server tells a ttft.
func (x *pair) gaps() []Check {
	m := x.shift()
	c := Check{Scenario: x.scenario, Name: "server's own ttft", OK: !m.far()}
	switch {
	case m.compared:
		c.Detail = m.says()
	case m.base.Gap == nil && m.head.Gap == nil:
		return nil
	case m.base.Gap == nil || m.head.Gap == nil:
		c.Detail = "only one side's server says"
	default:
		c.Detail = fmt.Sprintf("told by %s from %s at base, by %s from %s here: not compared", m.base.Source, m.base.TTFTFrom, m.head.Source, m.head.TTFTFrom)
	}
	return []Check{c}
}

// elsewhere is a change of the time to the first token that is not in the server's own account of it; false where there is
// none, or none is asked about.
func (q *question) elsewhere() (shift, bool) {
	switch what(q.metric) {
	case "ttft", "ttfot", "ttft_sched":
		m := q.shift()
		return m, m.far()
	}
	return shift{}, false
}

// outside warns of such a change.
func (q *question) outside() {
	if m, far := q.elsewhere(); far {
		verb := "grew"
		if m.by < 0 {
			verb = "fell"
		}
		q.warn("what lies outside the server's own account %s by %s: %s", verb, amount(math.Abs(m.by), 0.0005, bench.Seconds), m.says())
	}
}

// lookFirst says where to look before the builds: at what lies between a server that says it is as quick and a client that
// sees it slower.
func (q *question) lookFirst() string {
	m, far := q.elsewhere()
	switch {
	case !far || m.by < 0:
		return ""
	case m.base.TTFTFrom == bench.FromWork:
		return "Look first at what lies outside the server's own account, as the warning says: waiting for a slot, network, client. "
	}
	return "Look first at the network and the client: by its own account the server is not all that is slower. "
}

// doubted lists where a server's account did not fit what the client saw: each kind once a side, with the first case.
func doubted(pairs []*pair) []string {
	var out []string
	for _, x := range pairs {
		for _, s := range []*side{x.base, x.head} {
			if s != nil {
				out = append(out, s.doubted()...)
			}
		}
	}
	return out
}

func (s *side) doubted() []string {
	in, first := map[string]int{}, map[string]string{}
	for _, r := range s.fit {
		if r.Server == nil {
			continue
		}
		for what, text := range r.Server.Doubts {
			if in[what]++; in[what] == 1 {
				first[what] = s.label(r) + ": " + text
			}
		}
	}
	var out []string
	for _, what := range slices.Sorted(maps.Keys(in)) {
		line := fmt.Sprintf("%s, %s, %s", s.digest.Scenario, s.name, first[what])
		if n := in[what]; n > 1 {
			line += fmt.Sprintf(" (so in %d of %s)", n, count(len(s.fit), "run"))
		}
		out = append(out, line)
	}
	return out
}
