package bench

import "fmt"

// VLLM is what the client of vllm bench serve 0.33 reads off the same stream where it reads something else, so that its
// numbers can be told from the same record (see docs/vllm.md). Times are seconds since the start of the run.
type VLLM struct {
	// Stretches are the lengths of stretches of token-bearing chunks, by turns such as it counts and such as it does not
	// know, beginning with counted ones (perhaps 0 of them). Empty: it counts them all.
	Stretches []int `json:"stretches,omitempty"`
	// Blank holds the arrivals of chunks without a token that it counts.
	Blank []float64 `json:"blank,omitempty"`
	// InputTokens and OutputTokens are the counts of the server that it reads, where those of the request are others; 0: it
	// reads none, and would count the tokens of the text itself. Nil: as in the request.
	InputTokens  *int `json:"input_tokens,omitempty"`
	OutputTokens *int `json:"output_tokens,omitempty"`
	// Broken says why the request fails for it, where the class of the request does not say so; empty when it does not.
	Broken string `json:"broken,omitempty"`
	// Framing is true when what it makes of the stream hangs on how the bytes fell into reads, which nobody recorded.
	Framing bool `json:"framing,omitempty"`
}

func (v *VLLM) check(chunks int) error {
	if v == nil {
		return nil
	}
	sum := 0
	for _, n := range v.Stretches {
		if n < 0 || n > maxCount {
			return fmt.Errorf("vllm: a stretch of %d chunks", n)
		}
		sum += n
	}
	if len(v.Stretches) > 0 && sum != chunks {
		return fmt.Errorf("vllm: stretches of %d chunks together, and the request has %d", sum, chunks)
	}
	for _, at := range v.Blank {
		if err := notNegative(number{"vllm: blank", at}); err != nil {
			return err
		}
	}
	for _, n := range []*int{v.InputTokens, v.OutputTokens} {
		if n != nil && (*n < 0 || *n > maxCount) {
			return fmt.Errorf("vllm: %d tokens", *n)
		}
	}
	return nil
}
