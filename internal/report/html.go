package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

//go:embed page.gohtml
var source string

// layout is the page; it escapes whatever is foreign by where it stands.
var layout = template.Must(template.New("page").Funcs(template.FuncMap{
	"name": name, "prose": together, "known": known, "look": lookOf, "sides": sides, "span": span, "change": change, "rule": rule,
	"detectable": detectable, "chance": chance, "runs": runs, "total": total, "upper": strings.ToUpper, "count": count,
	"rows": func(fs []gate.Finding, level string) rows { return rows{fs, level} }, "values": runValues, "first": first, "rest": rest, "note": runNotes, "at": at, "besides": besides,
}).Parse(source))

// sheet is what the page shows.
type sheet struct {
	gate.Verdict
	Look            look
	Title           string
	Compared, Since string
	Level           string
	Findings        []gate.Finding
	Shown, More     []gate.Finding // More are like Shown, and folded since there are so many
	Folded          []gate.Finding
	Plan, Calm      []step
	Forest          template.HTML
	Galleries       []gallery
	// Unplotted and Undrawn say what is in no forest, and what has no picture; empty where all is drawn.
	Unplotted, Undrawn string
	Notes              []string
	Failures, Checks   []gate.Check
	Simulation         string
	Defaults           string
	WaiverLines        []string
	AttemptLines       []string
	ClientLine         string
	ClientHead         []string
	ClientRows         [][]string
	ServerHead         []string
	ServerRows         [][]string
	Account            string
}

// rows are a table of findings.
type rows struct {
	Findings []gate.Finding
	Level    string
}

// gallery holds the pictures of a scenario. Open ones are seen without a click.
type gallery struct {
	Scenario string
	Open     bool
	Pictures []figure
}

// figure is one picture with what stands below it.
type figure struct {
	Title, Caption string
	SVG            template.HTML
}

// writeHTML renders one file that needs nothing else: no script, no font, no fetch.
func writeHTML(w io.Writer, v gate.Verdict) error {
	s := sheet{
		Verdict: v, Look: lookOf(v.Outcome), Compared: compared(v), Since: since(v), Level: level(v), Findings: worstFirst(v.Findings), Notes: notes(v),
		Simulation: saysSimulated, Defaults: saysDefaults, WaiverLines: waivers(v.Waivers), AttemptLines: attempts(v.Attempts),
	}
	s.Title = "benchgate: " + name(string(v.Outcome)) + " on " + name(v.Runner)
	s.Plan, s.Calm = steps(v.Outcome, s.Findings)
	for _, c := range v.Validity {
		if c.OK {
			s.Checks = append(s.Checks, c)
		} else {
			s.Failures = append(s.Failures, c)
		}
	}
	s.ClientLine = clientLine(v.Client)
	s.ClientHead, s.ClientRows = clientRows(v.Client)
	s.ServerHead, s.ServerRows = serverRows(v.Server)
	s.Account = saysAccount
	s.Shown, s.Folded = openly(s.Findings)
	worst, unplotted := drawable(s.Shown, "the numbers of all stand above")
	s.Shown, s.More, s.Unplotted = worst, s.Shown[len(worst):], unplotted
	plot, err := forest(s.Shown)
	if err != nil {
		return fmt.Errorf("render html: %w", err)
	}
	s.Forest = template.HTML(plot) // written by package charts and package html
	pictured, undrawn := drawable(s.Findings, "every run of all of them stands below, under Runs")
	s.Undrawn = undrawn
	if s.Galleries, err = galleries(v, pictured); err != nil {
		return fmt.Errorf("render html: %w", err)
	}
	var b bytes.Buffer
	if err := layout.Execute(&b, s); err != nil {
		return fmt.Errorf("render html: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// together is prose in which no percent sign leaves its number.
func together(s string) string { return strings.ReplaceAll(prose(s), " %", "\u00a0%") }

// mostOpen is how many scenarios show their pictures openly; those that somebody has to look at always do.
const mostOpen = 4

// mostListed is how many findings of a step are listed before the others are folded.
const mostListed = 50

func first(findings []gate.Finding) []gate.Finding { return findings[:min(len(findings), mostListed)] }

func rest(findings []gate.Finding) []gate.Finding { return findings[len(first(findings)):] }

// mostDrawn is how many findings are drawn: of thousands a page takes a minute to open, and nobody looks at the last.
const mostDrawn = 500

// drawable are the findings that are drawn, and what a reader is told of the rest.
func drawable(findings []gate.Finding, elsewhere string) (drawn []gate.Finding, undrawn string) {
	if len(findings) <= mostDrawn {
		return findings, ""
	}
	return findings[:mostDrawn], fmt.Sprintf("Drawn are the %d worst of %d findings; %s.", mostDrawn, len(findings), elsewhere)
}

// galleries draws the pictures of each scenario, the one with the worst finding first.
func galleries(v gate.Verdict, findings []gate.Finding) ([]gallery, error) {
	var out []gallery
	seen := map[string]bool{}
	for _, f := range findings {
		if seen[f.Scenario] {
			continue
		}
		seen[f.Scenario] = true
		pictures, err := pictures(v, f.Scenario, findings)
		if err != nil {
			return nil, err
		}
		if len(pictures) > 0 {
			class := lookOf(f.Outcome).Class
			out = append(out, gallery{f.Scenario, len(out) < mostOpen || class == "bad" || class == "broken", pictures})
		}
	}
	return out, nil
}

func pictures(v gate.Verdict, scenario string, findings []gate.Finding) ([]figure, error) {
	var out []figure
	drawn := map[string]bool{}
	for _, f := range findings {
		if f.Scenario != scenario || drawn[f.Metric] || !varied(f.Runs) {
			continue
		}
		drawn[f.Metric] = true
		svg, err := runsChart(f)
		if err != nil {
			return nil, err
		}
		caption := "The line is the geometric mean over the runs."
		if f.Unit == string(bench.Ratio) {
			caption = "The line is the share over all runs together."
		}
		out = append(out, figure{name(f.Metric) + ", run by run", caption, template.HTML(svg)})
	}
	for _, c := range []struct {
		series, title, caption string
		label                  func(x float64, of int) string
	}{
		{"ttft", "Time to first token, distribution", "Geometric mean over runs of each percentile.", percentile},
		{"lag", "Schedule lag, p99 of each run", "How late the client sent: large values spoil a run.", func(x float64, of int) string { return orders(int(x), of) }},
	} {
		svg, err := curve(v, scenario, c.series, name(scenario)+": "+c.title, c.label)
		if err != nil {
			return nil, err
		}
		if svg != "" {
			out = append(out, figure{c.title, c.caption, template.HTML(svg)})
		}
	}
	return out, nil
}

// varied reports whether a picture of the runs shows anything: two values that differ.
func varied(runs []gate.RunPoint) bool {
	return slices.ContainsFunc(runs, func(r gate.RunPoint) bool { return r.Value != runs[0].Value })
}

func percentile(p float64, _ int) string { return "p" + strconv.FormatFloat(p*100, 'f', -1, 64) }

// runNotes says what is remarkable of single runs.
func runNotes(f gate.Finding) []string {
	var out []string
	for _, r := range f.Runs {
		switch {
		case r.Note != "":
			out = append(out, fmt.Sprintf("%s run %d: %s", name(r.Side), r.Order, clean(r.Note, 200)))
		case !r.Valid:
			out = append(out, fmt.Sprintf("%s run %d is void", name(r.Side), r.Order))
		}
	}
	return out
}

// manyRows is how many findings a page shows in one table before those that ask for nothing are folded.
const manyRows = 12

// openly parts what a reader of the page has to see from passes and observations of rules that are no primaries.
func openly(findings []gate.Finding) (shown, folded []gate.Finding) {
	for _, f := range findings {
		quiet := f.Outcome == gate.Pass || f.Outcome == gate.Observed
		if quiet && !f.Primary && len(findings) > manyRows {
			folded = append(folded, f)
		} else {
			shown = append(shown, f)
		}
	}
	return shown, folded
}
