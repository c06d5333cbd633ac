package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// How many bytes the reason of a verdict has where there is little room, and where there is hardly any.
const (
	shortWhy = 240
	bareWhy  = 60
)

// word is an outcome in a comment. It stands in tags of ours, so only words of ours may be one.
func word(o gate.Outcome) string {
	if place(o) == len(looks) {
		return "unknown"
	}
	return string(o)
}

// sign is an outcome with its picture.
func sign(o gate.Outcome) string { return lookOf(o).Emoji + " " + word(o) }

// bareHeading is the verdict in a few words of ours.
func bareHeading(v gate.Verdict) string {
	s := lookOf(v.Outcome).Emoji + " benchgate: " + strings.ToUpper(word(v.Outcome))
	if v.Simulated {
		s += " (simulated)"
	}
	return s
}

// titleBlock is the verdict and the one sentence why: in short, then whole.
func titleBlock(v gate.Verdict) *block {
	b := &block{head: "## " + bareHeading(v), foot: "\n", swap: true}
	on := ""
	if v.Runner != "" {
		on = " on " + code(clean(v.Runner, 40))
	}
	b.addText("\n\n" + inlined(v.Summary, bareWhy))
	b.addText(on + "\n\n" + inlined(v.Summary, shortWhy))
	if whole := inline(prose(v.Summary)); len(whole) > shortWhy {
		b.addText(on + "\n\n" + whole)
	}
	return b
}

// inlined is a sentence in at most so many bytes of markdown.
func inlined(s string, most int) string {
	out := inline(prose(s))
	for n := min(most, longText); len(out) > most; n = n * 9 / 10 {
		out = inline(clean(s, n))
	}
	return out
}

// mindBlock is what has to be minded of every number below.
func mindBlock(v gate.Verdict) *block {
	b := &block{}
	if v.Simulated {
		b.addText("\n> **Simulated.** " + saysSimulated + "\n")
	}
	if v.DefaultRules {
		b.addText("\n> " + saysDefaults + "\n")
	}
	return b
}

// column is one of the table of findings.
type column struct {
	title, align string
	of           func(gate.Finding) string
}

// columnsOf are those in which one of the findings has something to say. The change comes before the values: on a telephone the
// first three are seen without scrolling. The scenario stands below the table where all of the verdict's findings are of one.
func columnsOf(findings, every []gate.Finding, confidence string) []column {
	interval := "change (" + strings.TrimSpace(confidence+" interval") + ")"
	columns := []column{
		{"outcome", "---", func(f gate.Finding) string { return tight(sign(f.Outcome)) }},
		{"metric", "---", func(f gate.Finding) string { return names([]gate.Finding{f}) }},
		{interval, "---", func(f gate.Finding) string { return tight(extent(f)) }},
		{"base → head", "--:", func(f gate.Finding) string { return tight(sides(f)) }},
		{"SLO", "---", func(f gate.Finding) string { return tight(promise(f)) }},
		{"would\u00a0detect", "--:", func(f gate.Finding) string { return tight(detectable(f)) }},
	}
	if oneScenario(every) {
		columns[1].of = func(f gate.Finding) string { return code(name(f.Metric)) }
	}
	if _, same := equalRuns(findings); !same {
		columns = append(columns, column{"runs", "--:", runs})
	}
	return slices.DeleteFunc(columns, func(c column) bool {
		return !slices.ContainsFunc(findings, func(f gate.Finding) bool { return c.of(f) != "" })
	})
}

// oneScenario reports whether all findings are of the same.
func oneScenario(findings []gate.Finding) bool {
	return !slices.ContainsFunc(findings, func(f gate.Finding) bool { return f.Scenario != findings[0].Scenario })
}

// tight keeps numbers and their units on one line; a cell breaks before a bracket alone.
func tight(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, " ", "\u00a0"), "\u00a0(", " (")
}

// extent is the change with its interval; of a value that is held to a limit, its own interval.
func extent(f gate.Finding) string {
	s := f.Head
	switch {
	case f.Change != nil:
		point, interval, _ := strings.Cut(change(f), " (")
		return "**" + point + "** (" + interval
	case s != nil && s.Low != nil && s.High != nil:
		h := (*s.High - *s.Low) / 2
		_, unit := split(s.Point, f.Unit, h)
		return bare(*s.Low, s.Point, f.Unit, h) + " to " + bare(*s.High, s.Point, f.Unit, h) + " " + unit
	case s != nil && s.NRequests > 0 && f.Unit == string(bench.Ratio):
		return "of " + count(s.NRequests, "request")
	}
	return ""
}

// promise is the limit that a value is held to, or that its users were promised.
func promise(f gate.Finding) string {
	var parts []string
	if f.Min != nil {
		parts = append(parts, "min "+limit(f, *f.Min))
	}
	if f.Max != nil {
		parts = append(parts, "max "+limit(f, *f.Max))
	}
	if f.SLO != nil && len(parts) == 0 {
		parts = promises(f.SLO)
		if len(parts) == 1 && f.Unit == string(bench.Seconds) {
			_, alone, _ := strings.Cut(parts[0], " ")
			return alone
		}
	}
	return strings.Join(parts, ", ")
}

// promises are the limits of an SLO: "ttft 500 ms".
func promises(slo *bench.SLO) []string {
	var out []string
	for _, x := range []struct {
		what string
		most *float64
	}{{"ttft", slo.TTFT}, {"tpot", slo.TPOT}, {"e2el", slo.E2EL}} {
		if x.most != nil {
			out = append(out, x.what+" "+limit(gate.Finding{Unit: string(bench.Seconds)}, *x.most))
		}
	}
	return out
}

// rowsOf adds the findings to a block as rows of one table.
func rowsOf(b *block, findings []gate.Finding, columns []column) {
	for i, f := range findings {
		b.add(func() string {
			row := make([]string, 0, len(columns))
			for _, c := range columns {
				row = append(row, c.of(f))
			}
			if i > 0 {
				return rowLine(row)
			}
			return headLines(columns) + rowLine(row)
		})
	}
}

func headLines(columns []column) string {
	head, rule := "|", "|"
	for _, c := range columns {
		head += " " + c.title + " |"
		rule += c.align + "|"
	}
	return "\n" + head + "\n" + rule + "\n"
}

func rowLine(row []string) string { return "| " + strings.Join(each(row, cell), " | ") + " |\n" }

// tableBlock is the open table, worst first.
func tableBlock(open, findings []gate.Finding, confidence string) *block {
	b := &block{name: "finding", counted: true}
	rowsOf(b, open, columnsOf(open, findings, confidence))
	b.foot = legend(open, oneScenario(findings))
	return b
}

// legend says what the columns of numbers mean, and what would be the same in every row; the scenario where it is alone.
func legend(findings []gate.Finding, alone bool) string {
	var parts []string
	if len(findings) > 0 && alone && findings[0].Scenario != "" {
		parts = append(parts, "Scenario: "+code(name(findings[0].Scenario))+".")
	}
	switch said, same := equalRuns(findings); {
	case said != "":
		parts = append(parts, said)
	case !same:
		parts = append(parts, "Runs: base/head.")
	}
	for _, f := range findings {
		if f.MDE80 != nil {
			parts = append(parts, "Would detect: the worsening that such a comparison finds four times in five.")
			break
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "\n" + strings.Join(parts, " ") + "\n"
}

// equalRuns says how many runs stand on each side, where that is the same for all findings.
func equalRuns(findings []gate.Finding) (said string, same bool) {
	if len(findings) == 0 {
		return "", true
	}
	for _, f := range findings {
		if runs(f) != runs(findings[0]) {
			return "", false
		}
	}
	f := findings[0]
	switch {
	case f.Base != nil && f.Head != nil:
		return fmt.Sprintf("Runs: %d at base, %d here.", f.Base.NRuns, f.Head.NRuns), true
	case f.Head != nil:
		return fmt.Sprintf("Runs: %d.", f.Head.NRuns), true
	case f.Base != nil:
		return fmt.Sprintf("Runs: %d at base, none here.", f.Base.NRuns), true
	}
	return "", true
}

// drawingBlock draws the intervals of the open table.
func drawingBlock(open []gate.Finding) *block {
	b := &block{name: "the drawing"}
	draw(b, open)
	return b
}

// draw adds the intervals of the findings to a block as one piece of text. Its scale is that of all of them.
func draw(b *block, findings []gate.Finding) {
	head, lines, foot := sketch(findings)
	if len(lines) == 0 {
		return
	}
	f := fence(strings.Join(lines, "\n"), 3)
	b.head, b.foot = "\n"+f+"text\n"+head, foot+f+"\n"
	b.addText(lines...)
}

// names lists findings by scenario: "`chat` `ttft.p95`, `tpot.mean`; `batch` `ttft.p95`".
func names(findings []gate.Finding) string {
	s := ""
	for i, f := range findings {
		switch {
		case i == mostItems:
			return s + fmt.Sprintf(" and %d more", len(findings)-i)
		case i > 0 && f.Scenario == findings[i-1].Scenario:
			s += ", "
		case i > 0:
			s += "; " + code(name(f.Scenario)) + " "
		default:
			s = code(name(f.Scenario)) + " "
		}
		s += code(name(f.Metric))
	}
	return strings.TrimSpace(s)
}

func each(in []string, f func(string) string) []string {
	out := make([]string, 0, len(in))
	for _, s := range in {
		out = append(out, f(s))
	}
	return out
}
