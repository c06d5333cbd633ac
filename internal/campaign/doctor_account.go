package campaign

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

// ownAccount says what the server tells of the answers of the trial, and what of it does not fit what came.
func ownAccount(a *bench.ServerAccount) Check {
	c := Check{Section: "server", Name: "own account", State: Good, Found: "tells no time to the first token"}
	if a == nil {
		return c
	}
	if a.Gap != nil {
		c.Found = fmt.Sprintf("says ttft %s in the mean (%s, from the %s), and this client saw %s", brief(a.TTFT), a.Source,
			map[string]string{bench.FromArrival: "arrival of a request", bench.FromWork: "work on a prompt"}[a.TTFTFrom], brief(a.TTFT+*a.Gap))
		c.Figures = map[string]float64{"ttft": a.TTFT, "gap": *a.Gap}
	}
	if len(a.Doubts) == 0 {
		return c
	}
	var doubts []string
	for _, what := range slices.Sorted(maps.Keys(a.Doubts)) {
		doubts = append(doubts, a.Doubts[what])
	}
	c.State, c.Found = Warn, strings.Join(doubts, "; ")
	c.Why = "the server's account and what its client saw are not of the same answers, or one of the two is wrong"
	c.Next = "docs/server-account.md says what is compared with what, and what it means where it differs"
	return c
}
