package openai

import (
	"fmt"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

// Capabilities are what a server was seen to obey and to tell.
type Capabilities struct {
	LimitField string // the field that bounds an answer: Apply makes the client use it
	Usage      bool   // the server counts tokens itself
	// UsageRefused says that the server refuses stream_options: Apply makes the client leave it out.
	UsageRefused bool
	// Exact says that the server can be made to write exactly so many tokens; otherwise a length is a ceiling.
	Exact bool
	// IgnoreEOS says why: ignore_eos and min_tokens were "obeyed", "ignored" or "refused"; or, "not shown", the model fills
	// the limit with and without them.
	IgnoreEOS string
	// Reasoning is the field in which reasoning came; empty when none did.
	Reasoning string
	// Buffered says that a whole answer came at once, twice: its ttft and tpot are those of a proxy.
	Buffered     bool
	CachedTokens bool // usage tells how many prompt tokens came from a cache
	// PromptTokens is what the server counted in the first probe: its template, and some twenty tokens. 0: not told.
	PromptTokens int
	// KeepAlive is what the server says it does with a connection after an answer: "kept", what its Keep-Alive header says,
	// such as "timeout=5, max=100", or "closed after each answer".
	KeepAlive string
	// Reconnects counts probes that met a kept connection which the server had closed.
	Reconnects   int
	Tokenize     bool // Tokenize works
	TokenPrompts bool // prompts may be token ids (completions only)
	Metrics      bool // Options.Metrics answers with metrics in the text format of Prometheus
	// Models are the ids that the server lists; ModelListed says that the wanted one is among them.
	Models      []string
	ModelListed bool
	// Facts say what the server is, under bench's keys where there are some: engine, version, model_file, slots, context, …
	Facts    map[string]string
	Address  string  // where the connection led
	TTFT     float64 // of the first probe, in seconds
	Requests int     // how many answers were asked for
	Warnings []string
}

// Summary says in plain lines what was found, for printing before a run.
func (caps Capabilities) Summary() []string {
	lines := []string{"server: " + caps.Server()}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("output length: %s", caps.Length())
	add("token counts: %s", choose(caps.Usage, "the server's usage", "chunks, since the server gives no usage"))
	add("stream: %s", caps.stream())
	if caps.Reasoning != "" {
		add("reasoning: in %s", caps.Reasoning)
	}
	add("cached prompt tokens: %s", choose(caps.CachedTokens, "told", "not told"))
	add("tokenizer: %s", choose(caps.TokenPrompts, "token-id prompts", choose(caps.Tokenize, "the server's /tokenize", "not reachable: lengths come from usage")))
	add("connections: %s", caps.KeepAlive)
	for _, w := range caps.Warnings {
		add("warning: %s", w)
	}
	return lines
}

func choose(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// Length says how long answers become.
func (caps Capabilities) Length() string {
	return caps.LimitField + " bounds it, " + choose(caps.Exact, "and the server writes exactly so many tokens",
		"as a ceiling: the server may stop earlier (ignore_eos: "+caps.IgnoreEOS+")")
}

func (caps Capabilities) stream() string {
	return choose(caps.Buffered, "buffered, all tokens at once", "token by token")
}

// Traits are the facts of a server's behaviour that stand in the fingerprint of a session, beside Facts: what differs in
// them between two sides is shown, and a comparison is not refused for it.
func (caps Capabilities) Traits() map[string]string {
	return map[string]string{
		"limit_field":     caps.LimitField,
		"ignore_eos":      caps.IgnoreEOS,
		"usage":           choose(caps.UsageRefused, "refused", choose(caps.Usage, "told", "none")),
		"reasoning_field": choose(caps.Reasoning != "", caps.Reasoning, "none"),
		"stream":          choose(caps.Buffered, "buffered", "token by token"),
		"cached_tokens":   choose(caps.CachedTokens, "told", "not told"),
		"keep_alive":      caps.KeepAlive,
		"tokenize":        choose(caps.Tokenize, "answers", "none"),
		"metrics":         choose(caps.Metrics, "answers", "none"),
	}
}

// Server names the server: engine, version and address, as far as they are known.
func (caps Capabilities) Server() string {
	text := strings.TrimSpace(caps.Facts[bench.KeyEngine] + " " + caps.Facts[bench.KeyVersion])
	if text == "" {
		text = "unknown"
	}
	if caps.Address != "" {
		text += " at " + caps.Address
	}
	return text
}
