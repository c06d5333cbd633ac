package campaign

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/load"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/sim"
	"github.com/benchgate/benchgate/internal/stat"
)

// The self-test plays short answers three times over, so that one burst of other work on the machine does not speak for
// the whole campaign: a closed loop in waves at the scenario's concurrency, an open loop at the scenario's rate for about
// a second.
const (
	selfTestTries  = 3
	selfTestWaves  = 4
	selfTestLeast  = 20 // requests
	selfTestTokens = 16 // at most
	selfTestTTFT   = 20 * time.Millisecond
)

// selfTest measures the client's own error under a load like the scenario's: its TTFT minus what a loopback server noted
// for the same requests. The middle of the tries stands in every run of the scenario.
func (v *visit) selfTest(ctx context.Context, s config.Scenario) error {
	var p99s []float64
	for range selfTestTries {
		errs, err := selfTestErrors(ctx, likeness(s.Load), min(s.OutputTokens, selfTestTokens), v.o.Dial != nil)
		if err != nil {
			return fmt.Errorf("self-test of the client: %w", err)
		}
		p99, err := stat.Quantile(errs, 0.99)
		if err != nil {
			return fmt.Errorf("self-test of the client: %w", err)
		}
		p99s = append(p99s, max(0, p99))
	}
	slices.Sort(p99s)
	v.p.selfTests[s.Name] = p99s[len(p99s)/2]
	v.o.say("client self-test for %q: TTFT error p99 %s", s.Name, millis(v.p.selfTests[s.Name]))
	return nil
}

// likeness is a short load like a scenario's.
func likeness(l config.Load) config.Load {
	if l.Open() {
		l.Requests = min(l.Requests, max(selfTestLeast, int(l.Rate)))
		return l
	}
	return config.Load{Concurrency: l.Concurrency, Requests: max(selfTestLeast, selfTestWaves*l.Concurrency)}
}

// selfTestErrors returns the client's error in the TTFT of each request, in seconds.
func selfTestErrors(ctx context.Context, l config.Load, tokens int, memory bool) ([]float64, error) {
	connections := max(l.Concurrency, min(l.Requests, 256))
	running, dial, err := simulate(sim.Options{Slots: connections, TTFT: selfTestTTFT, TPOT: time.Millisecond}, memory)
	if err != nil {
		return nil, err
	}
	defer running.Close()
	client, err := openai.New(openai.Options{
		BaseURL: running.BaseURL(), Model: running.Server().Model(), API: openai.Completions,
		Connections: connections, Dial: dial,
	})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if err := client.Open(ctx, connections); err != nil {
		return nil, err
	}
	prompts := make([]openai.Prompt, l.Requests)
	for i := range prompts {
		prompts[i].Text = fmt.Sprintf("self test %d", i)
	}
	requests, _, err := load.Run(ctx, client, load.Pass{
		Load: l, Prompts: prompts, OutputTokens: []int{max(1, tokens)},
	})
	if err != nil {
		return nil, err
	}
	return differences(requests, prompts, running.Server().Drain()), nil
}

// simulate starts the server of the self-test, on loopback or in memory, and says how to reach it.
func simulate(o sim.Options, memory bool) (*sim.Running, dialer, error) {
	if memory {
		m := sim.NewMemory()
		return sim.Serve(sim.New(o), m), m.Dial, nil
	}
	running, err := sim.Listen(o, "127.0.0.1:0")
	return running, nil, err
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// differences holds the client's account of each request against the server's.
func differences(requests []bench.Request, prompts []openai.Prompt, records []sim.Record) []float64 {
	truth := map[uint64]float64{}
	for _, r := range records {
		if !r.First.IsZero() {
			truth[r.Prompt] = r.First.Sub(r.Received).Seconds()
		}
	}
	var errs []float64
	for _, q := range requests {
		is, ok := truth[sim.Key(prompts[q.Index].Text)]
		if said, known := q.TTFT(); ok && known {
			errs = append(errs, said-is)
		}
	}
	return errs
}
