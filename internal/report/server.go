package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// saysAccount is what stands above the table.
const saysAccount = "What each side's server says of its own times and caches, in the mean over the runs; between lies what network and client add, and the wait for a slot where the clock starts later."

// clockStarts says where a server's clock of the first token starts.
func clockStarts(from string) string {
	switch from {
	case "":
		return ""
	case bench.FromArrival:
		return "arrival of a request"
	case bench.FromWork:
		return "work on a prompt"
	}
	return name(from)
}

// Server says in one line what a server told of itself, beside what its client saw; empty where it told nothing.
func Server(a gate.Account) string {
	var parts []string
	if a.Gap != nil {
		parts = append(parts, fmt.Sprintf("says ttft %s in the mean (%s, from the %s), its client saw %s: %s between", seconds(a.TTFT), name(a.Source), clockStarts(a.TTFTFrom),
			seconds(a.ClientTTFT), between(*a.Gap)))
	}
	if a.TPOT > 0 {
		tpot := "tpot " + seconds(a.TPOT)
		if a.Gap == nil {
			tpot = "says " + tpot + " in the mean (" + name(a.Source) + ")"
		}
		parts = append(parts, tpot)
	}
	if a.CachedTokens != nil {
		parts = append(parts, fmt.Sprintf("%s of prompt tokens cached (%s)", share(*a.CachedTokens), name(a.Counters)))
	}
	if c := a.ChunkTokens; c > 0 && plain(c, 2) != "1.00" {
		parts = append(parts, plain(c, 2)+" tokens a chunk")
	}
	return strings.Join(parts, "; ")
}

func seconds(x float64) string { return Quantity(x, string(bench.Seconds), 0) }

// between is a gap, to a tenth of a millisecond where it is less than a second.
func between(x float64) string {
	if math.Abs(x) >= 1 {
		return minus(seconds(x))
	}
	return minus(plain(1000*x, 1)) + " ms"
}

func share(x float64) string { return strings.TrimSuffix(plain(100*x, 1), ".0") + " %" }

// serverLines say each side's account.
func serverLines(sides []gate.Account) []string {
	var out []string
	for _, a := range sides {
		if line := Server(a); line != "" {
			out = append(out, name(a.Scenario)+" "+name(a.Side)+": "+line)
		}
	}
	if n := len(out); n > mostItems {
		out = append(out[:mostItems], fmt.Sprintf("… and %d more: see the HTML report", n-mostItems))
	}
	return out
}

// serverRows is the table: its head, then one row a side of a scenario.
func serverRows(sides []gate.Account) (head []string, rows [][]string) {
	head = []string{"scenario", "side", "told by", "its clock starts with the", "ttft, server", "ttft, client", "between", "tpot, server", "cached", "tokens a chunk", "runs"}
	told := func(known bool, text func() string) string {
		if !known {
			return "–"
		}
		return text()
	}
	for _, a := range sides {
		if Server(a) == "" {
			continue
		}
		by := name(a.Source)
		if by == "" {
			by = name(a.Counters)
		}
		timed := a.Gap != nil
		rows = append(rows, []string{
			name(a.Scenario), name(a.Side), by, clockStarts(a.TTFTFrom),
			told(timed, func() string { return seconds(a.TTFT) }), told(timed, func() string { return seconds(a.ClientTTFT) }), told(timed, func() string { return between(*a.Gap) }),
			told(a.TPOT > 0, func() string { return seconds(a.TPOT) }), told(a.CachedTokens != nil, func() string { return share(*a.CachedTokens) }),
			told(a.ChunkTokens > 0, func() string { return plain(a.ChunkTokens, 2) }), fmt.Sprint(a.Runs),
		})
	}
	return head, rows
}
