package bench

import (
	"errors"
	"fmt"
	"math"
)

// Told is a server's own account of one request, as the last chunk of its answer gave it. Times are seconds, 0 where the
// server did not tell them.
type Told struct {
	// Source is the member of the chunk that it was read from: one of the Source constants.
	Source string `json:"source,omitempty"`
	// Prefill is from the start of the work on the prompt to the first token, Decode from the first token to the last.
	Prefill float64 `json:"prefill,omitempty"`
	Decode  float64 `json:"decode,omitempty"`
	// Queue is how long the request waited before the work began; nil where the server does not tell, as llama-server.
	Queue *float64 `json:"queue,omitempty"`
	// PromptTokens are those that were worked on, cached ones left out; OutputTokens those that were written. 0: not told.
	PromptTokens int `json:"prompt_tokens,omitempty"`
	OutputTokens int `json:"output_tokens,omitempty"`
}

// The members of an answer's last chunk in which servers tell how it went.
const (
	SourceTimings = "timings" // llama-server
	SourceMetrics = "metrics" // vLLM under --enable-per-request-metrics
)

// The values of ServerAccount.TTFTFrom: where the server's clock starts.
const (
	FromArrival = "arrival" // of the request
	FromWork    = "work"    // on the prompt: what a request waited for a slot is not in it
)

// ServerAccount is what the server itself says of the requests of one run. A field that is nil, 0 or empty was not told.
// Seconds, tokens and shares.
type ServerAccount struct {
	// Source names what the times were read from: "timings" or "metrics" in each answer, else "/metrics (vllm)" before and
	// after the run.
	Source string `json:"source,omitempty"`
	// TTFT is the server's mean time to the first token, from the moment that TTFTFrom names; TPOT its mean time per output
	// token.
	TTFT     float64 `json:"ttft,omitempty"`
	TTFTFrom string  `json:"ttft_from,omitempty"`
	TPOT     float64 `json:"tpot,omitempty"`
	// Gap is the client's mean ttft of the same requests less TTFT: what the network, the HTTP server and the client add.
	// Where TTFTFrom is FromWork the wait for a slot is in it too. Negative when the server says more than the client saw.
	Gap *float64 `json:"gap,omitempty"`
	// Counters names what the totals below were read from before and after the run, such as "/metrics (vllm)".
	Counters string `json:"counters,omitempty"`
	// Requests are those that the server counted as answered during the run, by whomever they were sent.
	Requests *float64 `json:"requests,omitempty"`
	// PromptTokens and OutputTokens are totals over the run, cached prompt tokens included; absent where the server counted
	// other requests than the run sent.
	PromptTokens *float64 `json:"prompt_tokens,omitempty"`
	OutputTokens *float64 `json:"output_tokens,omitempty"`
	// CachedTokens is the share of PromptTokens that came from a cache, by the server's counters.
	CachedTokens *float64 `json:"cached_tokens,omitempty"`
	// ChunkTokens is how many tokens a chunk held in the mean, by the answers' usage: 1 is one each.
	ChunkTokens float64 `json:"chunk_tokens,omitempty"`
	// Doubts say where the account does not fit what the client saw, by what is in doubt: see the Doubt constants.
	Doubts map[string]string `json:"doubts,omitempty"`
}

// What may be in doubt between a server's account and what its client saw.
const (
	DoubtRequests = "requests"         // the server counted others than the run sent
	DoubtTTFT     = "ttft"             // the server says more than the client saw
	DoubtPrompt   = "prompt tokens"    // usage differs from the counters, or from what the same answers tell besides
	DoubtOutput   = "output tokens"    // the same
	DoubtCached   = "cached tokens"    // usage and the counters differ
	DoubtChunks   = "tokens per chunk" // usage and the chunks differ
	DoubtAccount  = "account"          // it held what cannot be, and is left out
)

// check refuses numbers that no server can have meant.
func (a *ServerAccount) check() error {
	if a == nil {
		return nil
	}
	if a.Gap != nil && (math.IsNaN(*a.Gap) || math.IsInf(*a.Gap, 0)) {
		return fmt.Errorf("gap is %v: not a measurement", *a.Gap)
	}
	switch a.TTFTFrom {
	case "", FromArrival, FromWork:
	default:
		return fmt.Errorf("ttft_from %s: want %s or %s", shorten(a.TTFTFrom), FromArrival, FromWork)
	}
	if len(a.Source) > 200 || len(a.Counters) > 200 {
		return errors.New("source or counters is longer than 200 bytes")
	}
	for what, text := range a.Doubts {
		if len(what) > 200 || len(text) > 1000 {
			return errors.New("a doubt is longer than 1000 bytes")
		}
	}
	return notNegative(
		number{"requests", orZero(a.Requests)}, number{"ttft", a.TTFT}, number{"tpot", a.TPOT},
		number{"prompt_tokens", orZero(a.PromptTokens)}, number{"output_tokens", orZero(a.OutputTokens)},
		number{"cached_tokens", orZero(a.CachedTokens)}, number{"chunk_tokens", a.ChunkTokens},
	)
}

func (t *Told) check() error {
	if t == nil {
		return nil
	}
	if len(t.Source) > 200 {
		return errors.New("source is longer than 200 bytes")
	}
	return notNegative(
		number{"prefill", t.Prefill}, number{"decode", t.Decode}, number{"queue", orZero(t.Queue)},
		number{"prompt_tokens", float64(t.PromptTokens)}, number{"output_tokens", float64(t.OutputTokens)},
	)
}

// orZero is what a pointer points to, 0 for none.
func orZero(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}
