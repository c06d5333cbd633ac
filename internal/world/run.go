package world

import (
	"math"
	"slices"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// slo is what a careful user would ask of the workload: TTFT within half as much again as its p95 on a day without chance,
// and TPOT within twice its median.
func (k *workload) slo() bench.SLO {
	n := len(k.tokens)
	p := newPass(n)
	k.serve(p, luck{ttft: make([]float64, n), tpot: make([]float64, n)}, Effect{})
	slices.Sort(p.ttft)
	first, pace := 1.5*quantile(p.ttft, 0.95), 2*tpot
	return bench.SLO{TTFT: &first, TPOT: &pace}
}

// run condenses a pass. All requests succeed. Rates are those of a closed loop of eight slots that is never idle.
// It sorts the times of the pass.
func (k *workload) run(p *pass, slo bench.SLO, order int) bench.Run {
	n := len(p.ttft)
	good := 0
	for i := range n {
		if p.ttft[i] <= *slo.TTFT && p.tpot[i] <= *slo.TPOT {
			good++
		}
	}
	tokens := sum(k.tokens)
	duration := p.work / servers
	meanLog := 0.0
	for _, x := range p.ttft {
		meanLog += math.Log(x) / float64(n)
	}
	slices.Sort(p.ttft)
	slices.Sort(p.e2el)
	share := float64(good) / float64(n)
	return bench.Run{
		Order: order, Duration: duration, Sent: n, OK: n, Good: &good, OutputTokens: tokens / float64(n),
		Metrics: map[string]float64{
			"ttft.p50": quantile(p.ttft, 0.50), "ttft.p95": quantile(p.ttft, 0.95), "ttft.mean": sum(p.ttft) / float64(n),
			"ttft.gmean": math.Exp(meanLog), "tpot.mean": sum(p.tpot) / float64(n), "e2el.p95": quantile(p.e2el, 0.95),
			"output.rate": tokens / duration, "request.rate": float64(n) / duration,
			"goodput.ratio": share, "goodput.rate": share * float64(n) / duration, "error.ratio": 0,
		},
	}
}

func sum(xs []float64) float64 {
	total := 0.0
	for _, x := range xs {
		total += x
	}
	return total
}

// quantile is that of numbers known to be there. Sorted ones are quicker.
func quantile(xs []float64, q float64) float64 {
	v, err := stat.Quantile(xs, q)
	if err != nil {
		panic(err) // no requests, or a q of ours out of range
	}
	return v
}
