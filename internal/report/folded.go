package report

import (
	"fmt"
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
)

// folded is a block behind one line.
func folded(name, summary string) *block {
	return &block{name: name, head: "\n<details><summary>" + summary + "</summary>\n\n", foot: "\n</details>\n"}
}

// listBlock folds a list of foreign lines.
func listBlock(name, summary string, lines []string) *block {
	b := folded(name, summary)
	for _, s := range lines {
		b.add(func() string { return "- " + inline(s) + "\n" })
	}
	return b
}

// warningBlocks shows a few warnings openly and folds the others. Those of the verdict as a whole come first; where it is
// green only they are open.
func warningBlocks(v gate.Verdict) (open, rest *block) {
	lines := notes(v)
	n := min(len(lines), mostNotes)
	if green(v) {
		n = min(len(v.Warnings), mostNotes)
	}
	open = &block{name: "warning", counted: true, head: "\n**Warnings**\n\n"}
	for _, s := range lines[:n] {
		open.add(func() string { return "- " + inline(s) + "\n" })
	}
	summary := "⚠️ " + count(len(lines)-n, "warning")
	if n > 0 {
		summary = "⚠️ " + count(len(lines)-n, "more warning")
	}
	rest = listBlock("warning", summary, lines[n:])
	rest.counted = true
	return open, rest
}

// moreBlock folds the findings that nobody has to look at, with their drawing where they are all there are.
func moreBlock(rest, findings []gate.Finding, confidence string) *block {
	summary := count(len(rest), "finding")
	if len(rest) < len(findings) {
		summary = fmt.Sprintf("%d more", len(rest))
	}
	b := folded("finding", summary+": "+tally(rest))
	b.counted = true
	b.head = strings.TrimSuffix(b.head, "\n")
	rowsOf(b, rest, columnsOf(rest, findings, confidence))
	drawn := &block{}
	if len(rest) == len(findings) { // nothing stands above it
		draw(drawn, rest[:min(len(rest), mostRows)])
	}
	b.foot = legend(rest, oneScenario(findings)) + drawn.head + drawn.all() + drawn.foot + b.foot
	return b
}

// tally counts outcomes: "4 pass, 1 observed".
func tally(findings []gate.Finding) string {
	var parts []string
	for i := 0; i < len(findings); {
		n := i
		for n < len(findings) && findings[n].Outcome == findings[i].Outcome {
			n++
		}
		parts = append(parts, fmt.Sprintf("%d %s", n-i, word(findings[i].Outcome)))
		i = n
	}
	return strings.Join(parts, ", ")
}

// tableOf adds rows to a block as a table after a sentence. A column without a word in it is left out. Columns named in
// foreign hold a stranger's words.
func tableOf(b *block, sentence string, head []string, align string, rows [][]string, foreign ...string) {
	if sentence != "" {
		b.addText(sentence + "\n")
	}
	var columns []column
	var at []int
	for i, title := range head {
		for _, row := range rows {
			if told := row[i]; told != "" && told != "–" {
				columns = append(columns, column{title: title, align: map[byte]string{'l': "---", 'r': "--:"}[align[i]]})
				at = append(at, i)
				break
			}
		}
	}
	for n, row := range rows {
		b.add(func() string {
			var cells []string
			for j, i := range at {
				s := row[i]
				for _, f := range foreign {
					if columns[j].title == f {
						s = code(s)
					}
				}
				if columns[j].align == "--:" {
					s = tight(s)
				}
				cells = append(cells, s)
			}
			if n > 0 {
				return rowLine(cells)
			}
			return headLines(columns) + rowLine(cells)
		})
	}
}

// environmentBlock says what the two sides were, and in what they differ.
func environmentBlock(v gate.Verdict) *block {
	summary := "Environment: " + count(len(v.Environment.Diff), "difference")
	if len(v.Environment.Diff) == 0 {
		summary = "Environment: no difference"
	}
	b := folded("the environment", summary)
	if green(v) {
		b.addText(inline(compared(v)) + "\n")
	}
	if s := since(v); s != "" {
		b.addText(strings.Repeat("\n", len(b.items)) + "The baseline since its epoch began: " + inline(prose(s)) + "\n")
	}
	rows := make([][]string, 0, len(v.Environment.Diff))
	for _, f := range v.Environment.Diff {
		rows = append(rows, []string{name(f.Scenario), name(f.Name), known(f.Base), known(f.Head)})
	}
	head := []string{"scenario", "fact", "base", "head"}
	tableOf(b, "", head, "llll", rows, head...)
	return b
}

// checksBlock lists the validity checks that failed: openly where the verdict is that it cannot be believed.
func checksBlock(v gate.Verdict) *block {
	bad := failures(v.Validity)
	return listBlock("the validity checks", "Validity: "+count(len(bad), "failed check"), bad)
}

// clientBlock is how well the client and its host did; each figure is the worst of a side's runs.
func clientBlock(v gate.Verdict) *block {
	b := folded("the client", "Client health")
	if len(v.Client) > 0 {
		head, rows := clientRows(v.Client)
		tableOf(b, inline("Each figure is the worst of a side's runs. In one line, the "+clientLine(v.Client)+"."),
			head, "ll"+strings.Repeat("r", len(head)-3)+"l", rows, "scenario", "side", "where")
	}
	return b
}

// serverBlock is what each side's server says of itself.
func serverBlock(v gate.Verdict) *block {
	b := folded("the server's own account", "The server's own account")
	if head, rows := serverRows(v.Server); len(rows) > 0 {
		tableOf(b, saysAccount, head, "llll"+strings.Repeat("r", len(head)-4), rows, head[:4]...)
	}
	return b
}

// methodBlock says what is claimed, and for each finding what was asked and how it was answered.
func methodBlock(v gate.Verdict, findings []gate.Finding) *block {
	b := folded("the method", "Method")
	if v.Bound != "" {
		b.addText(inline(prose(v.Bound)) + "\n")
	}
	columns := []column{
		{"scenario", "---", func(f gate.Finding) string { return code(name(f.Scenario)) }},
		{"metric", "---", func(f gate.Finding) string { return code(name(f.Metric)) }},
		{"rule", "---", func(f gate.Finding) string { return inline(clean(rule(f), 400)) }},
		{"p", "--:", func(f gate.Finding) string { return escapeLess(chance(f.Change)) }},
		{"how", "---", how},
		{"seed", "---", func(f gate.Finding) string { return code(name(f.Seed)) }},
	}
	rowsOf(b, findings, columns)
	if len(findings) > 0 {
		b.addText("\np is one-sided and adjusted for all rules asked together (Holm).\n")
	}
	for _, s := range asides(findings) {
		b.addText(s)
	}
	return b
}

// how says by which method a finding was answered, and when.
func how(f gate.Finding) string {
	var parts []string
	for _, s := range []string{clean(f.Method, 400), at(f)} {
		if s != "" {
			parts = append(parts, inline(s))
		}
	}
	return strings.Join(parts, "; ")
}

// asides are what the models say but for the changes, those that are equal told once.
func asides(findings []gate.Finding) []string {
	where := map[string][]gate.Finding{}
	var order []string
	for _, f := range findings {
		s := clean(besides(f), 400)
		if s == "" {
			continue
		}
		if len(where[s]) == 0 {
			order = append(order, s)
		}
		where[s] = append(where[s], f)
	}
	var out []string
	for i, s := range order {
		line := "- " + names(where[s]) + ": " + inline(s) + "\n"
		if i == 0 {
			line = "\n" + line
		}
		out = append(out, line)
	}
	return out
}

// escapeLess writes the one character of ours that HTML would take for its own.
func escapeLess(s string) string { return strings.ReplaceAll(s, "<", "&lt;") }

// runsBlock lists the values of each side in the order measured.
func runsBlock(findings []gate.Finding) *block {
	b := folded("the runs", "Runs")
	for _, f := range findings {
		for _, side := range []string{"base", "head"} {
			if len(f.Runs) > 0 {
				b.add(func() string {
					if values := runValues(f, side); values != "" {
						return fmt.Sprintf("- %s %s, %s: %s\n", code(name(f.Scenario)), code(name(f.Metric)), side, values)
					}
					return ""
				})
			}
		}
	}
	return b
}

// runValues writes the values of one side in one unit.
func runValues(f gate.Finding, side string) string {
	var values []string
	unit := ""
	like := 0.0
	for _, r := range f.Runs {
		if r.Side != side {
			continue
		}
		if len(values) == 0 {
			like = r.Value
			_, unit = split(like, f.Unit, 0)
		}
		s := bare(r.Value, like, f.Unit, 0)
		if !r.Valid {
			s += " (void)"
		}
		values = append(values, s)
	}
	if len(values) == 0 {
		return ""
	}
	return some(values, 60) + " " + unit
}
