//go:build ignore

// Make writes the verdicts of this folder: the gate's own answers to made-up digests, and two that no gate would give
// (drifted, hostile). Run it in the repository's root: go run internal/report/testdata/make.go
package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
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

func rules() gate.Policy {
	p := gate.Defaults()
	p.Planned = false
	at := func(line int) gate.Place { return gate.Place{File: "benchgate.yaml", Line: line} }
	p.Rules = []gate.Rule{
		{Metric: "ttft.p95", Primary: true, Tolerance: ptr(0.05), RuleOut: ptr(0.25), At: at(23)},
		{Metric: "tpot.mean", Tolerance: ptr(0.05), At: at(32)},
		{Metric: "output.rate", Tolerance: ptr(0.05), RuleOut: ptr(0.25), At: at(33)},
		{Metric: "goodput.ratio", Min: ptr(0.95), At: at(34)},
		{Metric: "error.ratio", Max: ptr(0.005), At: at(35)},
	}
	return p
}

func base(seed uint64) side {
	return side{scenario: "chat", sessions: 5, runs: 5, ttft: 0.382, slow: 1, sd: 0.02, rate: 1, seed: seed, engine: "0.32.1"}
}

func head(seed uint64, slow float64) side {
	s := base(seed)
	s.head, s.sessions, s.slow, s.engine, s.rate = true, 1, slow, "0.33.0", 1/math.Sqrt(slow)
	return s
}

func decide(p gate.Policy, b, h []bench.Digest) gate.Verdict {
	v := gate.Decide(p, b, h)
	if v.Baseline != nil {
		v.Baseline.Ref = "ref:4f2a9c1d03b7e6a5c8f1e2d4b6a798081a2b3c4d"
	}
	return v
}

func one(s side) []bench.Digest { return []bench.Digest{s.digest()} }

func main() {
	p := rules()
	write("pass", decide(p, one(base(1)), one(head(2, 1))))
	write("improved", decide(p, one(base(1)), one(head(3, 0.7))))
	write("regressed", decide(p, one(base(1)), one(head(4, 1.31))))
	write("inconclusive", inconclusive(p))
	write("invalid", invalid(p))
	write("buffered", buffered(p))
	write("network", network(p))
	write("incomparable", incomparable(p))
	write("missing", missing(p))
	write("new", decide(p, nil, one(head(5, 1))))
	write("waived", waived(p))
	write("observed", observed(p))
	write("breached", breached(p))
	write("drifted", drifted(p))
	write("many", many(p))
	write("simulated", simulated())
	write("interleaved", interleaved(p))
	write("confirm", confirm(p))
	write("hostile", hostile(decide(p, one(base(1)), one(head(4, 1.31)))))
}

func inconclusive(p gate.Policy) gate.Verdict {
	b, h := base(1), head(6, 1.08)
	b.sessions, b.sd, h.sd = 1, 0.09, 0.09
	v := decide(p, one(b), one(h))
	v.Attempts = []gate.Attempt{
		{At: headDay, What: "stopped by a signal after run 3 of 5"},
		{At: headDay.Add(11 * time.Minute), What: "runs 4 and 5"},
	}
	return v
}

func invalid(p gate.Policy) gate.Verdict {
	h := head(7, 1)
	h.more = func(i int, r *bench.Run) {
		if i >= 2 {
			r.Void = fmt.Sprintf("lateness p99 %d ms, limit 38 ms", 61+9*i)
			r.Client.LagP99 = 0.061 + 0.009*float64(i)
		}
	}
	return decide(p, one(base(1)), one(h))
}

// buffered is a candidate behind a proxy that holds most answers back.
func buffered(p gate.Policy) gate.Verdict {
	h := head(7, 1)
	h.more = func(i int, r *bench.Run) {
		r.Buffered = ptr(0.98)
		for _, name := range []string{"ttft.p50", "ttft.p75", "ttft.p90", "ttft.p95", "ttft.p99"} {
			r.Metrics[name] += 1.4
		}
	}
	p.Rules = append(p.Rules, gate.Rule{Metric: "e2el.p95", Tolerance: ptr(0.05), RuleOut: ptr(0.25), At: gate.Place{File: "benchgate.yaml", Line: 36}})
	return decide(p, one(base(1)), one(h))
}

// network is a candidate that is as quick as its base by its server's own account, behind a network that is not.
func network(p gate.Policy) gate.Verdict {
	b, h := base(1), head(7, 1)
	account := func(gap float64) func(int, *bench.Run) {
		return func(_ int, r *bench.Run) {
			const told = "/metrics (vllm)"
			ttft := r.Metrics["ttft.p50"]
			r.Server = &bench.ServerAccount{
				Source: told, TTFTFrom: bench.FromArrival, TTFT: ttft, TPOT: r.Metrics["tpot.mean"] * 0.99, Gap: ptr(gap),
				Counters: told, Requests: ptr(160), PromptTokens: ptr(160 * 512), OutputTokens: ptr(160 * 128), CachedTokens: ptr(0.021), ChunkTokens: 1,
			}
			for _, name := range []string{"ttft.p50", "ttft.p75", "ttft.p90", "ttft.p95", "ttft.p99"} {
				r.Metrics[name] += gap
			}
		}
	}
	b.more = account(0.0021)
	h.more = func(i int, r *bench.Run) {
		account(0.0434)(i, r)
		if i == 2 {
			r.Server.Requests = ptr(203)
			r.Server.Doubts = map[string]string{bench.DoubtRequests: "the server counted 203 answered requests while this run sent 160: somebody else asks the same server, and what they take is in every figure, or it counts wrong; its counters are not used"}
		}
	}
	return decide(p, one(b), one(h))
}

func incomparable(p gate.Policy) gate.Verdict {
	h := head(8, 1).digest()
	h.MustMatch[bench.KeyAccelerator], h.MustMatch[bench.KeyMachine] = "1 × NVIDIA A100-SXM4-80GB", "a100-2"
	return decide(p, one(base(1)), []bench.Digest{h})
}

func missing(p gate.Policy) gate.Verdict {
	p.Scenarios = []string{"chat", "batch"}
	b := base(9)
	b.scenario = "batch"
	return decide(p, []bench.Digest{base(1).digest(), b.digest()}, one(head(2, 1)))
}

func waived(p gate.Policy) gate.Verdict {
	day := time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)
	for _, w := range [][2]string{{"ttft.p95", "chat"}, {"tpot.mean", "chat"}, {"output.rate", "batch"}} {
		p.Waivers = append(p.Waivers, gate.Waiver{Metric: w[0], Scenario: w[1], Ceiling: 0.40, Until: day, Why: "scheduler of engine 0.33 favours throughput", Issue: 12})
	}
	h := head(4, 1.31)
	h.rate = 1.01
	h.more = func(_ int, r *bench.Run) { *r.Good = 159; r.Metrics["goodput.ratio"] = 159.0 / 160 }
	return decide(p, one(base(1)), one(h))
}

func observed(p gate.Policy) gate.Verdict {
	p.Rules = []gate.Rule{{Metric: "tpot.mean", Tolerance: ptr(0.05), At: gate.Place{File: "benchgate.yaml", Line: 32}}, {Metric: "e2el.p95"}}
	return decide(p, one(base(1)), one(head(2, 1)))
}

func breached(p gate.Policy) gate.Verdict {
	h := head(2, 1)
	h.more = func(i int, r *bench.Run) {
		fail(9+i, bench.Class("truncated"), `stream ended before [DONE]`)(i, r)
	}
	return decide(p, one(base(1)), one(h))
}

// drifted is what a search for change points would say: no gate of two sides gives this outcome.
func drifted(p gate.Policy) gate.Verdict {
	v := decide(p, one(base(1)), one(head(4, 1.31)))
	v.Outcome, v.ExitCode = gate.Drifted, 1
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Outcome == gate.Regressed {
			f.Outcome = gate.Drifted
			f.Why = f.Metric + " has changed for good on 2026-05-02."
			f.Next = "See what came into the main branch on that day."
		}
	}
	v.Summary = "chat: ttft.p95 has changed for good on 2026-05-02. (drifted: 3 of 5 findings)"
	return v
}

func many(p gate.Policy) gate.Verdict {
	p.Rules = []gate.Rule{p.Rules[0], p.Rules[2], p.Rules[4]}
	var b, h []bench.Digest
	for i := range 20 {
		x, y := base(uint64(100+i)), head(uint64(200+i), 1)
		name := fmt.Sprintf("scenario-%02d", i+1)
		x.scenario, y.scenario = name, name
		x.sessions = 2
		x.ttft *= 1 + float64(i)*0.15
		y.ttft = x.ttft
		switch i {
		case 4:
			y.slow = 1.55
		case 11:
			y.slow = 3.4
		case 13:
			x.sd, y.sd = 0.15, 0.15
		case 17:
			y.slow = 0.68
		}
		b, h = append(b, x.digest()), append(h, y.digest())
	}
	return decide(p, b, h)
}

func simulated() gate.Verdict {
	b, h := base(1), head(4, 1.31)
	b.sessions, b.ttft, h.ttft = 1, 0.041, 0.041
	b.sd, h.sd = 0.03, 0.03
	x, y := b.digest(), h.digest()
	for _, d := range []*bench.Digest{&x, &y} {
		d.Simulated, d.MustMatch[bench.KeyModel], d.Runner = true, "simulated-1", "demo"
		d.MustMatch[bench.KeyAccelerator] = "none"
	}
	v := gate.Decide(gate.Defaults(), []bench.Digest{x}, []bench.Digest{y})
	v.Baseline.Ref = "baseline"
	return v
}

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

// interleaved is a campaign of two scenarios: one is answered at the first look, one goes on.
func interleaved(p gate.Policy) gate.Verdict {
	b, h := base(21), head(22, 1.3)
	chat, slower := turns("2026-05-06T09-12", b, h, 6, 0.12)
	b, h = base(23), head(24, 1.13)
	b.scenario, h.scenario, b.sd, h.sd = "long-context", "long-context", 0.13, 0.13
	long, open := turns("2026-05-06T09-12", b, h, 8, 0)
	return gate.Decide(p, []bench.Digest{chat, long}, []bench.Digest{slower, open})
}

// confirm is a campaign whose first stage acquits one scenario and whose second stage confirms that another is slower.
func confirm(p gate.Policy) gate.Verdict {
	b, h := base(31), head(32, 1.28)
	b.scenario, h.scenario = "batch", "batch"
	reference, second := turns("2026-05-06T09-12-2", side{scenario: "batch", ttft: b.ttft, slow: 1, sd: 0.04, rate: 1, seed: 33, engine: "0.32.1"}, h, 6, 0.02)
	batch := h.digest()
	second.Sessions[0].Started = headDay.Add(20 * time.Minute)
	reference.Sessions[0].Started = second.Sessions[0].Started
	batch.Sessions[0].ID = "2026-05-06T09-12-1"
	batch.Sessions = append(batch.Sessions, second.Sessions[0])
	v := gate.Confirm(p, []bench.Digest{base(1).digest(), b.digest()}, []bench.Digest{reference}, []bench.Digest{head(2, 1).digest(), batch})
	v.Baseline.Ref = "ref:4f2a9c1d03b7e6a5c8f1e2d4b6a798081a2b3c4d"
	return v
}

// hostile puts what an attacker would write wherever a stranger's text can stand.
func hostile(v gate.Verdict) gate.Verdict {
	const names = "x | y <!-- --> @everyone ![a](https://evil.example/p.png) `` <script>alert(1)</script>"
	const ansi = "\x1b[31m::error::red\x1b[0m\r\n::error file=a.go,line=1::owned\n##[error]owned ]]> \u202egnitrever\u202c \x00\x07"
	long := strings.Repeat("CUDA error: an illegal memory access\n```\n::set-output name=x::y\n# head #1 org/repo#2 GH-3 <details> @octo/team ", 120)[:10_000]
	v.Runner, v.Summary = names, names+": "+ansi+long
	v.Bound += " " + names
	for i := range v.Findings {
		f := &v.Findings[i]
		f.Scenario = names
		if i > 0 {
			f.Scenario = fmt.Sprintf("</title><img src=x onerror=alert(%d)>", i)
		}
		f.Why += " " + ansi + long
		if f.Next != "" {
			f.Next = "::error::" + names + " " + f.Next + ansi
		}
		f.Warnings = []string{names, ansi, long}
		f.Rule.File = "a`b|c<d>\n::error::.yaml"
	}
	for i := range v.Findings[0].Runs {
		v.Findings[0].Runs[i].Note = names + ansi
		v.Findings[0].Runs[i].Session = ansi + names
	}
	for i := range v.Series {
		v.Series[i].Scenario = names
	}
	v.Validity = append(v.Validity, gate.Check{Scenario: names, Side: "head", Name: ansi, Detail: long})
	v.Server = []gate.Account{{Scenario: names, Side: ansi, Runs: 5, Source: long, TTFTFrom: names, TTFT: 0.1, ClientTTFT: 0.12, Gap: ptr(-0.02), Counters: names + ansi, CachedTokens: ptr(0.5), ChunkTokens: 3}}
	v.Environment.Diff = append(v.Environment.Diff, gate.Fact{Name: names, Base: ansi, Head: long}, gate.Fact{Scenario: "javascript:alert(1)", Name: "::error::", Head: "[click](javascript:alert(1))"})
	v.Baseline = &gate.Baseline{Ref: names, AgeDays: 2, Sessions: 5, Origin: gate.Origin{Commit: "deadbeef0123", Engine: names, Who: "@everyone", Why: ansi + names}}
	v.Attempts = []gate.Attempt{{At: headDay, What: names + ansi}}
	v.Waivers = []gate.WaiverUse{{Waiver: gate.Waiver{Metric: names, Scenario: ansi, Ceiling: 0.1, Until: headDay, Why: long}, State: "unused"}}
	v.Warnings = []string{names, ansi, long}
	return v
}

func write(name string, v gate.Verdict) {
	f, err := os.Create(filepath.Join("internal/report/testdata", name+".json"))
	if err == nil {
		err = gate.WriteVerdict(f, v)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		panic(err)
	}
	fmt.Println(name, v.Outcome)
}
