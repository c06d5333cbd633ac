package main

import (
	"fmt"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

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
