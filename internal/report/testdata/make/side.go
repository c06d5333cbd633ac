package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

var (
	baseDay = time.Date(2026, 5, 4, 2, 0, 0, 0, time.UTC)
	headDay = time.Date(2026, 5, 6, 9, 12, 0, 0, time.UTC)
)

func ptr(x float64) *float64 { return &x }

// side describes the made-up runs of one side.
type side struct {
	scenario string
	sessions int     // one a day, the last one on its day
	runs     int     // per session
	ttft     float64 // seconds, p95
	slow     float64 // factor on times
	sd       float64 // between runs
	rate     float64 // factor on rates
	seed     uint64
	engine   string
	head     bool
	more     func(i int, r *bench.Run)
}

func (s side) digest() bench.Digest {
	day := baseDay
	if s.head {
		day = headDay
	}
	d := bench.Digest{Schema: bench.DigestSchema, Runner: "h100-1x", Scenario: s.scenario, MustMatch: map[string]string{
		bench.KeyMachine: "dgx-07", bench.KeyAccelerator: "1 × NVIDIA H100 80GB HBM3", bench.KeyDriver: "570",
		bench.KeyModel: "Qwen/Qwen3-8B", bench.KeyWorkload: "sha256:4be1f09c " + s.scenario, bench.KeyTopology: "client on the server's host",
		bench.KeyDefinitions: "1", bench.KeyOutput: "exact", bench.KeyTool: "benchgate",
	}}
	d.SLO = bench.SLO{TTFT: ptr(0.5), TPOT: ptr(0.03)}
	random := rand.New(rand.NewPCG(s.seed, 7))
	for i := range s.sessions {
		at := day.AddDate(0, 0, i-s.sessions+1)
		session := bench.Session{ID: at.Format("2006-01-02T15-04"), Started: at, UnderTest: map[string]string{
			bench.KeyEngine: "vllm", bench.KeyVersion: s.engine, bench.KeyCommand: "vllm serve Qwen/Qwen3-8B --port {port}",
		}, Visits: []bench.Visit{{Number: 1, Started: at}}}
		session.Origin.Commit, session.Origin.Engine = "4f2a9c1d03b7e6", "vllm "+s.engine
		session.Origin.Who, session.Origin.Why = "nightly", "main is green"
		for j := range s.runs {
			r := s.run(random, j+1)
			r.Started = at.Add(time.Duration(j) * 21 * time.Second)
			if s.more != nil {
				s.more(i*s.runs+j, &r)
			}
			session.Visits[0].Runs = append(session.Visits[0].Runs, r)
		}
		d.Sessions = append(d.Sessions, session)
	}
	return d
}

func (s side) run(random *rand.Rand, order int) bench.Run {
	draw := func() float64 { return math.Exp(s.sd * random.NormFloat64()) }
	ttft, tpot := s.ttft*s.slow*draw(), 0.0112*s.slow*draw()
	rate := 1010 * s.rate * draw()
	good := 160
	if ttft > 0.5 {
		good = 160 - int(160*math.Min(0.9, (ttft-0.5)*1.2+0.06))
	}
	return bench.Run{
		Order: order, Duration: 20.4 * draw(), Sent: 160, OK: 160, Good: &good, InputTokens: 512, OutputTokens: 128,
		Chunks: 128, Buffered: ptr(0),
		Client: bench.Client{
			LagP50: 0.0002, LagP99: 0.0011 * draw(), LagMax: 0.004, LagLimit: 0.005, SelfTest50: 0.00016, SelfTest99: 0.0009,
			SelfTestStream99: 0.0007, TimerP99: 0.00031, SchedP99: 0.00009, GCPause: 0.0002, CPU: 0.03, HostCPU: 0.22,
			SameHost: true, OpenFiles: 65536, Connections: 64, Coalesced: 0.004,
		},
		Metrics: map[string]float64{
			"ttft.p50": ttft * 0.55, "ttft.p75": ttft * 0.72, "ttft.p90": ttft * 0.91, "ttft.p95": ttft, "ttft.p99": ttft * 1.18 * draw(),
			"tpot.mean": tpot, "tpot.p95": tpot * 1.21, "e2el.p95": ttft + 128*tpot, "output.rate": rate, "request.rate": rate / 128,
			"goodput.ratio": float64(good) / 160, "goodput.rate": rate / 128 * float64(good) / 160, "error.ratio": 0,
		},
	}
}

func fail(n int, class bench.Class, message string) func(int, *bench.Run) {
	return func(_ int, r *bench.Run) {
		r.OK, r.Failed, r.FirstError = r.Sent-n, map[bench.Class]int{class: n}, message
		*r.Good = min(*r.Good, r.OK)
		r.Metrics["error.ratio"] = float64(n) / float64(r.Sent)
		r.Metrics["goodput.ratio"] = float64(*r.Good) / float64(r.Sent)
	}
}

func base(seed uint64) side {
	return side{scenario: "chat", sessions: 5, runs: 5, ttft: 0.382, slow: 1, sd: 0.02, rate: 1, seed: seed, engine: "0.32.1"}
}

func head(seed uint64, slow float64) side {
	s := base(seed)
	s.head, s.sessions, s.slow, s.engine, s.rate = true, 1, slow, "0.33.0", 1/math.Sqrt(slow)
	return s
}

func one(s side) []bench.Digest { return []bench.Digest{s.digest()} }

// turns are two sides that were started in turn, ABBA, so many times each, on a machine that ends slower by drift than it
// began. The id is that of the campaign.
func turns(id string, b, h side, visits int, drift float64) (reference, candidate bench.Digest) {
	b.head, b.sessions, b.runs = true, 1, visits
	h.sessions, h.runs = 1, visits
	reference, candidate = b.digest(), h.digest()
	for k, d := range []*bench.Digest{&reference, &candidate} {
		session := &d.Sessions[0]
		runs := session.Visits[0].Runs
		session.ID, session.Interleaved, session.Looks, session.Visits = id, true, []int{6, 8, 10}, nil
		session.Origin = bench.Origin{}
		for i, r := range runs {
			r.Order = 2*i + 1 + (i+k)%2
			for name := range r.Metrics {
				if strings.HasPrefix(name, "t") || strings.HasPrefix(name, "e2el") {
					r.Metrics[name] *= 1 + drift*float64(r.Order-1)/float64(2*visits-1)
				}
			}
			session.Visits = append(session.Visits, bench.Visit{Number: r.Order, Started: r.Started, Runs: []bench.Run{r}})
		}
	}
	return reference, candidate
}
