package report

import (
	"math"
	"slices"
	"strings"

	"github.com/go-analyze/charts"

	"github.com/benchgate/benchgate/internal/gate"
)

// Measures of the forest plot, in the units of the picture.
const (
	forestWide  = 980
	forestLeft  = 290 // where the axis begins
	forestRight = 740 // where it ends; the numbers follow
	forestRow   = 28
	forestTop   = 30
)

// forest draws every compared finding's change with its interval, and the lines of its rule, on one axis.
//
// None of the library's charts has points with horizontal bars: its scatter chart has categories for x, and its mark lines
// are the mean, the median and the extremes of a series alone. So its painter draws them, line by line.
func forest(findings []gate.Finding) (string, error) {
	findings = slices.DeleteFunc(slices.Clone(findings), func(f gate.Finding) bool { return f.Change == nil })
	if len(findings) == 0 {
		return "", nil
	}
	a := axisOf(findings)
	bottom := forestTop + forestRow*len(findings)
	p := painter(forestWide, bottom+30)
	t := trees{p, a}
	t.scale(bottom)
	var desc strings.Builder
	for i, f := range findings {
		t.row(f, forestTop+forestRow*i+forestRow/2)
		desc.WriteString(name(f.Scenario) + " " + name(f.Metric) + " " + span(f) + "; ")
	}
	return picture(p, "Change with its interval, tolerance and rule-out", desc.String())
}

// trees is a forest being drawn.
type trees struct {
	p *charts.Painter
	a axis
}

func (t trees) x(at float64) int {
	return forestLeft + int(math.Round(at*(forestRight-forestLeft)))
}

func (t trees) line(x1, y1, x2, y2 int, c charts.Color, width float64) {
	t.p.LineStroke([]charts.Point{{X: x1, Y: y1}, {X: x2, Y: y2}}, c, width)
}

func style(c charts.Color) charts.FontStyle {
	return charts.FontStyle{FontSize: chartFont, FontColor: c}
}

func (t trees) text(s string, x, y int, c charts.Color) { t.p.Text(s, x, y, 0, style(c)) }

// usual is the width of a text in the library's font and a tenth more, since most fonts of a page are wider.
func (t trees) usual(s string) int { return t.p.MeasureText(s, 0, style(ink)).Width() * 11 / 10 }

// wide is what a text takes at most: DejaVu Sans is a quarter wider than the library's font.
func (t trees) wide(s string) int { return t.p.MeasureText(s, 0, style(ink)).Width() * 5 / 4 }

// labelGap is the least room between two labels of the axis.
const labelGap = 6

// scale draws the axis: round changes as far as their labels have room, and no change as a strong line.
func (t trees) scale(bottom int) {
	for _, tick := range t.ticks() {
		color, width := grid, 1.0
		if tick.worse == 0 {
			color, width = muted, 1.5
		}
		t.line(tick.x, forestTop-4, tick.x, bottom+4, color, width)
		t.text(tick.label, tick.from, bottom+20, muted)
	}
	t.text("← better", forestLeft, 16, muted)
	t.text("worse →", forestRight-t.usual("worse →"), 16, muted)
}

// tick is a place on the axis, and its label, which reaches from one x to another.
type tick struct {
	worse    float64
	x        int
	label    string
	from, to int
}

// ticks are the axis's, outwards from no change, without those whose label would come too close to one before.
func (t trees) ticks() []tick {
	var kept []tick
	for _, worse := range t.a.ticks(0.11) {
		label := minus(plain(worse*100, 0)) + " %"
		if worse > 0 {
			label = "+" + label
		}
		x := t.x(t.a.at(worse))
		from := x - t.usual(label)/2
		next := tick{worse, x, label, from, from + t.wide(label)}
		if !slices.ContainsFunc(kept, func(k tick) bool { return next.from < k.to+labelGap && k.from < next.to+labelGap }) {
			kept = append(kept, next)
		}
	}
	return kept
}

// row draws one finding. Its tolerance is a dashed tick, its rule-out a solid one.
func (t trees) row(f gate.Finding, y int) {
	color := map[string]charts.Color{"bad": bad, "good": good}[lookOf(f.Outcome).Class]
	if color.IsZero() {
		color = ink
	}
	t.text(t.label(f, forestLeft-16), 2, y+5, ink)
	t.text(change(f), forestRight+12, y+5, ink)
	if x, ok := t.mark(f.Tolerance); ok {
		t.p.DashedLineStroke([]charts.Point{{X: x, Y: y - 12}, {X: x, Y: y + 12}}, muted, 1.5, []float64{3, 2})
	}
	if x, ok := t.mark(f.RuleOut); ok {
		t.line(x, y-12, x, y+12, muted, 2)
	}
	low, cutLow := t.a.clip(f.Change.WorseLow)
	high, cutHigh := t.a.clip(f.Change.WorseHigh)
	t.line(t.x(low), y, t.x(high), y, color, 2.5)
	t.end(t.x(low), y, -1, cutLow, color)
	t.end(t.x(high), y, 1, cutHigh, color)
	if at, off := t.a.clip(f.Change.Worse); !off {
		t.p.FilledDiamond(t.x(at), y, 12, 12, color, paper, 1)
	}
}

// end closes an interval with a bar, or with an arrow where it goes on beyond the picture.
func (t trees) end(x, y, way int, cut bool, c charts.Color) {
	if !cut {
		t.line(x, y-5, x, y+5, c, 2)
		return
	}
	t.p.LineStroke([]charts.Point{{X: x - 6*way, Y: y - 5}, {X: x, Y: y}, {X: x - 6*way, Y: y + 5}}, c, 2)
}

func (t trees) mark(worse *float64) (x int, ok bool) {
	if worse == nil {
		return 0, false
	}
	at, off := t.a.clip(*worse)
	return t.x(at), !off
}

// label names a finding; where that is too wide the scenario's name is cut, then the metric's.
func (t trees) label(f gate.Finding, width int) string {
	scenario, metric := name(f.Scenario), name(f.Metric)
	for {
		s := lookOf(f.Outcome).Sign + " " + scenario + " " + metric
		switch n, m := len([]rune(scenario)), len([]rune(metric)); {
		case t.wide(s) <= width || n <= 4 && m <= 4:
			return s
		case n > 4:
			scenario = cut(scenario, n-1)
		default:
			metric = cut(metric, m-1)
		}
	}
}
