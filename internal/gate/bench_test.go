package gate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/benchgate/benchgate/internal/bench"
)

// many is 20 scenarios of 12 comparative metrics: five sessions of five runs against ten runs.
func many(by float64) (p Policy, base, head []bench.Digest) {
	rng := rand.New(rand.NewPCG(1, 2))
	noisy := func(n int, level float64) []float64 {
		var out []float64
		for range n {
			out = append(out, level*(1+0.1*rng.NormFloat64()))
		}
		return out
	}
	for i := range 20 {
		name := fmt.Sprintf("scenario-%d", i)
		b := digest(name, baseDay)
		b.Sessions = nil
		for k := range 5 {
			b.Sessions = append(b.Sessions, session(baseDay.AddDate(0, 0, -k), noisy(5, 0.4)...))
		}
		base, head = append(base, b), append(head, digest(name, headDay, noisy(10, 0.4*by)...))
	}
	p = primary()
	for _, metric := range []string{
		"ttft.p50", "ttft.p75", "ttft.p90", "ttft_sched.p95", "tpot.mean", "e2el.p95", "output.rate", "request.rate", "goodput.rate",
		"goodput.ratio",
	} {
		p.Rules = append(p.Rules, Rule{Metric: metric, Tolerance: ptr(0.05), RuleOut: ptr(0.25)})
	}
	p.Rules = append(p.Rules, Rule{Metric: "ttft.p95", Tolerance: ptr(0.05), RuleOut: ptr(0.5)})
	return p, base, head
}

func BenchmarkDecide(b *testing.B) {
	for name, by := range map[string]float64{"equal builds": 1, "all slower": 1.6} {
		b.Run(name, func(b *testing.B) {
			p, base, head := many(by)
			b.ReportAllocs()
			for b.Loop() {
				if v := Decide(p, base, head); len(v.Findings) != 240 {
					b.Fatalf("%d findings", len(v.Findings))
				}
			}
		})
	}
}
