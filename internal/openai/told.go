package openai

import (
	"strconv"

	"github.com/benchgate/benchgate/internal/bench"
)

// The members of a chunk in which servers tell how an answer went: llama-server's in the last one, vLLM's in that of the usage.
const (
	fromTimings = bench.SourceTimings
	fromMetrics = bench.SourceMetrics
)

// most is the largest time, in milliseconds, and the largest count that a server is believed.
const most = 1e9

// told is a server's account of one answer: milliseconds and counts, -1 for what it does not tell.
type told struct {
	source                 string // one of bench's Source constants; empty when there is none
	prefill, decode, queue float64
	fresh, out, cached     float64
}

// toldIn reads the account that comes next, in the words of its source. What is there but no object is passed over.
func (c *chunk) toldIn(source string) bool {
	if c.scan.peek() != '{' {
		return c.scan.skip()
	}
	c.told = told{source, -1, -1, -1, -1, -1, -1}
	return c.scan.members(c.toldMember)
}

func (c *chunk) toldMember(name []byte) bool {
	raw, ok := c.scan.value()
	if v, is := amount(raw); ok && is {
		switch t := &c.told; string(name) {
		case "prompt_ms", "time_to_first_token_ms":
			t.prefill = v
		case "predicted_ms", "generation_time_ms":
			t.decode = v
		case "queue_time_ms":
			t.queue = v
		case "prompt_n":
			t.fresh = v
		case "predicted_n":
			t.out = v
		case "cache_n":
			t.cached = v
		}
	}
	return ok
}

// amount reads a time or a count. What cannot be one is not told.
func amount(raw []byte) (float64, bool) {
	v, err := strconv.ParseFloat(string(raw), 64)
	return v, err == nil && v >= 0 && v <= most
}

// note fills an answer's account into its request. An answer without a token has none.
func (t told) note(r *bench.Request) {
	if t.source == "" || r.Chunks == 0 {
		return
	}
	r.Told = &bench.Told{
		Source: t.source, Prefill: max(0, t.prefill) / 1000, Decode: max(0, t.decode) / 1000,
		PromptTokens: int(max(0, t.fresh)), OutputTokens: int(max(0, t.out)),
	}
	if t.queue >= 0 {
		wait := t.queue / 1000
		r.Told.Queue = &wait
	}
	if r.CachedTokens == nil && t.fits(r.InputTokens) {
		cached := int(t.cached)
		r.CachedTokens = &cached
	}
}

// fits reports whether a cache can have held so much of a prompt: of as many tokens as usage tells, else, where it tells
// none (0), of those that were worked on and the cached ones.
func (t told) fits(prompt int) bool {
	if prompt > 0 {
		return t.cached >= 0 && t.cached <= float64(prompt)
	}
	return t.cached >= 0 && t.fresh >= 0
}
