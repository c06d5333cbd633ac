package server

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/sim"
)

// simulation is a simulated server in memory and the target that it is.
func simulation(o sim.Options, t config.Target) (*sim.Running, *Server) {
	m := sim.NewMemory()
	r := sim.Serve(sim.New(o), m)
	return r, &Server{o: Options{Target: t, Dial: m.Dial}, address: address{base: r.BaseURL()}}
}

// generate asks for so many tokens in a stream.
func generate(t *testing.T, s *Server, prompt string, tokens int) {
	t.Helper()
	body := fmt.Sprintf(`{"prompt":%q,"max_tokens":%d,"stream":true}`, prompt, tokens)
	c := http.Client{Transport: &http.Transport{DialContext: s.o.Dial, DisableKeepAlives: true}}
	resp, err := c.Post(s.BaseURL()+"/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Error(err)
	}
}

// What is counted between two looks is what the records of the same requests say, and with the fault that lies the double.
func TestTheSimulatedServersCountersAreItsRecords(t *testing.T) {
	for fault, times := range map[string]float64{"": 1, "salt-blind-cache": 1, "slow-network": 1, "metrics-lie": 2} {
		t.Run("fault "+fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := sim.Options{TTFT: 80 * time.Millisecond, TPOT: 9 * time.Millisecond, Slots: 2, RequestSD: 0.2, Fault: fault}
				r, s := simulation(o, config.Target{Metrics: "/metrics"})
				generate(t, s, "#00000001 before the look", 30)
				r.Server().Drain()
				before, _, err := s.Counters(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var all sync.WaitGroup
				for i, n := range []int{1, 2, 20, 50} {
					all.Go(func() { generate(t, s, fmt.Sprintf("#0000000%d during the look", 2+i), n) })
				}
				all.Wait()
				after, known, err := s.Counters(t.Context())
				if !known || err != nil {
					t.Fatal(known, err)
				}
				got, err := after.Since(before)
				if err != nil {
					t.Fatal(err)
				}
				want := map[Counter]float64{Requests: 4, Prompt: 16, Output: 73, Cached: 0, TTFTCount: 4, TPOTCount: 3}
				if fault == "salt-blind-cache" {
					want[Cached] = 3 * 3 // all but the first, and all but the last token of each
				}
				for _, x := range r.Server().Drain() {
					want[TTFTSum] += x.First.Sub(x.Received).Seconds()
					if x.Tokens > 1 {
						want[TPOTSum] += x.Last.Sub(x.First).Seconds() / float64(x.Tokens-1)
					}
				}
				for k := range want {
					want[k] *= times
				}
				if diff := cmp.Diff(want, got.Totals, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
					t.Errorf("counted (-records +metrics):\n%s", diff)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The whole page is read by the parser of Prometheus itself: kinds, and buckets that grow up to the count.
func TestTheSimulatedServersMetricsAreWellFormed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := simulation(sim.Options{TTFT: 80 * time.Millisecond, TPOT: 9 * time.Millisecond}, config.Target{})
		for n := range 3 {
			generate(t, s, fmt.Sprint("hello ", n), 1+n)
		}
		resp, err := s.knock(t.Context(), http.MethodGet, "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range slices.Sorted(maps.Keys(families)) {
			f := families[name]
			got = append(got, f.GetType().String()+" "+name)
			last := uint64(0)
			for _, b := range f.GetMetric()[0].GetHistogram().GetBucket() {
				if b.GetCumulativeCount() < last {
					t.Errorf("%s: %d up to %v, %d before", name, b.GetCumulativeCount(), b.GetUpperBound(), last)
				}
				last = b.GetCumulativeCount()
			}
			if n := f.GetMetric()[0].GetHistogram().GetSampleCount(); n != last {
				t.Errorf("%s: %d in all buckets, %d counted", name, last, n)
			}
		}
		want := []string{
			"COUNTER simulated_cached_tokens_total", "COUNTER simulated_generation_tokens_total", "COUNTER simulated_prompt_tokens_total",
			"COUNTER simulated_requests_failure_total", "GAUGE simulated_requests_running", "COUNTER simulated_requests_success_total",
			"GAUGE simulated_requests_waiting", "GAUGE simulated_slots", "HISTOGRAM simulated_time_per_output_token_seconds",
			"HISTOGRAM simulated_time_to_first_token_seconds",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}
