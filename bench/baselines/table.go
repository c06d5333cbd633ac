package main

import (
	"fmt"
	"strings"
)

// The table stands in the document between these lines.
const (
	begin = "<!-- go run ./bench/baselines: begin -->\n"
	end   = "<!-- go run ./bench/baselines: end -->\n"
)

// render is the table as it stands in the document.
func render(rows []row) string {
	var b strings.Builder
	b.WriteString("| sessions | candidate | days differ by | false blocks | caught at +10 % | +20 % | +30 % | equal builds pass | inconclusive | finds 4 in 5 |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %d | %d runs | %.0f %% | %.1f ± %.1f %% | %.0f %% | %.0f %% | %.0f %% | %.0f %% | %.0f %% | +%.0f %% |\n",
			r.Sessions, r.Head, r.DaySD*100, r.FalseBlock*100, r.SE*100, r.Power["10"]*100, r.Power["20"]*100, r.Power["30"]*100,
			r.Pass*100, r.Inconclusive*100, r.MDE80*100)
	}
	return b.String()
}

// fill puts the table into the document.
func fill(text, table string) (string, error) {
	before, rest, ok := strings.Cut(text, begin)
	_, after, also := strings.Cut(rest, end)
	if !ok || !also {
		return "", fmt.Errorf("%s has no place for the table: %q and %q", document, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + table + end + after, nil
}
