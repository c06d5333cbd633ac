package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/gate"
)

func TestAPictureHoldsNothingThatNobodySees(t *testing.T) {
	const hidden = `<circle cx="68" cy="201" r="0.01" style="fill:var(--base)"/>`
	for svg, want := range map[string]string{
		``: ``,
		`<text x="1" y="2" class="t">1 ms</text><circle cx="1" cy="2" r="4" class="b"/></svg>`: `<text x="1" y="2" class="t">1 ms</text><circle cx="1" cy="2" r="4" class="b"/></svg>`,
		hidden + `<path d="M 1 1" class="b"/>` + hidden + hidden + `</svg>`:                    `<path d="M 1 1" class="b"/></svg>`,
		`<path d="M 1 1 L 2 1" class="g"/></svg>`:                                              `<path d="M 1 1 L 2 1" class="g"/></svg>`,
		// What is drawn above a line stays above it.
		`<path d="M 1 1" class="g"/><path d="M 2 2" class="g"/><path d="M 3 3" class="b"/><path d="M 4 4" class="g"/></svg>`: `<path d="M 1 1 M 2 2" class="g"/><path d="M 3 3" class="b"/><path d="M 4 4" class="g"/></svg>`,
		`<path d="M 1 1" class="g"/>` + hidden + `<path d="M 2 2" class="g"/><text>x</text>`:                                 `<path d="M 1 1 M 2 2" class="g"/><text>x</text>`,
	} {
		if diff := cmp.Diff(want, slim(svg)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", svg, diff)
		}
	}
}

// With thousands of findings the worst are drawn. The numbers of all stand there.
func TestOfVeryManyFindingsTheWorstAreDrawn(t *testing.T) {
	v := gate.Verdict{Outcome: gate.Breached, Runner: "lab"}
	for i := range mostDrawn {
		v.Findings = append(v.Findings, finding(gate.Breached, fmt.Sprintf("s%d.p50", i), 1, 1))
	}
	v.Findings[mostDrawn-1].Runs[1].Value = 2
	v.Findings = append(v.Findings, finding(gate.Improved, "last.p50", 0.125, 0.25))
	all, worst := render(t, "html", gate.Verdict{Outcome: v.Outcome, Findings: v.Findings[1:]}), render(t, "html", v)
	for what, want := range map[string][2]int{
		"<h3>last.p50, run by run</h3>": {1, 0},
		"chat last.p50 1.0 % slower":    {1, 0}, // in the description of the forest
		"Drawn are the 500 worst of 501 findings; every run of all of them stands below": {0, 1},
		"Drawn are the 500 worst of 501 findings; the numbers of all stand above":        {0, 1},
		"<summary>450 more findings with the same next step</summary>":                   {0, 1},
		"<summary>449 more findings with the same next step</summary>":                   {1, 0},
		"<summary>1 more finding, less bad than those above</summary>":                   {0, 1},
		"<td>last.p50</td><td>base</td><td>125, 250 ms</td>":                             {1, 1},
	} {
		if got := [2]int{strings.Count(all, what), strings.Count(worst, what)}; got != want {
			t.Errorf("%q stands %d times in a page of 500 findings and %d times in one of 501, want %d", what, got[0], got[1], want)
		}
	}
}

// finding is one of a baseline with two runs of these values.
func finding(o gate.Outcome, metric string, first, second float64) gate.Finding {
	return gate.Finding{
		Scenario: "chat", Metric: metric, Unit: "s", Outcome: o, Base: &gate.Side{Point: first},
		Change: &gate.Change{Worse: 0.01, WorseLow: 0.005, WorseHigh: 0.02, Ratio: 1.01, Low: 1.005, High: 1.02, Level: 0.95},
		Runs:   []gate.RunPoint{{Side: "base", Order: 1, Value: first, Valid: true}, {Side: "base", Order: 2, Value: second, Valid: true}},
	}
}
