package openai

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/sim"
)

// simulated asks the simulated server, with the fault of the case and in virtual time.
func (w *wireCase) simulated(t *testing.T) outcome {
	t.Helper()
	var got outcome
	synctest.Test(t, func(t *testing.T) {
		m := sim.NewMemory()
		s := sim.Serve(sim.New(sim.Options{TTFT: 10 * time.Millisecond, TPOT: time.Millisecond, Fault: w.Fault}), m)
		c := client(t, s.URL(), func(o *Options) { o.Model, o.APIKey, o.Dial, o.Timeouts = "simulated-8b", secret, m.Dial, Timeouts{} })
		for range 2 {
			a := c.exchange(t.Context(), Call{Prompt: Prompt{Text: "hello"}, MaxTokens: 20, Exact: true}, clock())
			leaks(t, "request", a.req)
			checkTimes(t, a.req)
			got = outcomeOf(a)
		}
		c.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return got
}

// The simulated server was written apart from this client: what it breaks on purpose is the other half of a contract.
func TestFaultOfTheSimulatedServerIsReadLikeItsCase(t *testing.T) {
	for _, w := range cases(t) {
		if w.Fault == "" {
			continue
		}
		t.Run(w.Fault, func(t *testing.T) {
			t.Parallel()
			got := w.simulated(t)
			if got.Class != w.Want.Class || got.Class == bench.OK && got.OutputTokens != 20 {
				t.Errorf("%s, %d tokens: %s; want %s, as in case %q", got.Class, got.OutputTokens, got.Error, w.Want.Class, w.name)
			}
		})
	}
}

func TestEveryFaultOfTheSimulatedServerHasACase(t *testing.T) {
	had, known := map[string]string{}, map[string]bool{}
	for _, f := range sim.Faults() {
		known[f.Name] = true
	}
	for _, w := range cases(t) {
		if w.Fault == "" {
			continue
		}
		name := w.Fault
		if !known[name] {
			name = general(name)
		}
		if other := had[name]; other != "" {
			t.Errorf("fault %q stands at the cases %q and %q", name, other, w.name)
		}
		had[name] = w.name
	}
	for _, f := range sim.Faults() {
		if had[f.Name] == "" {
			t.Errorf("fault %q has no case", f.Name)
		}
	}
}

// general is the name of a fault with N for its number.
func general(fault string) string {
	return strings.TrimRight(fault, "0123456789") + "N"
}
