package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/gate"
)

// columns is the width of the text format.
const columns = 100

// writeText renders for a terminal or a log: no colour, no more than so many columns, no line that a log reader would obey.
func writeText(w io.Writer, v gate.Verdict) error {
	t := &page{}
	findings := worstFirst(v.Findings)
	t.headline(v)
	t.table(findings, level(v))
	for _, f := range findings {
		if f.Outcome != gate.Pass {
			t.finding(f)
		}
	}
	t.section("bound", v.Bound)
	t.section("baseline since its epoch began", since(v))
	t.list("warnings", notes(v))
	t.list("environment, differences", differences(v.Environment.Diff))
	t.list("validity, failures", failures(v.Validity))
	t.section("client", clientLine(v.Client))
	t.list("the server's own account", serverLines(v.Server))
	t.list("waivers", waivers(v.Waivers))
	t.list("attempts", attempts(v.Attempts))
	_, err := io.WriteString(w, t.String())
	return err
}

// page gathers lines.
type page struct{ strings.Builder }

func (t *page) line(s string) {
	t.WriteString(strings.TrimRight(strings.ReplaceAll(mute(s), "\u00a0", " "), " ") + "\n")
}

func (t *page) headline(v gate.Verdict) {
	head := strings.ToUpper(string(v.Outcome))
	if v.Simulated {
		head += " (simulated)"
	}
	var about []string
	if v.Runner != "" {
		about = append(about, "runner "+name(v.Runner))
	}
	if !v.At.IsZero() {
		about = append(about, v.At.UTC().Format("2006-01-02 15:04 UTC"))
	}
	about = append(about, fmt.Sprintf("exit code %d", v.ExitCode))
	t.wrap("", "", cut(head+"  "+strings.Join(about, ", "), columns))
	t.wrap("", "", prose(v.Summary))
	if v.Simulated {
		t.wrap("", "", saysSimulated)
	}
	if v.DefaultRules {
		t.wrap("", "", saysDefaults)
	}
	t.wrap("", "", compared(v))
}

// section writes one labelled paragraph; nothing when it is empty.
func (t *page) section(label, body string) {
	if body != "" {
		t.line("")
		t.wrap(label+": ", "  ", prose(body))
	}
}

func (t *page) list(label string, items []string) {
	if len(items) == 0 {
		return
	}
	t.line("")
	t.line(label + ":")
	for _, s := range items {
		t.wrap("  - ", "    ", prose(s))
	}
}

// finding tells one that is no plain pass.
func (t *page) finding(f gate.Finding) {
	t.line("")
	t.wrap("", "  ", lookOf(f.Outcome).Sign+" "+strings.TrimLeft(name(f.Scenario)+" "+name(f.Metric)+": ", " :")+strings.ToUpper(string(f.Outcome)))
	t.wrap("  ", "  ", prose(f.Why))
	if f.Next != "" {
		t.wrap("  next: ", "        ", prose(f.Next))
	}
	var about []string
	if d := detectable(f); d != "" {
		about = append(about, "smallest detectable change: "+d+" (found four times in five)")
	}
	if r := rule(f); r != "" {
		about = append(about, "rule: "+r)
	}
	for _, s := range []string{course(f), at(f)} {
		if s != "" {
			about = append(about, s)
		}
	}
	if len(about) > 0 {
		t.wrap("  ", "  ", strings.Join(about, "; "))
	}
	if f.Further != "" && f.Outcome == gate.Inconclusive {
		t.wrap("  further: ", "           ", prose(f.Further))
	}
}

// wrap breaks words at the width, and no percent sign from its number. What is longer than a line is cut in pieces.
func (t *page) wrap(first, rest, body string) {
	line, width, empty := first, len([]rune(first)), true
	flush := func() {
		t.line(line)
		line, width, empty = rest, len([]rune(rest)), true
	}
	for _, word := range strings.Split(strings.ReplaceAll(body, " %", "\u00a0%"), " ") {
		r := []rune(word)
		if !empty && width+1+len(r) > columns {
			flush()
		}
		for width+len(r) > columns {
			n := columns - width
			line += string(r[:n])
			r = r[n:]
			flush()
		}
		if !empty {
			line += " "
			width++
		}
		line += string(r)
		width += len(r)
		empty = false
	}
	t.line(line)
}

// differences says each fact that differs.
func differences(facts []gate.Fact) []string {
	var out []string
	for _, f := range facts {
		where := ""
		if f.Scenario != "" {
			where = name(f.Scenario) + " "
		}
		out = append(out, fmt.Sprintf("%s%s: %s at base, %s here", where, name(f.Name), known(f.Base), known(f.Head)))
	}
	return out
}

func known(s string) string {
	if s == "" {
		return "unknown"
	}
	return clean(s, 200)
}

func failures(checks []gate.Check) []string {
	var out []string
	for _, c := range checks {
		if !c.OK {
			out = append(out, strings.Join(slices.DeleteFunc([]string{name(c.Scenario), name(c.Side), name(c.Name)}, func(s string) bool { return s == "" }), " ")+": "+prose(c.Detail))
		}
	}
	return out
}

func waivers(uses []gate.WaiverUse) []string {
	var out []string
	for _, u := range uses {
		issue := ""
		if u.Issue > 0 {
			issue = fmt.Sprintf(", issue %d", u.Issue)
		}
		out = append(out, fmt.Sprintf("%s: %s %s up to %s until %s%s: %s", name(u.State), name(u.Scenario), name(u.Metric), asked(gate.Finding{}, u.Ceiling),
			u.Until.UTC().Format(time.DateOnly), issue, prose(u.Why)))
	}
	return out
}

func attempts(as []gate.Attempt) []string {
	var out []string
	for _, a := range as {
		out = append(out, a.At.UTC().Format("2006-01-02 15:04:05 UTC")+": "+prose(a.What))
	}
	return out
}
