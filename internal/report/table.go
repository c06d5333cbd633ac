package report

import (
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
)

// table lists the findings, one a line where all fit, else two lines each.
func (t *page) table(findings []gate.Finding, confidence string) {
	if len(findings) == 0 {
		return
	}
	t.line("")
	interval := "interval"
	if confidence != "" {
		interval = confidence + " interval"
	}
	rows := [][]string{{"scenario", "metric", "base → head", "change (" + interval + ")", "p", "runs", "outcome"}}
	for _, f := range findings {
		rows = append(rows, []string{
			name(f.Scenario), name(f.Metric), sides(f), span(f), chance(f.Change), runs(f), name(string(f.Outcome)),
		})
	}
	each := common(rows)
	if width(rows) <= columns {
		t.aligned(rows)
	} else {
		t.stacked(rows[0], rows[1:])
	}
	t.line("")
	t.wrap("", "", each+" p: one-sided, adjusted for all rules asked together (Holm).")
}

// common takes the runs out of the rows when all findings have as many, and says it in words.
func common(rows [][]string) string {
	const at = 5
	for _, r := range rows[1:] {
		if r[at] != rows[1][at] {
			return "runs: base/head."
		}
	}
	base, head, found := strings.Cut(rows[1][at], "/")
	for _, r := range rows {
		r[at] = ""
	}
	if !found {
		return ""
	}
	return "Runs: " + base + " at base, " + head + " here."
}

func widths(rows [][]string) []int {
	w := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			w[i] = max(w[i], len([]rune(cell)))
		}
	}
	return w
}

// width is how many columns aligned rows take, with two spaces between cells.
func width(rows [][]string) int {
	sum := -2
	for _, w := range widths(rows) {
		if w > 0 {
			sum += w + 2
		}
	}
	return sum
}

func (t *page) aligned(rows [][]string) {
	w := widths(rows)
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if w[i] > 0 {
				b.WriteString(pad(cell, w[i]+2))
			}
		}
		t.line(b.String())
	}
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-len([]rune(s))))
}

// stacked gives each finding a line for its name and one for its numbers.
func (t *page) stacked(head []string, rows [][]string) {
	const indent = 14
	blank := strings.Repeat(" ", indent)
	t.line(pad("outcome", indent) + "scenario and metric; base → head; " + head[3])
	for _, r := range rows {
		t.wrap(pad(r[6], indent), blank, r[0]+" "+r[1])
		var parts []string
		for i, label := range []string{2: "", 3: "", 4: "p ", 5: "runs "} {
			if i >= 2 && r[i] != "" {
				parts = append(parts, label+r[i])
			}
		}
		if len(parts) > 0 {
			t.wrap(blank, blank, strings.Join(parts, "; "))
		}
	}
}
