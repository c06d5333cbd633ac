package report

import (
	"fmt"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// clientFigures are what is shown of the client's account of itself, in the order in which they are told.
var clientFigures = []struct {
	short, title string
	unit         bench.Unit
	of           func(gate.Health) float64
}{
	{"lag p99", "schedule lag, p99", bench.Seconds, func(h gate.Health) float64 { return h.LagP99 }},
	{"self-test p99", "self-test, TTFT error p99", bench.Seconds, func(h gate.Health) float64 { return h.SelfTest99 }},
	{"", "self-test, stream error p99", bench.Seconds, func(h gate.Health) float64 { return h.SelfTestStream99 }},
	{"timer", "timer overshoot, p99", bench.Seconds, func(h gate.Health) float64 { return h.TimerP99 }},
	{"scheduler", "scheduler delay, p99", bench.Seconds, func(h gate.Health) float64 { return h.SchedP99 }},
	{"GC pause", "longest GC pause", bench.Seconds, func(h gate.Health) float64 { return h.GCPause }},
	{"client CPU", "client CPU", bench.Ratio, func(h gate.Health) float64 { return h.CPU }},
	{"host CPU", "host CPU", bench.Ratio, func(h gate.Health) float64 { return h.HostCPU }},
	{"", "throttled", bench.Ratio, func(h gate.Health) float64 { return h.Throttled }},
	{"", "coalesced chunks", bench.Ratio, func(h gate.Health) float64 { return h.Coalesced }},
}

// clientValue writes a figure with the digits that a worst case of a few runs deserves; "–" where there is none.
func clientValue(v float64, unit bench.Unit) string {
	if v <= 0 {
		return "–"
	}
	if unit == bench.Ratio {
		return plain(100*v, significant(100*v, 2)) + " %"
	}
	return Quantity(v, string(unit), v/10)
}

// clientRows is the table: its head, then one row a side of a scenario.
func clientRows(sides []gate.Health) (head []string, rows [][]string) {
	head = []string{"scenario", "side", "runs"}
	for _, f := range clientFigures {
		head = append(head, f.title)
	}
	head = append(head, "where")
	for _, h := range sides {
		row := []string{name(h.Scenario), name(h.Side), clientRuns(h)}
		for _, f := range clientFigures {
			row = append(row, clientValue(f.of(h), f.unit))
		}
		rows = append(rows, append(row, name(h.Topology)))
	}
	return head, rows
}

func clientRuns(h gate.Health) string {
	if h.Void == 0 {
		return fmt.Sprint(h.Runs)
	}
	return fmt.Sprintf("%d, and %d void", h.Runs, h.Void)
}

// Client says in one line how well the client did on a side; empty where nothing is recorded.
func Client(h gate.Health) string { return clientLine([]gate.Health{h}) }

// clientLine says the worst of it all in one line; empty where nothing is recorded.
func clientLine(sides []gate.Health) string {
	if len(sides) == 0 {
		return ""
	}
	worst := gate.Health{}
	for _, h := range sides {
		worst.Runs += h.Runs
		worst.Void += h.Void
		worst.Client = worst.Worst(h.Client)
	}
	var parts []string
	for _, f := range clientFigures {
		if v := f.of(worst); f.short != "" && v > 0 {
			parts = append(parts, f.short+" "+clientValue(v, f.unit))
		}
	}
	line := fmt.Sprintf("worst of %s: %s", count(worst.Runs, "run"), strings.Join(parts, ", "))
	if worst.Void > 0 {
		line += fmt.Sprintf("; %s void", count(worst.Void, "run"))
	}
	return line + clientPlace(sides, worst.CPU)
}

// clientPlace says where the client ran, and what that cost the server.
func clientPlace(sides []gate.Health, cpu float64) string {
	for _, h := range sides {
		if h.Topology != sides[0].Topology {
			return "" // the sides cannot be compared, and the findings say so
		}
	}
	place := "; " + name(sides[0].Topology)
	switch {
	case sides[0].Topology == "":
		return ""
	case sides[0].Topology == bench.SameHost && cpu > 0:
		return place + ", which had to do without that CPU"
	}
	return place
}
