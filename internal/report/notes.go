package report

import (
	"fmt"
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
)

// Note is what stands at a line of a file, as an annotation of a job: one paragraph of plain text.
type Note struct {
	Level   string // "error", "warning" or "notice"
	Title   string
	Message string
	// File and Line are the place of the rule; File is empty where it is not known, Line 0.
	File string
	Line int
}

// Notes tells every finding that asks for something, worst first: no pass, and what is merely observed only where the verdict
// is nothing else. A verdict that is no pass and has no such finding is one note.
func Notes(v gate.Verdict) []Note {
	var out []Note
	for _, f := range worstFirst(v.Findings) {
		if f.Outcome == gate.Pass || f.Outcome == gate.Observed && v.Outcome != gate.Observed {
			continue
		}
		out = append(out, Note{
			Level:   gravity(v, f.Outcome),
			Title:   strings.TrimRight(strings.ToUpper(name(string(f.Outcome)))+": "+name(f.Scenario)+" "+name(f.Metric), " :"),
			Message: strings.TrimSpace(prose(f.Why) + " " + prose(f.Next)),
			File:    clean(f.Rule.File, longText), Line: max(0, f.Rule.Line),
		})
	}
	if len(out) == 0 && v.Outcome != gate.Pass {
		out = append(out, Note{Level: gravity(v, v.Outcome), Title: strings.ToUpper(name(string(v.Outcome))), Message: prose(v.Summary)})
	}
	return out
}

// gravity is the level of an outcome: an error where it turns a job red.
func gravity(v gate.Verdict, o gate.Outcome) string {
	switch {
	case o == v.Outcome && v.ExitCode != 0:
		return "error"
	case o == gate.Inconclusive || o == gate.New || o == gate.Waived:
		return "warning"
	case o == gate.Improved || o == gate.Observed:
		return "notice"
	}
	return "error"
}

// Line says the verdict in one plain line of at most so many characters: "REGRESSED: chat ttft.p95 30 % slower (19 to 43 %)".
func Line(v gate.Verdict, most int) string {
	s := strings.ToUpper(name(string(v.Outcome)))
	if v.Simulated {
		s += " (simulated)"
	}
	return clean(s+": "+gist(v), most)
}

// gist is the finding that made the verdict, in few words, and how many more are like it.
func gist(v gate.Verdict) string {
	var like []gate.Finding
	for _, f := range worstFirst(v.Findings) {
		if f.Outcome == v.Outcome {
			like = append(like, f)
		}
	}
	if len(like) == 0 {
		return prose(v.Summary)
	}
	f := like[0]
	s := name(f.Scenario) + " " + name(f.Metric) + " "
	switch {
	case f.Change != nil:
		s += change(f)
	case f.Head != nil && (f.Min != nil || f.Max != nil) && (f.Outcome == gate.Breached || f.Outcome == gate.Pass || f.Outcome == gate.Inconclusive):
		s += held(f)
	default:
		return strings.TrimLeft(name(f.Scenario)+": ", ": ") + prose(f.Why)
	}
	if n := len(like) - 1; n > 0 && f.Outcome != gate.Pass && f.Outcome != gate.Observed {
		s += fmt.Sprintf(", and %d more", n)
	}
	return s
}

// held says the value of the head beside what it is held to: "6.9 % (max 0.5 %)".
func held(f gate.Finding) string {
	var parts []string
	if f.Min != nil {
		parts = append(parts, "min "+limit(f, *f.Min))
	}
	if f.Max != nil {
		parts = append(parts, "max "+limit(f, *f.Max))
	}
	return Quantity(f.Head.Point, f.Unit, resolution(f, *f.Head)) + " (" + strings.Join(parts, ", ") + ")"
}
