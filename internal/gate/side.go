package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// side is one digest made ready for judging: its runs in the order they were measured.
type side struct {
	name   string // "base" or "head"
	digest bench.Digest
	runs   []placed
	fit    []placed // the runs that may stand in a comparison
	inTurn bool     // measured in turn with the other side
}

// placed is a run with its session (by place in the sorted list), its visit, and its own place on its side, from 1.
type placed struct {
	bench.Run
	session, visit, place int
	turn                  bool // its unit is the visit: the server was restarted between the visits of its session
}

// newSide sorts sessions and runs, so that the order in which a file lists them decides nothing.
func newSide(name string, d bench.Digest) *side {
	d.Sessions = slices.Clone(d.Sessions)
	slices.SortStableFunc(d.Sessions, func(a, b bench.Session) int {
		return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.ID, b.ID))
	})
	s := &side{name: name, digest: d}
	for i, session := range d.Sessions {
		turn := session.Interleaved && (len(session.Visits) > 1 || len(session.Looks) > 0)
		var runs []placed
		for _, v := range session.Visits {
			for _, r := range v.Runs {
				if r.Invalid != "" {
					r.Void = "" // a server that misbehaved is not excused by a client that did too
				}
				runs = append(runs, placed{Run: r, session: i, visit: v.Number, turn: turn})
			}
		}
		slices.SortStableFunc(runs, func(a, b placed) int { return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.visit, b.visit)) })
		s.runs = append(s.runs, runs...)
	}
	for i := range s.runs {
		s.runs[i].place = i + 1
		if r := s.runs[i]; r.Sound() || name == "head" && r.Valid() {
			s.fit = append(s.fit, r)
		}
	}
	return s
}

// turned reports whether all that the side has was measured in turn with another.
func (s *side) turned() bool {
	return len(s.digest.Sessions) > 0 && !slices.ContainsFunc(s.digest.Sessions, func(x bench.Session) bool { return !x.Interleaved })
}

// label names a run for a reader.
func (s *side) label(r placed) string {
	if len(s.digest.Sessions) > 1 {
		return fmt.Sprintf("run %d of session %s", r.Order, s.digest.Sessions[r.session].ID)
	}
	return fmt.Sprintf("run %d", r.Order)
}

// which lists the runs that a test picks, with the reason it gives for each.
func (s *side) which(reason func(placed) string) []string {
	var out []string
	for _, r := range s.runs {
		if why := reason(r); why != "" {
			out = append(out, s.label(r)+": "+quote(why))
		}
	}
	return out
}

func void(r placed) string { return r.Void }

// misbehaved is what the server did wrong in a run that the client did not spoil.
func misbehaved(r placed) string {
	switch {
	case !r.Valid():
		return ""
	case r.Invalid != "":
		return r.Invalid
	case r.OK == 0:
		return fmt.Sprintf("all of %s failed", count(r.Sent, "request"))
	}
	return ""
}

// spoilt is the share of runs that cannot stand in a comparison.
func (s *side) spoilt() float64 {
	if len(s.runs) == 0 {
		return 0
	}
	return float64(len(s.runs)-len(s.fit)) / float64(len(s.runs))
}

// dead is the first run in which nothing at all succeeded.
func (s *side) dead() (placed, bool) {
	for _, r := range s.fit {
		if r.OK <= 0 {
			return r, true
		}
	}
	return placed{}, false
}

// failures counts failed and all requests of the runs that stand in comparisons.
func (s *side) failures() (failed, sent int) {
	for _, r := range s.fit {
		failed += max(0, r.Sent-r.OK)
		sent += r.Sent
	}
	return failed, sent
}

// weighted is the mean over requests of a run's own number.
func (s *side) weighted(value func(placed) float64, weight func(placed) int) float64 {
	sum, n := 0.0, 0
	for _, r := range s.fit {
		sum += float64(value(r) * float64(weight(r)))
		n += weight(r)
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// outputLength is the mean number of output tokens of a successful request; 0 when unknown.
func (s *side) outputLength() float64 {
	return s.weighted(func(r placed) float64 { return r.OutputTokens }, func(r placed) int { return r.OK })
}

// queued is the share of requests that the client's own limit delayed.
func (s *side) queued() float64 {
	return s.weighted(func(r placed) float64 { return r.Client.Queued }, func(r placed) int { return r.Sent })
}

// value is a run's number on the scale on which it is compared; false when the run has none.
func value(m bench.Metric, r placed) (float64, bool) {
	if m.Scale == bench.Log {
		v := r.Metrics[m.Name]
		return math.Log(v), v > 0 && !math.IsInf(v, 1)
	}
	met, of, ok := tally(m, r)
	if !ok {
		return 0, false
	}
	return stat.Logit(met, of), true
}

// tally is what a share counts in one run, and out of how many.
func tally(m bench.Metric, r placed) (met, of int, ok bool) {
	switch {
	case r.Sent <= 0:
		return 0, 0, false
	case m.Name == "error.ratio":
		met = r.Sent - r.OK
	case r.Good != nil:
		met = *r.Good
	default:
		share, known := r.Metrics[m.Name]
		if !known {
			return 0, 0, false
		}
		met = int(math.Round(share * float64(r.Sent)))
	}
	return met, r.Sent, met >= 0 && met <= r.Sent
}

// raw is a run's number in the unit of the metric; false when the run has none.
func raw(m bench.Metric, r placed) (float64, bool) {
	if m.Unit == bench.Ratio {
		met, of, ok := tally(m, r)
		if !ok {
			return 0, false
		}
		return float64(met) / float64(of), true
	}
	v, ok := r.Metrics[m.Name]
	return v, ok && v >= 0 && !math.IsInf(v, 1)
}

// having are the runs that stand in comparisons and have the metric; comparable those of them whose number has a place on
// the scale of comparisons, on which a time of 0 has none.
func (s *side) having(m bench.Metric) []placed {
	return s.keep(func(r placed) bool { _, ok := raw(m, r); return ok })
}

func (s *side) comparable(m bench.Metric) []placed {
	return s.keep(func(r placed) bool { _, ok := value(m, r); return ok })
}

func (s *side) keep(want func(placed) bool) []placed {
	var out []placed
	for _, r := range s.fit {
		if want(r) {
			out = append(out, r)
		}
	}
	return out
}
