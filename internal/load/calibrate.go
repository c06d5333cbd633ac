package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/openai"
)

// How the length of a random prompt is known: values of bench.Calibration.Method.
const (
	MethodTokens   = "tokens"   // prompts are token ids
	MethodUsage    = "usage"    // words, counted by the server in usage.prompt_tokens
	MethodTokenize = "tokenize" // words, counted by the server's tokenize endpoint
)

// Prober is the part of a client that Calibrate asks.
type Prober interface {
	Doer
	// Tokenize returns the token ids of a text; false when the server has no such endpoint.
	Tokenize(ctx context.Context, text string) ([]int, bool, error)
	// CountPrompt returns how many tokens the server counts for a prompt, whatever it puts around it included.
	CountPrompt(ctx context.Context, text string) (int, error)
}

// Calibrate learns from the server how a prompt of a wanted number of tokens is made. Where tokens says that it takes
// token ids these are used, else words, counted by the server's usage, else by its tokenize endpoint. At most six short
// requests are sent.
func Calibrate(ctx context.Context, p Prober, tokens bool) (bench.Calibration, error) {
	if tokens {
		if overhead, ok := tokenOverhead(ctx, p); ok {
			return bench.Calibration{Method: MethodTokens, Overhead: overhead}, nil
		}
	}
	cal, usageErr := measure(ctx, MethodUsage, p.CountPrompt)
	if usageErr == nil {
		return cal, nil
	}
	cal, tokenizeErr := measure(ctx, MethodTokenize, func(ctx context.Context, text string) (int, error) {
		ids, there, err := p.Tokenize(ctx, text)
		if err == nil && !there {
			err = errors.New("the server has no tokenize endpoint")
		}
		return len(ids), err
	})
	if tokenizeErr == nil {
		return cal, nil
	}
	if ctx.Err() != nil {
		return bench.Calibration{}, fmt.Errorf("calibrate prompts: %w", context.Cause(ctx))
	}
	return bench.Calibration{}, fmt.Errorf("calibrate prompts: %w", errors.Join(usageErr, tokenizeErr))
}

// tokenOverhead sends prompts of token ids and compares what the server counts. False: it does not take them, it takes
// them for something else, or it does not count. The ids reach over the whole range that prompts use.
func tokenOverhead(ctx context.Context, d Doer) (float64, bool) {
	count := func(n int) (int, bool) {
		ids := randomTokens(newStream(uint32(n), "probe"), n)
		ids[0], ids[n-1] = firstToken, pastTokens-1
		zero := func() float64 { return 0 }
		q := d.Do(ctx, openai.Call{Prompt: openai.Prompt{Tokens: ids}, MaxTokens: 1}, zero)
		return q.InputTokens, q.Class == bench.OK || q.Class == bench.Empty
	}
	short, ok := count(16)
	if !ok {
		return 0, false
	}
	long, ok := count(48)
	overhead := short - 16
	return float64(overhead), ok && long-short == 32 && overhead >= 0 && overhead <= 8
}

// measure fits a line through what a server counts for no words, for the whole list and for twice the list. Each probe
// begins with a salt, as every prompt does, so that the salt is part of the overhead. The middle point must lie on the
// line: a server that cuts long prompts, or leaves out cached tokens, would be found there.
func measure(ctx context.Context, method string, count func(context.Context, string) (int, error)) (bench.Calibration, error) {
	list := strings.Join(words[:], " ")
	texts := []string{"", " " + list, " " + list + " " + list}
	var counts [3]float64
	for i, text := range texts {
		n, err := count(ctx, Salt(0, "calibrate", i)+text)
		if err != nil {
			return bench.Calibration{}, fmt.Errorf("by %s: %w", method, err)
		}
		counts[i] = float64(n)
	}
	perWord := (counts[2] - counts[0]) / float64(2*len(words))
	middle := (counts[0] + counts[2]) / 2
	if counts[0] < 1 || perWord < 0.1 || math.Abs(counts[1]-middle) > 0.02*middle+2 {
		return bench.Calibration{}, fmt.Errorf("by %s: the server counts %v, %v and %v tokens for a salt with 0, %d and %d words, which is not a line",
			method, counts[0], counts[1], counts[2], len(words), 2*len(words))
	}
	// Rounded here so that a campaign that measured it and one that reads it from a file make the same text.
	return bench.Calibration{Method: method, TokensPerWord: math.Round(perWord*1e6) / 1e6, Overhead: counts[0]}, nil
}
