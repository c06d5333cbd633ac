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
	// Exact says that the server can be made to write exactly so many tokens; otherwise a length is a ceiling.
	Exact bool
	// Reasoning is the field in which reasoning came; empty when none did.
	Reasoning string
	// Buffered says that a whole answer came at once: its ttft and tpot are those of a proxy.
	Buffered     bool
	CachedTokens bool // usage tells how many prompt tokens came from a cache
	Tokenize     bool // Tokenize works
	TokenPrompts bool // prompts may be token ids (completions only)
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
	lines := []string{"server: " + caps.server()}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	choose := func(is bool, yes, no string) string {
		if is {
			return yes
		}
		return no
	}
	add("output length: %s bounds it, %s", caps.LimitField, choose(caps.Exact, "and the server writes exactly so many tokens", "as a ceiling: the server may stop earlier"))
	add("token counts: %s", choose(caps.Usage, "the server's usage", "chunks, since the server gives no usage"))
	add("stream: %s", choose(caps.Buffered, "buffered, all tokens at once", "token by token"))
	if caps.Reasoning != "" {
		add("reasoning: in %s", caps.Reasoning)
	}
	add("cached prompt tokens: %s", choose(caps.CachedTokens, "told", "not told"))
	add("tokenizer: %s", choose(caps.TokenPrompts, "token-id prompts", choose(caps.Tokenize, "the server's /tokenize", "not reachable: lengths come from usage")))
	for _, w := range caps.Warnings {
		add("warning: %s", w)
	}
	return lines
}

func (caps Capabilities) server() string {
	text := strings.TrimSpace(caps.Facts[bench.KeyEngine] + " " + caps.Facts[bench.KeyVersion])
	if text == "" {
		text = "unknown"
	}
	if caps.Address != "" {
		text += " at " + caps.Address
	}
	return text
}
