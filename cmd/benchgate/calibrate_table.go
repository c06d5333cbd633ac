package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/noise"
)

// sideCounts are the numbers of runs a side for which a calibration says what could be seen.
var sideCounts = []int{3, 5, 6, 8, 10, 15, 20}

// sessionCounts are the sizes of a baseline for which it does.
var sessionCounts = []int{1, 5, 10}

// tellNoise prints what a calibration found in one scenario.
func tellNoise(w io.Writer, r noise.Report, l noise.Load, conf config.Config, s config.Scenario) error {
	p := noise.Plan{Confidence: conf.Policy.Confidence, DaySD: conf.Policy.DaySD, Runs: conf.Campaign.Runs, Looks: conf.Campaign.Looks}
	var b bytes.Buffer
	where := "in one start of the server"
	if r.Design == "interleaved" {
		where = "each in a start of the server of its own"
	}
	fmt.Fprintf(&b, "%s: %d runs of %d requests, %s, %s\n\n", r.Scenario, r.Runs, r.Requests, loadInWords(s.Load), where)
	spreads(&b, r)
	if err := detectable(&b, r, p); err != nil {
		return err
	}
	findings(&b, r, l)
	if err := advice(&b, r, p, conf); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// spreads prints how far the runs differ.
func spreads(b *bytes.Buffer, r noise.Report) {
	tab := tabwriter.NewWriter(b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tab, "metric\tgeometric mean\trun-to-run sd\tits 95 % interval\tchance in requests\tfirst to last run\tfirst run")
	for _, m := range r.Metrics {
		chance := "–"
		if m.Workload > 0 {
			chance = m.Spread(m.Workload)
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s to %s\t%s\t%s\t%s\n", m.Name, quantity(m.Typical, m.Unit),
			m.Spread(m.SD), m.Spread(m.SDLow), m.Spread(m.SDHigh), chance, m.Told(m.Order), m.Told(m.First))
	}
	tab.Flush()
	if len(r.Metrics) > 0 {
		fmt.Fprintln(b, "in brackets behind an effect its 99 % interval; * marks one that can be told from nothing")
	}
	for _, a := range r.Absent {
		fmt.Fprintf(b, "%s: not told: %s\n", a.Name, a.Why)
	}
}

// detectable prints the smallest worsening that each way of comparing finds four times in five.
func detectable(b *bytes.Buffer, r noise.Report, p noise.Plan) error {
	if len(r.Metrics) == 0 {
		return nil
	}
	rows := func(title string, header []string, ways []noise.Way) {
		fmt.Fprintf(b, "\n%s\n", title)
		tab := tabwriter.NewWriter(b, 0, 4, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(tab, "%s\t%s\t\n", padded("metric", r), strings.Join(header, "\t"))
		for _, m := range r.Metrics {
			fmt.Fprintf(tab, "%s\t", padded(m.Name, r))
			for _, w := range ways {
				fmt.Fprintf(tab, "%s\t", worsening(m, w.Detects(m)))
			}
			fmt.Fprintln(tab)
		}
		tab.Flush()
	}
	var header []string
	var once, turns []noise.Way
	for _, n := range sideCounts {
		header = append(header, fmt.Sprint(n))
		once = append(once, p.Together(n))
		t, err := p.Turns(n)
		if err != nil {
			return err
		}
		turns = append(turns, t)
	}
	rows("smallest worsening found 4 times in 5, in one session, by runs a side", header, once)
	rows(fmt.Sprintf("the same, interleaved, at the level of the last of the looks %s, by visits a side", p.LooksInWords()), header, turns)
	header = nil
	var committed []noise.Way
	for _, k := range sessionCounts {
		header = append(header, fmt.Sprintf("%d", k))
		committed = append(committed, p.Committed(k))
	}
	rows(fmt.Sprintf("the same, against a committed baseline, days differing by %s, %d runs a session, by sessions", trimmed(p.DaySD), p.Runs), header, committed)
	return nil
}

// padded makes all names of a report equally long, so that they stand to the left of numbers that stand to the right.
func padded(name string, r noise.Report) string {
	width := len("metric")
	for _, m := range r.Metrics {
		width = max(width, len(m.Name))
	}
	return fmt.Sprintf("%-*s", width, name)
}

// findings prints what was found out of the ordinary, and what was looked for and not found.
func findings(b *bytes.Buffer, r noise.Report, l noise.Load) {
	found, not := oddities(r)
	b.WriteByte('\n')
	if len(found) > 0 {
		fmt.Fprintln(b, "found")
		for _, f := range found {
			fmt.Fprintln(b, "  "+f)
		}
	}
	if len(not) > 0 {
		fmt.Fprintf(b, "looked for and not found: %s\n", strings.Join(not, ", "))
	}
	fmt.Fprintln(b, r.Queue.Words(l))
}

// oddities are what is out of the ordinary, in words, and what is not.
func oddities(r noise.Report) (found, not []string) {
	none := func(what string, any bool) {
		if !any {
			not = append(not, what)
		}
	}
	course, first := false, false
	apart := map[int][]string{}
	for _, m := range r.Metrics {
		for _, i := range m.Outlying {
			apart[m.Orders[i]] = append(apart[m.Orders[i]], m.Name+" "+m.Apart(i))
		}
	}
	for _, order := range slices.Sorted(maps.Keys(apart)) {
		found = append(found, fmt.Sprintf("run %d is far from the others: %s", order, strings.Join(apart[order], ", ")))
	}
	for _, m := range r.Metrics {
		if m.Order.Shown() {
			course = true
			found = append(found, fmt.Sprintf("%s: it changed along the way, by %s from the first run to the last; without that its sd is %s (an interleaved comparison takes it out)", m.Name, m.Moved(m.Order), m.Spread(m.Steady)))
		}
		if m.First.Shown() {
			first = true
			found = append(found, fmt.Sprintf("%s: the first run differs from the others by %s: warm up longer (campaign.warmup)", m.Name, m.Moved(m.First)))
		}
	}
	for _, c := range r.Causes {
		found = append(found, strings.TrimPrefix(c.Metric+": ", ": ")+c.Says, "  "+c.Advice)
	}
	none("a run far from the others", len(apart) > 0)
	none("a change along the way", course)
	none("a first run that differs", first)
	has := func(kind string) bool {
		return slices.ContainsFunc(r.Causes, func(c noise.Cause) bool { return c.Kind == kind })
	}
	none("too few requests", has(noise.TooFewRequests))
	none("a load near saturation", has(noise.NearSaturation))
	return found, not
}

// advice prints the design and the rule_out for what the scenario is gated on.
func advice(b *bytes.Buffer, r noise.Report, p noise.Plan, conf config.Config) error {
	for _, rule := range conf.Policy.Rules {
		if rule.Tolerance == nil || !rule.Primary && rule.RuleOut == nil || len(rule.Scenarios) > 0 && !slices.Contains(rule.Scenarios, r.Scenario) {
			continue
		}
		m, ok := r.Find(rule.Metric)
		if !ok {
			continue
		}
		ask := noise.Ask{Tolerance: *rule.Tolerance}
		if rule.RuleOut != nil {
			ask.RuleOut = *rule.RuleOut
		}
		lines, err := p.Advise(m, ask)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "advised for %s\n", rule.Metric)
		for _, l := range lines {
			fmt.Fprintln(b, "  "+l)
		}
		if r.Design == "committed" {
			fmt.Fprintln(b, "  how far starts of the server differ is not in this: a calibration with campaign.design: interleaved has it")
		}
	}
	return nil
}

// worsening writes a change that could be seen; beyond tenfold there is no number worth a place.
func worsening(m noise.Metric, x float64) string {
	switch {
	case math.IsInf(x, 0) || math.IsNaN(x) || x > 10:
		return "–"
	case x < 0.0995:
		return fmt.Sprintf("%.1f%s", 100*x, m.Sign())
	}
	return fmt.Sprintf("%.0f%s", 100*x, m.Sign())
}

// trimmed writes a fraction that was given as a percentage.
func trimmed(x float64) string { return fmt.Sprintf("%g %%", math.Round(1e4*x)/100) }
