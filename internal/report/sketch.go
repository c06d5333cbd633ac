package report

import (
	"math"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
)

// cells is the width of an interval drawn in text.
const cells = 46

// sketch draws the interval of each compared finding in monospaced text, one a line, on a common scale. The head has the
// scale, the foot explains the characters. The scenario is named where there are several.
func sketch(findings []gate.Finding) (head string, lines []string, foot string) {
	findings = slices.DeleteFunc(slices.Clone(findings), func(f gate.Finding) bool { return f.Change == nil })
	if len(findings) == 0 {
		return "", nil, ""
	}
	a := axisOf(findings)
	alone := oneScenario(findings)
	label := func(f gate.Finding) string {
		s := lookOf(f.Outcome).Sign + " "
		if !alone {
			s += cut(name(f.Scenario), 24) + " "
		}
		return s + cut(name(f.Metric), 16)
	}
	wide := 0
	for _, f := range findings {
		wide = max(wide, len([]rune(label(f))))
	}
	margin := pad("", wide+2)
	head = strings.TrimRight(margin+directions(a), " ") + "\n" + strings.TrimRight(margin+scaleLine(a), " ") + "\n"
	for _, f := range findings {
		lines = append(lines, strings.TrimRight(mute(pad(label(f), wide))+"  "+strip(a, f), " ")+"\n")
	}
	return head, lines, key(findings, strings.Join(lines, ""))
}

// key explains the characters that are drawn, in lines that are no longer than the drawing.
func key(findings []gate.Finding, drawn string) string {
	lines := "│ no change"
	if slices.ContainsFunc(findings, func(f gate.Finding) bool { return f.Tolerance != nil }) {
		lines += "   ┊ tolerance"
	}
	if slices.ContainsFunc(findings, func(f gate.Finding) bool { return f.RuleOut != nil }) {
		lines += "   ╎ rule-out"
	}
	lines += "\n├─●─┤ change with its interval"
	if strings.ContainsAny(drawn, "◂▸") {
		lines += "   ◂ ▸ goes on"
	}
	return "\n" + lines + "\n"
}

// directions says on which side of no change lies what.
func directions(a axis) string {
	const better, worse = "← better", "worse →"
	line := []rune(strings.Repeat(" ", cells))
	zero := cellOf(a.at(0))
	if from := zero - len([]rune(better)) - 1; from >= 0 {
		copy(line[from:], []rune(better))
	}
	if from := zero + 2; from+len([]rune(worse)) <= cells {
		copy(line[from:], []rune(worse))
	}
	return string(line)
}

// cellOf is the cell of a place.
func cellOf(at float64) int { return int(math.Round(at * (cells - 1))) }

// scaleLine has the ticks: "−20 %   −10      0      10     25".
func scaleLine(a axis) string {
	line := []rune(strings.Repeat(" ", cells))
	put := func(at int, text string) {
		r := []rune(text)
		at = max(0, min(cells-len(r), at-len(r)/2))
		copy(line[at:], r)
	}
	for _, t := range a.ticks(0.13) {
		text := minus(plain(t*100, 0))
		if t == 0 {
			text = "0 %"
		}
		put(cellOf(a.at(t)), text)
	}
	return string(line)
}

// strip draws one interval. Lines that lie inside it show through.
func strip(a axis, f gate.Finding) string {
	line := []rune(strings.Repeat(" ", cells))
	low, cutLow := a.clip(f.Change.WorseLow)
	high, cutHigh := a.clip(f.Change.WorseHigh)
	from, to := cellOf(low), cellOf(high)
	for i := from; i <= to; i++ {
		line[i] = '─'
	}
	line[from], line[to] = '├', '┤'
	mark := func(worse *float64, r rune) {
		if worse == nil {
			return
		}
		if at, off := a.clip(*worse); !off {
			line[cellOf(at)] = r
		}
	}
	zero := 0.0
	mark(f.RuleOut, '╎')
	mark(f.Tolerance, '┊')
	mark(&zero, '│')
	if cutLow {
		line[from] = '◂'
	}
	if cutHigh {
		line[to] = '▸'
	}
	if at, off := a.clip(f.Change.Worse); !off {
		line[cellOf(at)] = '●'
	}
	return string(line)
}
