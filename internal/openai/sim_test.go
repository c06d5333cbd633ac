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
		for range w.asks() {
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

// asks is how often a fault is asked: twice, since some begin with the second, and a flood once.
func (w *wireCase) asks() int {
	if strings.HasPrefix(w.Fault, "endless-") || w.Fault == "garbage" {
		return 1
	}
	return 2
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
	had := map[string]string{}
	for _, w := range cases(t) {
		if w.Fault == "" {
			continue
		}
		name := named(w.Fault)
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

// named is the name under which the list has a fault: with N for a number that is the caller's.
func named(fault string) string {
	for _, f := range sim.Faults() {
		if f.Name == fault {
			return fault
		}
	}
	return strings.TrimRight(fault, "0123456789") + "N"
}
