package world

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// candidateDay is when a candidate is measured; the sessions of its baseline are the nights before.
var candidateDay = time.Date(2026, 5, 6, 9, 0, 0, 0, time.UTC)

// Draw is what chance did to both sides of one comparison, before any true effect. It is not safe for concurrent use.
type Draw struct {
	world    World
	work     *workload
	slo      bench.SLO
	rng      *rand.Rand // of requests
	runs     *rand.Rand // of runs and days
	base     []session
	refer    []session
	head     []session
	measured *Sides // at no effect
	scratch  *pass
}

// session is a campaign's part on one side.
type session struct {
	bench.Session
	luck [][]luck // by visit and run
}

// Sides are digests of one scenario. Base is a committed baseline and Reference the reference's side of an interleaved
// campaign; whichever the design lacks has no sessions.
type Sides struct {
	Base, Reference, Head bench.Digest
}

func (w World) draw(seed uint64) *Draw {
	d := &Draw{world: w, work: w.workload(stream(seed, workloadStream)), rng: stream(seed, requestStream), runs: stream(seed, runStream)}
	d.slo = d.work.slo()
	d.scratch = newPass(w.requests())
	return d
}

// Committed draws a baseline of so many sessions, a night each, with so many runs each, and a candidate of head runs on the
// day after.
func (w World) Committed(seed uint64, sessions, runs, head int) *Draw {
	d := w.draw(seed)
	d.commit(sessions, runs, head, "candidate")
	return d
}

func (d *Draw) commit(sessions, runs, head int, id string) *course {
	for i := range sessions {
		night := candidateDay.AddDate(0, 0, i-sessions)
		d.base = append(d.base, d.plain(fmt.Sprintf("night-%d", i+1), night, runs, d.world.course(d.runs), false))
	}
	c := d.world.course(d.runs)
	d.head = append(d.head, d.plain(id, candidateDay, head, c, true))
	return c
}

// plain is a session of one visit.
func (d *Draw) plain(id string, at time.Time, runs int, c *course, head bool) session {
	s := session{Session: bench.Session{ID: id, Started: at, Planned: runs}}
	s.visit(1, at)
	for i := range runs {
		s.add(d.work.luck(d.rng, c.next(head)), i+1)
	}
	return s
}

// visit begins a visit.
func (s *session) visit(number int, at time.Time) {
	s.Visits = append(s.Visits, bench.Visit{Number: number, Started: at})
	s.luck = append(s.luck, nil)
}

// add adds a run to the last visit.
func (s *session) add(l luck, order int) {
	k := len(s.Visits) - 1
	s.Visits[k].Runs = append(s.Visits[k].Runs, bench.Run{Order: order})
	s.luck[k] = append(s.luck[k], l)
}

// Interleaved draws a campaign in which reference and candidate are started in turn, ABBA, up to the last of looks visits a
// side, with one run in each visit.
func (w World) Interleaved(seed uint64, looks ...int) *Draw {
	d := w.draw(seed)
	d.interleave(looks, "campaign", candidateDay, d.world.course(d.runs))
	return d
}

func (d *Draw) interleave(looks []int, id string, at time.Time, c *course) {
	last := looks[len(looks)-1]
	both := [2]session{}
	for i := range both {
		both[i].Session = bench.Session{ID: id, Started: at, Interleaved: true, Looks: looks}
	}
	for i := range 2 * last {
		side := [4]int{0, 1, 1, 0}[i%4]
		both[side].visit(i+1, at.Add(time.Duration(i)*2*time.Minute))
		both[side].add(d.work.luck(d.rng, c.next(side == 1)), i+1)
	}
	d.refer = append(d.refer, both[0])
	d.head = append(d.head, both[1])
}

// Confirm draws a committed comparison and, on the same day, the interleaved campaign that may follow it.
func (w World) Confirm(seed uint64, sessions, runs, head int, looks ...int) *Draw {
	d := w.draw(seed)
	c := d.commit(sessions, runs, head, "campaign-1")
	d.interleave(looks, "campaign-2", candidateDay.Add(time.Hour), c)
	return d
}

// At measures the draw with a candidate that truly differs by the effect. The sides without an effect are shared between
// calls: do not change them.
func (d *Draw) At(e Effect) Sides {
	if d.measured == nil {
		d.measured = &Sides{Base: d.digest(d.base, Effect{}), Reference: d.digest(d.refer, Effect{})}
	}
	s := *d.measured
	s.Head = d.digest(d.head, e)
	return s
}

func (d *Draw) digest(sessions []session, e Effect) bench.Digest {
	out := bench.Digest{
		Schema: bench.DigestSchema, Runner: "simulated", Scenario: d.world.scenario(), Simulated: true, SLO: d.slo,
		MustMatch: map[string]string{
			bench.KeyMachine: "none", bench.KeyAccelerator: "none", bench.KeyDriver: "none", bench.KeyModel: d.world.Name,
			bench.KeyWorkload: d.world.scenario(), bench.KeyTopology: "none", bench.KeyDefinitions: bench.Definitions,
			bench.KeyOutput: "exact", bench.KeyTool: "world",
		},
		Sessions: make([]bench.Session, 0, len(sessions)),
	}
	for _, s := range sessions {
		m := s.Session
		m.Visits = make([]bench.Visit, len(s.Visits))
		for v, visit := range s.Visits {
			m.Visits[v] = visit
			m.Visits[v].Runs = make([]bench.Run, len(visit.Runs))
			for i, r := range visit.Runs {
				d.work.serve(d.scratch, s.luck[v][i], e)
				m.Visits[v].Runs[i] = d.work.run(d.scratch, d.slo, r.Order)
				m.Visits[v].Runs[i].Started = visit.Started.Add(time.Duration(i) * time.Minute)
			}
		}
		out.Sessions = append(out.Sessions, m)
	}
	return out
}

// TTFT returns the time to first token of every request at no effect: the baseline's or the reference's, and the candidate's,
// by run in the order measured.
func (d *Draw) TTFT() (base, head [][]float64) {
	return d.requests(append(d.base[:len(d.base):len(d.base)], d.refer...)), d.requests(d.head)
}

func (d *Draw) requests(sessions []session) [][]float64 {
	var out [][]float64
	for _, s := range sessions {
		for _, visit := range s.luck {
			for _, l := range visit {
				p := newPass(d.world.requests())
				d.work.serve(p, l, Effect{})
				out = append(out, p.ttft)
			}
		}
	}
	return out
}
