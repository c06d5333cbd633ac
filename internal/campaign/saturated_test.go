package campaign

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/sim"
)

// hurriedConfig asks 10 requests a second, and lets 8 out at a time; steady keeps a closed loop going for a minute.
const hurriedConfig = `version: 1
runner: lab
target: {base_url: http://127.0.0.1:1/v1, model: simulated-8b}
campaign: {design: committed, runs: 5, warmup: {requests: 2}}
scenarios:
  hurried:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 1
    load: {rate: 10, requests: 100, max_concurrency: 8}
    primary: {metric: ttft.p50, tolerance: 50%, rule_out: 100%}
  steady:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 1
    load: {concurrency: 2, requests: 20, min_duration: 60s}
    primary: {metric: output.rate, tolerance: 50%, rule_out: 100%}
gate:
  rules:
    - {metric: ttft_sched.p50, scenarios: [hurried], tolerance: 50%, rule_out: 100%}
`

// hurry measures a server in memory that serves 2 requests at a time, each for half a second: 4 a second.
func hurry(t *testing.T, id string, talk *[]string) ([]bench.Digest, gate.Policy) {
	t.Helper()
	m := sim.NewMemory()
	s := sim.Serve(sim.New(sim.Options{Slots: 2, TTFT: 500 * time.Millisecond, TPOT: time.Millisecond, RequestSD: 0.02, RunSD: 0.02, Seed: uint64(len(id))}), m)
	t.Cleanup(func() { s.Close() })
	p := patiently(t, hurriedConfig)
	res := must(t, Options{
		Plan: p, State: t.TempDir(), Key: id, Commit: id, Tool: "benchgate test", ID: id,
		Host: host.Facts{Machine: "m1"},
		Now:  time.Now, Dial: m.Dial, Say: func(s string) { *talk = append(*talk, s) },
	})
	return Digests(res.Log), p.Config.Policy
}

// A server that can do 4 requests a second is asked for 10: the run says so, the wait in the client is on record, a TTFT that
// does not count that wait cannot pass, and one that does is judged.
func TestServerSlowerThanItsSchedule(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var talk []string
		base, policy := hurry(t, "base", &talk)
		said := slices.DeleteFunc(slices.Clone(talk), func(s string) bool { return !strings.Contains(s, "requests/s asked: it is saturated") })
		if len(said) != 1 {
			t.Errorf("want one warning of a saturated server, got %q", said)
		}
		for _, d := range base {
			for _, r := range d.Sessions[0].Runs() {
				if d.Scenario == "hurried" {
					hurriedRun(t, r)
				} else if r.Sent < 200 || r.Duration < 60 || r.Duration > 61 || r.Pace != nil || len(r.Warnings) > 0 {
					t.Errorf("steady, run %d: %d requests in %.2f s, pace %v, warnings %q", r.Order, r.Sent, r.Duration, r.Pace, r.Warnings)
				}
			}
		}
		head, _ := hurry(t, "head-2", &talk)
		decided(t, gate.Decide(policy, base, head))
	})
}

func hurriedRun(t *testing.T, r bench.Run) {
	t.Helper()
	if r.Pace == nil || math.Abs(r.Pace.Served-4) > 1 || r.Pace.Asked != 10 || len(r.Warnings) != 1 {
		t.Errorf("run %d: pace %v, warnings %q: want 4 of 10 requests/s", r.Order, r.Pace, r.Warnings)
	}
	if r.Client.Queued < 0.5 || r.Metrics["queue.p50"] < 1 || r.Client.LagP99 > 0.001 {
		t.Errorf("run %d: %v of requests queued, median %v s, lag %v s", r.Order, r.Client.Queued, r.Metrics["queue.p50"], r.Client.LagP99)
	}
	if r.Metrics["ttft_sched.p50"] < r.Metrics["ttft.p50"]+1 {
		t.Errorf("run %d: ttft_sched %v, ttft %v", r.Order, r.Metrics["ttft_sched.p50"], r.Metrics["ttft.p50"])
	}
}

func decided(t *testing.T, v gate.Verdict) {
	t.Helper()
	got := map[string]gate.Finding{}
	for _, f := range v.Findings {
		got[f.Scenario+" "+f.Metric] = f
	}
	if f := got["hurried ttft.p50"]; f.Outcome != gate.Inconclusive || !strings.Contains(f.Why, "max_concurrency delayed") || !strings.Contains(f.Next, "ttft_sched") {
		t.Errorf("ttft.p50: %s, %s %s", f.Outcome, f.Why, f.Next)
	}
	if f := got["hurried ttft_sched.p50"]; f.Outcome != gate.Pass || !strings.Contains(strings.Join(f.Warnings, " "), "over-saturated") {
		t.Errorf("ttft_sched.p50: %s, %s, warnings %q", f.Outcome, f.Why, f.Warnings)
	}
	if f := got["steady output.rate"]; f.Outcome != gate.Pass {
		t.Errorf("output.rate: %s, %s", f.Outcome, f.Why)
	}
	checks := 0
	for _, c := range v.Validity {
		if c.Name == "rate" && !c.OK && strings.Contains(c.Detail, "of 10 requests/s asked") {
			checks++
		}
	}
	if checks != 2 {
		t.Errorf("%d failed checks of the rate, want one a side: %+v", checks, v.Validity)
	}
}
