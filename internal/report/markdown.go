package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
)

// How much a comment shows openly; the rest is folded, or counted.
const (
	mostRows  = 40 // of a table
	mostItems = 12 // of a list
)

// writeMarkdown renders for a comment or a job summary. No foreign text stands outside a code span.
func writeMarkdown(w io.Writer, v gate.Verdict) error {
	m := &comment{}
	findings := worstFirst(v.Findings)
	m.title(v)
	plan, calm := steps(v.Outcome, findings)
	shown, folded := openly(findings)
	m.table(shown, level(v))
	m.sketch(shown)
	m.steps("### What to do next", plan)
	if v.Bound != "" {
		m.line(inline(prose(v.Bound)), "")
	}
	m.bullets("**Warnings**", each(notes(v), inline))
	if len(folded) > 0 {
		m.fold(count(len(folded), "more finding"), func() { m.table(folded, level(v)) })
	}
	if len(calm) > 0 {
		m.fold(fmt.Sprintf("Good news and what is not judged (%d)", total(calm)), func() { m.steps("", calm) })
	}
	m.details(v, findings)
	_, err := io.WriteString(w, strings.TrimRight(m.String(), "\n")+"\n")
	return err
}

// openly parts what a reviewer has to see from passes and observations of rules that are no primaries.
func openly(findings []gate.Finding) (shown, folded []gate.Finding) {
	for _, f := range findings {
		calm := f.Outcome == gate.Pass || f.Outcome == gate.Observed
		if calm && !f.Primary && len(findings) > mostItems {
			folded = append(folded, f)
		} else {
			shown = append(shown, f)
		}
	}
	return shown, folded
}

// comment gathers lines of markdown.
type comment struct{ strings.Builder }

func (m *comment) line(parts ...string) {
	for _, s := range parts {
		m.WriteString(s + "\n")
	}
}

func (m *comment) title(v gate.Verdict) {
	l := lookOf(v.Outcome)
	title := fmt.Sprintf("## %s benchgate: %s", l.Emoji, strings.ToUpper(string(v.Outcome)))
	if v.Simulated {
		title += " (simulated)"
	}
	if v.Runner != "" {
		title += " on " + code(name(v.Runner))
	}
	m.line(title, "", "**Why:** "+inline(prose(v.Summary)), "")
	if v.Simulated {
		m.line("> **Simulated.** "+saysSimulated, "")
	}
	if v.DefaultRules {
		m.line("> "+saysDefaults, "")
	}
	m.line("Compared with "+inline(opponent(v))+".", "")
}

// table lists findings; a long one is cut, and says so.
func (m *comment) table(findings []gate.Finding, confidence string) {
	if len(findings) == 0 {
		return
	}
	m.line("| outcome | scenario | metric | base → head | change ("+strings.TrimSpace(confidence+" interval")+") | smallest detectable | p | runs |",
		"|---|---|---|--:|---|--:|--:|--:|")
	for i, f := range findings {
		if i == mostRows {
			m.line("", fmt.Sprintf("… and %d more: see the HTML report.", len(findings)-i))
			break
		}
		l := lookOf(f.Outcome)
		row := []string{
			l.Emoji + " **" + name(string(l.Outcome)) + "**", code(name(f.Scenario)), code(name(f.Metric)), sides(f), escapeLess(span(f)),
			detectable(f), escapeLess(chance(f.Change)), runs(f),
		}
		m.line("| " + strings.Join(each(row, cell), " | ") + " |")
	}
	m.line("")
}

// escapeLess writes the one character of ours that HTML would take for its own.
func escapeLess(s string) string { return strings.ReplaceAll(s, "<", "&lt;") }

func (m *comment) sketch(findings []gate.Finding) {
	if lines := sketch(findings[:min(len(findings), mostRows)]); len(lines) > 0 {
		text := strings.Join(lines, "\n")
		f := fence(text, 3)
		m.line("Better ← change → worse", "", f+"text", text, f, "")
	}
}

// steps tells what to do, and which findings ask for it.
func (m *comment) steps(title string, steps []step) {
	if len(steps) == 0 {
		return
	}
	if title != "" {
		m.line(title, "")
	}
	for _, s := range steps {
		m.line("- **Next:** " + inline(s.Next))
		for i, f := range s.Findings {
			if i == mostItems {
				m.line(fmt.Sprintf("  - … and %d more", len(s.Findings)-i))
				break
			}
			l := lookOf(f.Outcome)
			m.line(fmt.Sprintf("  - %s %s %s %s: %s", l.Emoji, name(string(l.Outcome)), code(name(f.Scenario)), code(name(f.Metric)), inline(prose(f.Why))))
		}
	}
	m.line("")
}

func (m *comment) bullets(title string, items []string) {
	if len(items) == 0 {
		return
	}
	if title != "" {
		m.line(title, "")
	}
	for i, s := range items {
		if i == mostRows {
			m.line(fmt.Sprintf("- … and %d more", len(items)-i))
			break
		}
		m.line("- " + s)
	}
	m.line("")
}

// fold hides what body writes behind one line.
func (m *comment) fold(summary string, body func()) {
	m.line("<details><summary>"+summary+"</summary>", "")
	body()
	m.line("</details>", "")
}

func each(in []string, f func(string) string) []string {
	out := make([]string, 0, len(in))
	for _, s := range in {
		out = append(out, f(s))
	}
	return out
}
