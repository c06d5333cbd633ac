// Package load plays a schedule of prompts against a server.
//
// [Arrivals] says when requests are due, [Prompts] what they ask, and [Run] sends them: in an open loop on an absolute
// timeline that never waits for a slow server, in a closed loop with a fixed number in flight. [Calibrate] learns from the
// server how many tokens a word is, so that prompts of a wanted length need no tokenizer here.
package load

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

// Doer sends one request and returns when its answer has ended, soon after the context has. since is the run's clock:
// seconds since its start.
type Doer interface {
	Do(ctx context.Context, call openai.Call, since func() float64) bench.Request
}

// Pass is one run to play.
type Pass struct {
	// Load says how many requests are sent and when.
	Load config.Load
	// Prompts and OutputTokens are taken in order and begin anew when there are fewer of them than requests. Neither may
	// be empty.
	Prompts []openai.Prompt
	// More makes the prompt of an index beyond Prompts; nil: they begin anew.
	More         func(index int) openai.Prompt
	OutputTokens []int
	// Exact asks the server to write neither more nor fewer than OutputTokens.
	Exact bool
	Abort Abort
	// OnRequest is called with each request as it ends, never by two goroutines at once; nil is allowed. A slow one delays
	// no request.
	OnRequest func(bench.Request)
}

// Abort says when a run is hopeless. A zero field has no effect.
type Abort struct {
	// Errors is the share of the planned requests that may fail: once more than that have, no later success can mend it.
	// The rule waits until leastForShare requests have ended, so that a short run is not ended by its first failure.
	Errors float64
	// InARow is the number of failures, one ending after the other, that ends the run.
	InARow int
}

// leastForShare is the number of ended requests below which a share of failures says nothing.
const leastForShare = 20

// ErrAborted is what Run returns, wrapped with the reason, when a rule of Abort ended the run.
var ErrAborted = errors.New("run aborted")

// check refuses what cannot be played.
func (p Pass) check() error {
	switch l := p.Load; {
	case l.Requests < 1:
		return fmt.Errorf("play a run: %d requests", l.Requests)
	case len(p.Prompts) == 0 || len(p.OutputTokens) == 0:
		return errors.New("play a run: no prompts")
	case l.Open() == (l.Concurrency > 0):
		return fmt.Errorf("play a run: want a rate or a concurrency, have %v and %d", l.Rate, l.Concurrency)
	case !(l.MinDuration >= 0 && l.MinDuration <= farthest) || l.Open() && l.MinDuration > 0:
		return fmt.Errorf("play a run: min_duration %v is for a closed loop", l.MinDuration)
	case l.Open() && Arrivals(l.Seed, l.Rate, l.Burstiness, 1) == nil:
		return fmt.Errorf("play a run: no arrival times for rate %v and burstiness %v", l.Rate, l.Burstiness)
	}
	return nil
}

// call makes the request with this index.
func (p Pass) call(i int, scheduled float64) openai.Call {
	prompt := p.Prompts[i%len(p.Prompts)]
	if i >= len(p.Prompts) && p.More != nil {
		prompt = p.More(i)
	}
	return openai.Call{
		Index: i, Prompt: prompt, MaxTokens: p.OutputTokens[i%len(p.OutputTokens)],
		Exact: p.Exact, Scheduled: scheduled,
	}
}
