package report

import (
	"fmt"
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
)

// details folds what few readers need: surroundings, checks, method, attempts, runs.
func (m *comment) details(v gate.Verdict, findings []gate.Finding) {
	if s := since(v); s != "" {
		m.fold("Baseline since its epoch began", func() { m.line(inline(prose(s)), "") })
	}
	if n := len(v.Environment.Diff); n > 0 {
		m.fold(fmt.Sprintf("Environment: %s", count(n, "difference")), func() { m.facts(v.Environment.Diff) })
	}
	if bad := failures(v.Validity); len(bad) > 0 {
		m.fold(fmt.Sprintf("Validity: %s", count(len(bad), "failed check")), func() { m.bullets("", each(bad, inline)) })
	}
	if len(v.Client) > 0 {
		m.fold("Client health", func() { m.client(v.Client) })
	}
	if head, rows := serverRows(v.Server); len(rows) > 0 {
		m.fold("The server's own account", func() { m.server(head, rows) })
	}
	if len(v.Waivers) > 0 {
		m.fold(fmt.Sprintf("Waivers (%d)", len(v.Waivers)), func() { m.bullets("", each(waivers(v.Waivers), inline)) })
	}
	if len(findings) > 0 {
		m.fold("Method", func() { m.bullets("", method(findings)) })
	}
	if len(v.Attempts) > 0 {
		m.fold(fmt.Sprintf("Attempts (%d)", len(v.Attempts)), func() { m.bullets("", each(attempts(v.Attempts), inline)) })
	}
	if lines := runLines(findings); len(lines) > 0 {
		m.fold("Runs", func() { m.bullets("", lines) })
	}
}

func (m *comment) facts(facts []gate.Fact) {
	m.line("| scenario | fact | base | head |", "|---|---|---|---|")
	for i, f := range facts {
		if i == mostRows {
			m.line("", fmt.Sprintf("… and %d more", len(facts)-i))
			break
		}
		row := []string{code(name(f.Scenario)), code(name(f.Name)), code(known(f.Base)), code(known(f.Head))}
		m.line("| " + strings.Join(each(row, cell), " | ") + " |")
	}
	m.line("")
}

// client is how well the client and its host did; each figure is the worst of a side's runs.
func (m *comment) client(sides []gate.Health) {
	m.line(inline("Each figure is the worst of a side's runs. In one line, the "+clientLine(sides)+"."), "")
	head, rows := clientRows(sides)
	m.line("| "+strings.Join(head, " | ")+" |", "|---|---|"+strings.Repeat("--:|", len(head)-3)+"---|")
	for i, row := range rows {
		if i == mostRows {
			m.line("", fmt.Sprintf("… and %d more", len(rows)-i))
			break
		}
		row[0] = code(row[0])
		if last := len(row) - 1; row[last] != "" {
			row[last] = code(row[last])
		}
		m.line("| " + strings.Join(each(row, cell), " | ") + " |")
	}
	m.line("")
}

// server is what each side's server says of itself. Its words are a stranger's.
func (m *comment) server(head []string, rows [][]string) {
	m.line(saysAccount, "")
	m.line("| "+strings.Join(head, " | ")+" |", "|---|---|---|---|"+strings.Repeat("--:|", len(head)-4))
	for i, row := range rows {
		if i == mostRows {
			m.line("", fmt.Sprintf("… and %d more", len(rows)-i))
			break
		}
		for j, s := range row[:4] {
			if s != "" {
				row[j] = code(s)
			}
		}
		m.line("| " + strings.Join(each(row, cell), " | ") + " |")
	}
	m.line("")
}

// method says for each finding how it was decided.
func method(findings []gate.Finding) []string {
	out := []string{"p is one-sided and adjusted for all rules asked together (Holm). Runs: base/head. The smallest detectable worsening is found four times in five."}
	for _, f := range findings {
		parts := []string{code(name(f.Scenario)) + " " + code(name(f.Metric))}
		for _, x := range [][2]string{{"rule: ", rule(f)}, {"", f.Method}, {"seed ", f.Seed}, {"", at(f)}, {"", besides(f)}} {
			if x[1] != "" {
				parts = append(parts, x[0]+inline(clean(x[1], 400)))
			}
		}
		out = append(out, strings.Join(parts, "; "))
	}
	return out
}

// runLines lists the values of each side in the order measured.
func runLines(findings []gate.Finding) []string {
	var out []string
	for _, f := range findings {
		for _, side := range []string{"base", "head"} {
			if values := runValues(f, side); values != "" {
				out = append(out, fmt.Sprintf("%s %s, %s: %s", code(name(f.Scenario)), code(name(f.Metric)), side, values))
			}
		}
	}
	return out
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
