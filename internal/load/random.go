package load

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

// Token ids that a prompt may be made of. Special tokens and single bytes stand below, and no vocabulary in common use
// ends before.
const (
	firstToken = 1000
	pastTokens = 30000
)

// The bounds of one random prompt and of all prompts of a run, in tokens: a typing error must not fill the memory.
const (
	maxInput = 1 << 20
	maxTotal = 1 << 28
)

// random fills in prompts of random words, or of random token ids where the server takes those. Lengths and words have a
// generator each, so that a change of one leaves the other; arrivals have their own.
func (w *Workload) random(s config.Scenario, cal bench.Calibration, api string) error {
	if err := checkRandom(s, cal, api); err != nil {
		return err
	}
	lengths, words := newStream(s.Load.Seed, "lengths"), newStream(s.Load.Seed, "words")
	low, high := bounds(s.Dataset.InputTokens, s.Dataset.Range)
	for range s.Load.Requests {
		n := low + lengths.below(high-low+1)
		if cal.Method == MethodTokens {
			w.prompts = append(w.prompts, openai.Prompt{Tokens: randomTokens(words, payload(n, cal))})
		} else {
			w.prompts = append(w.prompts, openai.Prompt{Text: unsalted + " " + sentence(words, payload(n, cal))})
		}
		w.output = append(w.output, s.OutputTokens)
	}
	return nil
}

func checkRandom(s config.Scenario, cal bench.Calibration, api string) error {
	d := s.Dataset
	switch {
	case d.InputTokens < 1 || d.InputTokens > maxInput:
		return fmt.Errorf("input_tokens %d: want 1 to %d", d.InputTokens, maxInput)
	case s.Load.Requests > maxTotal/d.InputTokens:
		return fmt.Errorf("%d requests of %d input_tokens are more than %d tokens", s.Load.Requests, d.InputTokens, maxTotal)
	case !(d.Range >= 0 && d.Range <= 1):
		return fmt.Errorf("range %v: want 0%% to 100%%", d.Range)
	case s.OutputTokens < 1:
		return fmt.Errorf("output_tokens %d: want 1 or more", s.OutputTokens)
	}
	switch cal.Method {
	case MethodTokens:
		if api != openai.Completions {
			return errors.New("token-id prompts need the completions api")
		}
	case MethodTokenize, MethodUsage:
	default:
		return fmt.Errorf("calibration method %q: a random prompt needs to know the server's tokenizer", cal.Method)
	}
	if size := perWord(cal); !(size > 0.1 && size < 100) || !(cal.Overhead >= 0 && cal.Overhead < 1e6) {
		return fmt.Errorf("calibration says %v tokens a word and %v around them: measure anew", size, cal.Overhead)
	}
	return nil
}

// bounds are the shortest and the longest input: integers in [⌊L(1−r)⌋, ⌈L(1+r)⌉], as in vllm bench serve, but never 0.
func bounds(length int, spread float64) (low, high int) {
	// A product such as 10 × (1 + 0.1) is a hair above 11; what is a hair from an integer is that integer.
	const hair = 1e-9
	low = int(math.Floor(float64(length)*(1-spread) + hair))
	high = int(math.Ceil(float64(length)*(1+spread) - hair))
	return max(1, low), max(1, high)
}

// leastOwn is how many words, or token ids beside the salt, a prompt has at the least: enough to tell the prompts of one
// run apart, even where a chat template alone is longer than the wanted length.
const leastOwn = 4

// payload is the number of words (of token ids) that make a prompt of n tokens, whatever the server puts around it.
func payload(n int, cal bench.Calibration) int {
	if cal.Method == MethodTokens {
		return max(saltTokens+leastOwn, n-int(cal.Overhead))
	}
	return max(leastOwn, int(math.Round((float64(n)-cal.Overhead)/cal.TokensPerWord)))
}

func randomTokens(s *stream, n int) []int {
	tokens := make([]int, n)
	for i := range tokens {
		tokens[i] = token(s.next())
	}
	return tokens
}

// token maps 64 random bits to a token id.
func token(random uint64) int {
	high, _ := bits.Mul64(random, pastTokens-firstToken)
	return firstToken + int(high)
}

// sentence is n words from the list.
func sentence(s *stream, n int) string {
	var b strings.Builder
	b.Grow(6 * n)
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[s.below(len(words))])
	}
	return b.String()
}
