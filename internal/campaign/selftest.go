package campaign

import (
	"context"
	"errors"
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
	// selfTestEvents is how many tokens a second come at most, over all streams: 512 streams of 50. The server of the
	// self-test shares the machine with the client; what it would take to write more would be held against the client.
	selfTestEvents = 25_600
)

// selfTestTPOT is the time from token to token where so many streams run at once: 1 ms, or what keeps all of them within
// selfTestEvents.
func selfTestTPOT(streams int) time.Duration {
	return max(time.Millisecond, time.Duration(streams)*time.Second/selfTestEvents)
}

// clientError is the client's own error in a self-test, in seconds.
type clientError struct {
	ttft50, ttft99 float64 // its TTFT minus what the server noted
	stream99       float64 // how much longer a whole stream, from first token to last, seemed than it was
}

// selfTest measures the client's own error under a load like the scenario's. It stands in every run of the scenario.
func (v *visit) selfTest(ctx context.Context, s config.Scenario) error {
	e, err := selfTest(ctx, s.Load, s.OutputTokens, v.o.Dial != nil)
	if err != nil {
		return fmt.Errorf("self-test of the client: %w", err)
	}
	v.p.selfTests[s.Name] = e
	v.o.say("client self-test for %q: TTFT error p50 %s, p99 %s; streams seem longer by %s, p99", s.Name, millis(e.ttft50), millis(e.ttft99), millis(e.stream99))
	return nil
}

// selfTest returns the client's account of each request minus what a loopback server noted for it: the middle of the
// tries, figure by figure.
func selfTest(ctx context.Context, l config.Load, tokens int, memory bool) (clientError, error) {
	var tries []clientError
	for range selfTestTries {
		requests, truth, err := selfTestPass(ctx, likeness(l), min(tokens, selfTestTokens), memory)
		if err != nil {
			return clientError{}, err
		}
		e, err := errorOf(requests, truth)
		if err != nil {
			return clientError{}, err
		}
		tries = append(tries, e)
	}
	return clientError{
		ttft50: middle(tries, func(e clientError) float64 { return e.ttft50 }), ttft99: middle(tries, func(e clientError) float64 { return e.ttft99 }),
		stream99: middle(tries, func(e clientError) float64 { return e.stream99 }),
	}, nil
}

func middle(tries []clientError, of func(clientError) float64) float64 {
	var values []float64
	for _, e := range tries {
		values = append(values, of(e))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// likeness is a short load like a scenario's.
func likeness(l config.Load) config.Load {
	if l.Open() {
		l.Requests = min(l.Requests, max(selfTestLeast, int(l.Rate)))
		return l
	}
	return config.Load{Concurrency: l.Concurrency, Requests: max(selfTestLeast, selfTestWaves*l.Concurrency)}
}

// selfTestConnections is how many requests of a self-test may be in flight at once.
func selfTestConnections(l config.Load) int { return max(l.Concurrency, min(l.Requests, 256)) }

// selfTestPass plays the load against a server of its own, and returns both accounts: the client's, and the server's by
// the index of a request.
func selfTestPass(ctx context.Context, l config.Load, tokens int, memory bool) ([]bench.Request, map[int]sim.Record, error) {
	connections := selfTestConnections(l)
	running, dial, err := simulate(sim.Options{Slots: connections, TTFT: selfTestTTFT, TPOT: selfTestTPOT(connections)}, memory)
	if err != nil {
		return nil, nil, err
	}
	defer running.Close()
	client, err := openai.New(openai.Options{
		BaseURL: running.BaseURL(), Model: running.Server().Model(), API: openai.Completions,
		Connections: connections, Dial: dial,
	})
	if err != nil {
		return nil, nil, err
	}
	defer client.Close()
	if err := client.Open(ctx, connections); err != nil {
		return nil, nil, err
	}
	prompts := make([]openai.Prompt, l.Requests)
	for i := range prompts {
		prompts[i].Text = fmt.Sprintf("self test %d", i)
	}
	requests, _, err := load.Run(ctx, client, load.Pass{
		Load: l, Prompts: prompts, OutputTokens: []int{max(1, tokens)},
	})
	if err != nil {
		return nil, nil, err
	}
	return requests, byIndex(prompts, running.Server().Drain()), nil
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

// byIndex finds each request's record.
func byIndex(prompts []openai.Prompt, records []sim.Record) map[int]sim.Record {
	byKey := map[uint64]sim.Record{}
	for _, r := range records {
		byKey[r.Prompt] = r
	}
	truth := map[int]sim.Record{}
	for i, p := range prompts {
		if r, ok := byKey[sim.Key(p.Text)]; ok && !r.First.IsZero() {
			truth[i] = r
		}
	}
	return truth
}

// errorOf holds the client's account of each request against the server's. An error below zero is none: the server stamps
// before it writes.
func errorOf(requests []bench.Request, truth map[int]sim.Record) (clientError, error) {
	var ttfts, streams []float64
	for _, q := range requests {
		is, known := truth[q.Index]
		ttft, ok := q.TTFT()
		if !known || !ok {
			continue
		}
		ttfts = append(ttfts, max(0, ttft-is.First.Sub(is.Received).Seconds()))
		streams = append(streams, max(0, q.LastToken-q.FirstToken-is.Last.Sub(is.First).Seconds()))
	}
	p50, err := stat.Quantile(ttfts, 0.50)
	p99, err99 := stat.Quantile(ttfts, 0.99)
	stream, errStream := stat.Quantile(streams, 0.99)
	return clientError{ttft50: p50, ttft99: p99, stream99: stream}, errors.Join(err, err99, errStream)
}
