package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-analyze/charts"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// The library writes colours into the picture. These are stand-ins that no chart has otherwise; each becomes a variable of
// the page's style, so that one picture serves light and dark.
var (
	ink      = charts.ColorRGB(1, 1, 1)
	grid     = charts.ColorRGB(2, 2, 2)
	baseline = charts.ColorRGB(3, 3, 3)
	headline = charts.ColorRGB(4, 4, 4)
	muted    = charts.ColorRGB(5, 5, 5)
	bad      = charts.ColorRGB(6, 6, 6)
	good     = charts.ColorRGB(7, 7, 7)
	paper    = charts.ColorRGB(8, 8, 8)
)

var styled = strings.NewReplacer(
	// What every chart has dozens of is a class of the page.
	`style="stroke-width:1;stroke:`+grid.StringRGB()+`;fill:none"`, `class="g"`,
	`style="stroke-width:1;stroke:`+baseline.StringRGB()+`;fill:none"`, `class="b"`,
	`style="stroke:none;fill:`+muted.StringRGB()+`;font-size:14px;font-family:'Roboto Medium',sans-serif"`, `class="t"`,
	ink.StringRGB(), "var(--ink)", grid.StringRGB(), "var(--grid)", baseline.StringRGB(), "var(--base)", headline.StringRGB(), "var(--head)",
	muted.StringRGB(), "var(--muted)", bad.StringRGB(), "var(--bad)", good.StringRGB(), "var(--good)", paper.StringRGB(), "var(--paper)",
	"font-family:'Roboto Medium',sans-serif", "font-family:inherit", "\n", " ", "stroke:none;", "",
)

// Size of the small charts, in the units of the picture: it is scaled to the width of its column.
const (
	chartWide = 470
	chartHigh = 235
	chartFont = 10.5 // points
)

func theme(colors ...charts.Color) charts.ColorPalette {
	return charts.MakeTheme(charts.ThemeOption{
		AxisStrokeColor: grid, AxisSplitLineColor: grid, BackgroundColor: charts.ColorTransparent, TextColor: muted, SeriesColors: colors,
	})
}

// painter is an empty picture.
func painter(wide, high int, colors ...charts.Color) *charts.Painter {
	return charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: wide, Height: high},
		charts.PainterThemeOption(theme(colors...)))
}

// picture is the SVG of what was painted, with its title and a description in words.
func picture(p *charts.Painter, title, desc string) (string, error) {
	data, err := p.Bytes()
	if err != nil {
		return "", fmt.Errorf("draw %q: %w", title, err)
	}
	_, rest, found := strings.Cut(string(data), " viewBox=")
	open, body, closed := strings.Cut(rest, ">")
	if !found || !closed {
		return "", fmt.Errorf("draw %q: the chart is no SVG", title)
	}
	return fmt.Sprintf(`<svg role="img" viewBox=%s><title>%s</title><desc>%s</desc>%s`, open, html.EscapeString(title), html.EscapeString(desc), slim(styled.Replace(body))), nil
}

// yAxis spans the values from one round number to another, its labels in the unit of the largest.
func yAxis(values []float64, unit string, fromZero bool) charts.YAxisOption {
	low, high := slices.Min(values), slices.Max(values)
	if fromZero {
		low = 0
	}
	factor, name := split(math.Max(high, 1e-9), unit, 0)
	from, to, step := rounded(low/factor, high/factor)
	if share := unit == string(bench.Ratio); share && high <= 1 {
		to = math.Min(to, 100)
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	return charts.YAxisOption{
		Min: charts.Ptr(from * factor), Max: charts.Ptr(to * factor), LabelCount: int(math.Round((to-from)/step)) + 1,
		RangeValuePaddingScale: charts.Ptr(0.0), PreferNiceIntervals: charts.Ptr(false),
		LabelFontStyle: charts.NewFontStyleWithSize(chartFont),
		ValueFormatter: func(v float64) string { return plain(v/factor, decimals) + " " + name },
	}
}

// rounded widens a range to whole steps of 1, 2 or 5 times a power of ten, three to six of them.
func rounded(low, high float64) (from, to, step float64) {
	if high <= low {
		low, high = low*0.95, high*1.05
	}
	if high <= low {
		low, high = 0, 1
	}
	step = math.Pow(10, math.Floor(math.Log10((high-low)/3)))
	for _, factor := range []float64{2, 2.5, 2} {
		if (high-low)/step > 5 {
			step *= factor
		}
	}
	return math.Floor(low/step+1e-9) * step, math.Ceil(high/step-1e-9) * step, step
}

// orders labels runs by their place; of many, every fifth.
func orders(place, of int) string {
	if of <= 16 || place == 1 || place%5 == 0 {
		return strconv.Itoa(place)
	}
	return ""
}

// runsChart shows the runs of both sides as points in the order measured, a line at each side's value.
func runsChart(f gate.Finding) (string, error) {
	base, head := sideRuns(f, "base"), sideRuns(f, "head")
	n := len(base) + 1 + len(head)
	labels := make([]string, n)
	series := make([][][]float64, 3) // base, head, void
	var values []float64
	for i, r := range slices.Concat(base, []gate.RunPoint{{}}, head) {
		for s := range series {
			series[s] = append(series[s], nil)
		}
		if i == len(base) {
			continue
		}
		at := 0
		if r.Side == "head" {
			at = 1
		}
		if !r.Valid {
			at = 2
		}
		series[at][i] = []float64{r.Value}
		values = append(values, r.Value)
		labels[i] = orders(r.Order, n)
	}
	list := charts.ScatterSeriesList{
		{Name: "base", Values: series[0], Symbol: charts.Symbol{Shape: charts.SymbolCircle, Size: 4}},
		{Name: "head", Values: series[1], Symbol: charts.Symbol{Shape: charts.SymbolDiamond, Size: 4}},
		{Name: "void", Values: series[2], Symbol: charts.Symbol{Shape: charts.SymbolSquare, Size: 3}},
		levelLine(f.Base, baseline, 0, len(base), n),
		levelLine(f.Head, headline, len(base)+1, n, n),
	}
	p := painter(chartWide, chartHigh, baseline, headline, muted, baseline, headline)
	err := p.ScatterChart(charts.ScatterChartOption{
		Theme: theme(baseline, headline, muted, baseline, headline), Padding: charts.NewBox(6, 10, 14, 6), SeriesList: list,
		Legend: charts.LegendOption{Show: charts.Ptr(false)},
		XAxis:  charts.XAxisOption{Labels: labels, LabelCount: n, BoundaryGap: charts.Ptr(true), LabelFontStyle: charts.NewFontStyleWithSize(chartFont)},
		YAxis:  []charts.YAxisOption{yAxis(values, f.Unit, false)},
	})
	if err != nil {
		return "", fmt.Errorf("draw the runs of %q: %w", f.Scenario, err)
	}
	return picture(p, name(f.Scenario)+" "+name(f.Metric)+": runs", "Base: "+runValues(f, "base")+". Head: "+runValues(f, "head")+".")
}

func sideRuns(f gate.Finding, side string) []gate.RunPoint {
	return slices.DeleteFunc(slices.Clone(f.Runs), func(r gate.RunPoint) bool { return r.Side != side })
}

// levelLine is a series without points of its own: the fitted line of a constant is that constant, drawn where its side is.
func levelLine(s *gate.Side, color charts.Color, from, to, n int) charts.ScatterSeries {
	values := make([][]float64, n)
	if s != nil && to-from > 1 {
		for i := from; i < to; i++ {
			values[i] = []float64{s.Point}
		}
	}
	return charts.ScatterSeries{
		Values: values, Symbol: charts.Symbol{Size: 0.01},
		TrendLine: []charts.SeriesTrendLine{{Type: charts.SeriesTrendTypeLinear, LineStrokeWidth: 1.5, LineColor: color}},
	}
}

// curves draws one line a side over common labels.
func curves(title, unit string, labels []string, base, head []float64) (string, error) {
	var values []float64
	for _, v := range slices.Concat(base, head) {
		if v != charts.GetNullValue() {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return "", nil
	}
	p := painter(chartWide, chartHigh, baseline, headline)
	err := p.LineChart(charts.LineChartOption{
		Theme: theme(baseline, headline), Padding: charts.NewBox(6, 10, 14, 6), LineStrokeWidth: 2,
		SeriesList: charts.LineSeriesList{
			{Name: "base", Values: base, Symbol: charts.Symbol{Shape: charts.SymbolCircle, Size: 4}},
			{Name: "head", Values: head, Symbol: charts.Symbol{Shape: charts.SymbolDiamond, Size: 4}},
		},
		Legend: charts.LegendOption{Show: charts.Ptr(false)},
		XAxis:  charts.XAxisOption{Labels: labels, LabelCount: len(labels), BoundaryGap: charts.Ptr(true), LabelFontStyle: charts.NewFontStyleWithSize(chartFont)},
		YAxis:  []charts.YAxisOption{yAxis(values, unit, true)},
	})
	if err != nil {
		return "", fmt.Errorf("draw %q: %w", title, err)
	}
	desc := func(values []float64) string {
		var parts []string
		for i, v := range values {
			if v != charts.GetNullValue() {
				parts = append(parts, labels[i]+" "+Quantity(v, unit, 0))
			}
		}
		return strings.Join(parts, ", ")
	}
	return picture(p, title, "Base: "+desc(base)+". Head: "+desc(head)+".")
}

// curve draws the two series of a name in a scenario; empty when there are none.
func curve(v gate.Verdict, scenario, series, title string, label func(x float64, of int) string) (string, error) {
	var xs []float64
	bySide := map[string]map[float64]float64{"base": {}, "head": {}}
	unit := ""
	for _, s := range v.Series {
		if s.Scenario != scenario || s.Name != series || bySide[s.Side] == nil {
			continue
		}
		unit = s.Unit
		for i, x := range s.X {
			xs = append(xs, x)
			bySide[s.Side][x] = s.Y[i]
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	labels := make([]string, len(xs))
	lines := map[string][]float64{}
	for i, x := range xs {
		labels[i] = label(x, len(xs))
		for side, values := range bySide {
			y, ok := values[x]
			if !ok {
				y = charts.GetNullValue()
			}
			lines[side] = append(lines[side], y)
		}
	}
	return curves(title, unit, labels, lines["base"], lines["head"])
}
