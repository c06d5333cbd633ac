package campaign

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/sim"
)

// ownConfig is a closed loop with as many slots as requests at a time.
const ownConfig = `version: 1
runner: lab
target: {base_url: http://127.0.0.1:1/v1, model: simulated-8b, metrics: METRICS}
campaign: {design: committed, runs: 5, warmup: {requests: 4}}
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 32}
    output_tokens: 8
    load: {concurrency: 4, requests: 20}
    primary: {metric: ttft.p50, tolerance: 5%, rule_out: 25%}
`

func owner(fault string) *sim.Server {
	return sim.New(sim.Options{Slots: 4, TTFT: 200 * time.Millisecond, TPOT: 10 * time.Millisecond, RequestSD: 0.05, RunSD: 0.02, Seed: 3, Fault: fault})
}

// owned measures a server in memory with a fault and returns what it told, and the talk.
func owned(t *testing.T, fault, metrics string) (d bench.Digest, policy gate.Policy, talk string) {
	t.Helper()
	m := sim.NewMemory()
	s := sim.Serve(owner(fault), m)
	defer s.Close()
	return measured(t, m, "own-"+fault, metrics)
}

func measured(t *testing.T, m *sim.Memory, id, metrics string) (d bench.Digest, policy gate.Policy, talk string) {
	t.Helper()
	p := patiently(t, strings.Replace(ownConfig, "METRICS", metrics, 1))
	res := must(t, Options{
		Plan: p, State: t.TempDir(), Key: "key", Commit: "c0ffee", Tool: "benchgate test", ID: id, Host: host.Facts{Machine: "m1"},
		Now: time.Now, Dial: m.Dial, Say: func(s string) { talk += s + "\n" },
	})
	return Digests(res.Log)[0], p.Config.Policy, talk
}

// TestASimulatedServersAccountStandsInItsDigest: in virtual time nothing but what the simulator does lies between the two.
func TestASimulatedServersAccountStandsInItsDigest(t *testing.T) {
	const scraped = "/metrics (simulated)"
	for _, c := range []struct {
		fault, metrics string
		source, from   string
		gap            float64 // seconds
		counters       string
		talk           string // what is warned of
	}{
		{"", "/metrics", scraped, bench.FromArrival, 0, scraped, ""},
		{"", "off", "", "", 0, "", ""},
		{"bare", "/metrics", "", "", 0, "", ""},
		{"timings", "/metrics", "timings", bench.FromWork, 0, scraped, ""},
		{"request-metrics", "off", "metrics", bench.FromArrival, 0, "", ""},
		{"slow-network", "/metrics", scraped, bench.FromArrival, 0.05, scraped, ""},
		{"metrics-lie", "/metrics", "", "", 0, scraped, `warning: scenario "chat", run 3: the server counted 40 answered requests while this run sent 20`},
		{"two-per-chunk", "/metrics", scraped, bench.FromArrival, 0, scraped, `warning: scenario "chat", run 3: usage tells 160 output tokens in 80 chunks, 2.00 a chunk`},
	} {
		t.Run(c.fault+" "+c.metrics, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				d, _, talk := owned(t, c.fault, c.metrics)
				if strings.Count(talk, "warning: scenario") != strings.Count(c.talk, "warning: scenario") || !strings.Contains(talk, c.talk) {
					t.Errorf("talk, want %q once:\n%s", c.talk, talk)
				}
				for _, r := range d.Sessions[0].Runs() {
					a := r.Server
					if a == nil || a.Source != c.source || a.TTFTFrom != c.from || a.Counters != c.counters || (a.Gap != nil) != (c.from != "") {
						t.Fatalf("run %d: %+v", r.Order, a)
					}
					if a.Gap != nil && math.Abs(*a.Gap-c.gap) > 0.001 {
						t.Errorf("run %d: %v s lie between, want %v", r.Order, *a.Gap, c.gap)
					}
					if out := a.OutputTokens; (out != nil) != (c.counters != "" && c.fault != "metrics-lie") || out != nil && *out != 160 {
						t.Errorf("run %d: output tokens %v", r.Order, out)
					}
				}
			})
		})
	}
}

func TestAGapIsToldFromASlowerServer(t *testing.T) {
	virtual(t, func(t *testing.T) {
		base, policy, _ := owned(t, "", "/metrics")
		for fault, warned := range map[string]bool{"slow-network": true, "": false} {
			head, _, _ := owned(t, fault, "/metrics")
			head.Sessions[0].ID += "-head"
			f := gate.Decide(policy, []bench.Digest{base}, []bench.Digest{head}).Findings[0]
			if said := strings.Join(f.Warnings, "\n"); strings.Contains(said, "what lies outside the server's own account grew by 50.0 ms") != warned {
				t.Errorf("%q: %s, warnings %q", fault, f.Outcome, said)
			}
		}
	})
}

// TestCountersThatCannotBeReadSpoilNothing: every run stands, what is wrong is said once, and no time is lost over it.
func TestCountersThatCannotBeReadSpoilNothing(t *testing.T) {
	const unread = "its own counters cannot be read, and are not asked for again before it is started anew: "
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		said   string // once; empty: nothing is
	}{
		"never answers":      {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, unread + "read /metrics: context deadline exceeded"},
		"fails":              {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, unread + "read /metrics: the server answered 500"},
		"answers nonsense":   {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "vllm:prompt_tokens_total seven") }, unread + "read /metrics: text format"},
		"counts down":        {countsDown(), unread + "the server's count of requests fell"},
		"speaks in a page":   {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "<html>") }, ""},
		"breaks off":         {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, unread + "read /metrics: EOF"},
		"divides by nothing": {counts(20, "vllm:request_success_total %[1]g\nvllm:request_time_per_output_token_seconds_sum %[1]ge298\nvllm:request_time_per_output_token_seconds_count %[1]ge-14\n"), ""},
		"adds past numbers":  {counts(640, "vllm:prompt_tokens_total %g\nvllm:prefix_cache_hits_total 1.7e308\nvllm:external_prefix_cache_hits_total 1.7e308\n"), ""},
		"stands in its time": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "vllm:request_success_total 7") }, "the server counted 0 answered requests, and 20 answers came"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				m := sim.NewMemory()
				server := owner("")
				h := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/metrics" {
						c.answer(w, r)
						return
					}
					server.ServeHTTP(w, r)
				})}
				go h.Serve(m)
				defer h.Close()
				began := time.Now()
				d, _, talk := measured(t, m, "own", "/metrics")
				if took := time.Since(began); took > time.Minute {
					t.Errorf("the campaign took %s", took)
				}
				for _, r := range d.Sessions[0].Runs() {
					if !r.Sound() || r.Server != nil && r.Server.Source != "" {
						t.Errorf("run %d: %+v", r.Order, r)
					}
				}
				if n := strings.Count(talk, "warning: "); (n == 1) != (c.said != "") || !strings.Contains(talk, c.said) {
					t.Errorf("%d warnings, want %q:\n%s", n, c.said, talk)
				}
			})
		})
	}
}

// counts is a server whose metrics begin at 0 and grow with every look by a step.
func counts(step float64, format string) http.HandlerFunc {
	var looks atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, format, step*float64(looks.Add(1)-1))
	}
}

// countsDown is a counter that falls with every look.
func countsDown() http.HandlerFunc {
	var left atomic.Int64
	left.Store(1000)
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "vllm:request_success_total %d\n", left.Add(-1))
	}
}
