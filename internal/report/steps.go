package report

import (
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
)

// step is one thing to do, and the findings that ask for it.
type step struct {
	Next     string
	Findings []gate.Finding
}

// steps groups the findings that are no plain pass by what to do next, in their order. The plan is what somebody has to look
// at; calm are good news and things that nobody judges, unless they are the verdict itself.
func steps(verdict gate.Outcome, findings []gate.Finding) (plan, calm []step) {
	known := [2]map[string]int{{}, {}}
	for _, f := range findings {
		switch f.Outcome {
		case gate.Pass:
		case gate.Improved, gate.Observed, gate.Waived:
			if f.Outcome == verdict {
				plan = add(plan, f, known[0])
			} else {
				calm = add(calm, f, known[1])
			}
		default:
			plan = add(plan, f, known[0])
		}
	}
	return plan, calm
}

// add puts a finding to the step that it asks for; known says where each stands.
func add(to []step, f gate.Finding, known map[string]int) []step {
	next := prose(f.Next)
	if i, ok := known[next]; ok {
		to[i].Findings = append(to[i].Findings, f)
		return to
	}
	known[next] = len(to)
	return append(to, step{next, []gate.Finding{f}})
}

// reason is why some findings of one outcome are what they are.
type reason struct {
	outcome  gate.Outcome
	why      string
	findings []gate.Finding
}

// reasons groups the findings of a step by outcome and why.
func (s step) reasons() []reason {
	var out []reason
	known := map[[2]string]int{}
	for _, f := range s.Findings {
		why := prose(f.Why)
		key := [2]string{string(f.Outcome), why}
		if i, ok := known[key]; ok {
			out[i].findings = append(out[i].findings, f)
			continue
		}
		known[key] = len(out)
		out = append(out, reason{f.Outcome, why, []gate.Finding{f}})
	}
	return out
}

// todoBlock tells what to do, a step an item. The table names the findings, so they are named again only where they ask for
// different things, and the first reason of a step is told unless the verdict's own sentence was that.
func todoBlock(v gate.Verdict, plan []step) *block {
	b := &block{name: "what to do"}
	if len(plan) == 1 && told(v, plan[0].reasons()[0]) {
		if plan[0].Next != "" {
			b.addText("\n**Next:** " + inline(plan[0].Next) + "\n")
		}
		return b
	}
	b.head = "\n**What to do next**\n\n"
	for _, s := range plan {
		b.add(func() string {
			text := "- " + strings.TrimLeft(names(s.Findings)+": ", ": ") + inline(s.Next) + "\n"
			r := s.reasons()[0]
			if told(v, r) {
				return text
			}
			if len(r.findings) < len(s.Findings) {
				return text + "  - " + names(r.findings) + ": " + inline(r.why) + "\n"
			}
			return text + "  - " + inline(r.why) + "\n"
		})
	}
	return b
}

// told reports whether the verdict's sentence gives the reason already.
func told(v gate.Verdict, r reason) bool { return strings.Contains(prose(v.Summary), r.why) }

// wordsBlock says of each finding that is no pass why, as far as nothing above does: good news, what is not judged, and what
// the table shows in numbers.
func wordsBlock(v gate.Verdict, plan, calm []step) *block {
	b := &block{name: "the findings in words", foot: "\n</details>\n"}
	n := 0
	for _, s := range plan {
		for i, r := range s.reasons() {
			if i > 0 && !told(v, r) {
				n += len(r.findings)
				b.add(func() string { return reasonLine(r) })
			}
		}
	}
	for _, s := range calm {
		for i, r := range s.reasons() {
			n += len(r.findings)
			b.add(func() string {
				if i == 0 && s.Next != "" {
					return reasonLine(r) + "  " + inline(s.Next) + "\n"
				}
				return reasonLine(r)
			})
		}
	}
	b.head = "\n<details><summary>" + count(n, "finding") + " in words</summary>\n\n"
	return b
}

func reasonLine(r reason) string {
	return "- " + sign(r.outcome) + " " + strings.TrimLeft(names(r.findings)+": ", ": ") + inline(r.why) + "\n"
}

// total is how many findings the steps hold.
func total(steps []step) int {
	n := 0
	for _, s := range steps {
		n += len(s.Findings)
	}
	return n
}
