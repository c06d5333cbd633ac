package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/report"
)

// page times the HTML of 5,000 findings that all have something to say: 250 scenarios, 20 metrics each, 25 + 5 runs.
func page(context.Context, string) ([]figure, error) {
	rng := rand.New(rand.NewPCG(5, 6))
	v := gate.Verdict{Schema: gate.VerdictSchema, Runner: "bench", Outcome: gate.Inconclusive, Simulated: true}
	for i := range 250 {
		for k := range 20 {
			v.Findings = append(v.Findings, open(rng, fmt.Sprintf("s%03d", i), fmt.Sprintf("ttft.p%d", 50+2*k)))
		}
	}
	took, cpu, size := math.Inf(1), math.Inf(1), counter(0)
	for range 3 {
		size = 0
		began, before := time.Now(), usage()
		if err := report.Write(&size, "html", v); err != nil {
			return nil, err
		}
		took, cpu = min(took, time.Since(began).Seconds()), min(cpu, seconds(usage())-seconds(before))
	}
	return []figure{
		{fmt.Sprintf("HTML page of %d findings, best of 3", len(v.Findings)), took, 2, "s"},
		{"its CPU", cpu, 0, "s"},
		{"its size", float64(size) / 1e6, 0, "MB"},
	}, nil
}

// open is an inconclusive finding.
func open(rng *rand.Rand, scenario, metric string) gate.Finding {
	worse := 0.05 * rng.NormFloat64()
	tolerance, ruleOut := 0.05, 0.10
	f := gate.Finding{
		Scenario: scenario, Metric: metric, Unit: "s", Better: "lower", Outcome: gate.Inconclusive, Tolerance: &tolerance, RuleOut: &ruleOut,
		Why: metric + " may be anything between faster and slower.", Next: "More sessions in the baseline would decide.", Method: "bootstrap+t",
		Base: &gate.Side{Point: 0.1, NRuns: baseSessions * baseRuns, NSessions: baseSessions}, Head: &gate.Side{Point: 0.1 * (1 + worse), NRuns: 5, NSessions: 1},
		Change: &gate.Change{
			Worse: worse, WorseLow: worse - 0.2, WorseHigh: worse + 0.2, Ratio: 1 + worse, Low: 0.8 + worse, High: 1.2 + worse, Level: 0.95, P: 0.3, PHolm: 1,
		},
	}
	for i := range baseSessions*baseRuns + 5 {
		run := gate.RunPoint{Side: "base", Order: i + 1, Value: 0.1 * math.Exp(0.1*rng.NormFloat64()), Valid: true}
		if i >= baseSessions*baseRuns {
			run.Side = "head"
		}
		f.Runs = append(f.Runs, run)
	}
	return f
}

// counter is a writer that counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
