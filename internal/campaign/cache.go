package campaign

import (
	"fmt"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/load"
)

// fresh is what a run's prompts hold that no run before it sent.
type fresh struct {
	// shared is the share of all prompt tokens that the scenario itself repeats within the run: see Workload.SharedTokens.
	shared float64
	// around is how many tokens of each prompt the server adds, or may add: a template is cached by right.
	around float64
}

// The part of a prompt's own tokens that may come from a cache before the cache is called warm, the part of the whole
// prompt, and a few tokens: how many tokens a shared beginning has is known to about so much.
const (
	ownSlack    = 0.2
	promptSlack = 0.03
	tokenSlack  = 8
)

// warm says that the server took from its cache what it cannot have seen, with the figures; empty when it did not, or does
// not tell. Where the server's template is as long as the prompt, a warm cache cannot be told from a cached template.
func (f fresh) warm(run bench.Run) string {
	share, by, known := cachedShare(run)
	if !known {
		return ""
	}
	in := run.InputTokens
	cached := share * in
	own := in*(1-f.shared) - f.around
	if surplus := own - (in - cached); surplus <= ownSlack*own+promptSlack*in+tokenSlack {
		return ""
	}
	return fmt.Sprintf("the server's cache was warm: it took %.0f of the %.0f prompt tokens of a request from it%s, although about %.0f of them are new in every run (target.reset empties a cache before each run, load.reuse_prompts asks for a warm one)",
		cached, in, by, own)
}

// cachedShare is the share of a run's prompt tokens that came from a cache: as usage tells it, and where that tells nothing
// of caching, by the server's own counters.
func cachedShare(run bench.Run) (share float64, by string, known bool) {
	switch s := run.Server; {
	case run.CachedTokens != nil:
		return *run.CachedTokens, "", true
	case s != nil && s.CachedTokens != nil:
		return *s.CachedTokens, " by its own counters", true
	}
	return 0, "", false
}

// fresh is what is known of the prompts of a scenario in this visit. How long the template is was measured with the prompts
// where they are made to a length; else the probe of the preflight, template and question, is an upper bound.
func (v *visit) fresh(scenario string) fresh {
	f := fresh{around: float64(v.caps.PromptTokens)}
	if w, ok := v.p.workloads[scenario]; ok {
		f.shared = w.SharedTokens()
	}
	switch text := v.j.log.Header.Texts[scenario]; text.Method {
	case load.MethodUsage, load.MethodTokens:
		f.around = text.Overhead
	}
	return f
}
