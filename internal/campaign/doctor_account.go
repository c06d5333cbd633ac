package campaign

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

// How far a client's mean ttft may lie above the server's before a doctor warns: seconds, and a part of the server's. The
// gate holds the gaps of two sides against each other at a quarter and a half of this, since what an honest server does before
// its clock starts and after it stops is in both and cancels: reading and cutting up the prompt, writing the token, a round
// trip to another machine. Of one server alone all that is in the gap.
const (
	gapFar   = 0.020
	gapShare = 0.10
)

// ownAccount says what the server tells of the answers of the trial, and what of it does not fit what came.
func ownAccount(a *bench.ServerAccount) Check {
	c := Check{Section: "server", Name: "own account", State: Good, Found: "tells no time to the first token"}
	if a == nil {
		return c
	}
	if a.Gap != nil {
		gapped(&c, a)
	}
	if len(a.Doubts) == 0 {
		return c
	}
	var found []string
	if c.State != Good {
		found = append(found, c.Found)
	}
	for _, what := range slices.Sorted(maps.Keys(a.Doubts)) {
		found = append(found, a.Doubts[what])
	}
	c.State, c.Found = Warn, strings.Join(found, "; ")
	c.Why = "the server's account and what its client saw are not of the same answers, or one of the two is wrong"
	c.Next = "https://github.com/benchgate/benchgate/blob/main/docs/server-account.md says what is compared with what, and what it means where it differs"
	return c
}

// gapped says what lies between the server's time to the first token and the client's. Where the server's clock starts with
// the work on a prompt the wait for a slot lies there too, and how long that is nobody tells.
func gapped(c *Check, a *bench.ServerAccount) {
	gap, from := *a.Gap, "arrival of a request"
	if a.TTFTFrom == bench.FromWork {
		from = "work on a prompt"
	}
	c.Found = fmt.Sprintf("says ttft %s in the mean (%s, from the %s), and this client saw %s", brief(a.TTFT), a.Source, from, brief(a.TTFT+gap))
	c.Figures = map[string]float64{"ttft": a.TTFT, "gap": gap}
	if gap <= 0 {
		return
	}
	c.Found += fmt.Sprintf(": %s more", brief(gap))
	switch {
	case a.TTFTFrom == bench.FromWork:
		c.Found += ", in which a wait for a slot of the server may be"
	case gap > max(gapFar, gapShare*a.TTFT):
		c.State = Warn
		c.Why = "what lies between is in every ttft and e2el, and a change of the server has to be seen through it"
		c.Next = "suspect the network, a proxy before the server, or this client (the self-test below says how late it is): look again from the server's machine, without the proxy"
	}
}
