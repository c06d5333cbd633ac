package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// direction are the words for a worsening of a finding's metric and for its opposite.
func direction(f gate.Finding) (worse, better string) {
	switch {
	case f.Unit == string(bench.Seconds):
		return "slower", "faster"
	case f.Unit == string(bench.Ratio) && f.Better == "lower":
		return "higher", "lower"
	case f.Unit == string(bench.Ratio):
		return "lower", "higher"
	}
	return "worse", "better"
}

// half is the half-width of a change's interval, as a fraction.
func half(c *gate.Change) float64 { return (c.WorseHigh - c.WorseLow) / 2 }

// minus writes a number with a real minus sign.
func minus(s string) string { return strings.Replace(s, "-", "−", 1) }

// change says a change with its interval, both in the direction of the word: "31 % slower (24 to 38 %)",
// "4 % faster (−2 to 10 %)", "3.2 points lower (1.1 to 5.3)".
func change(f gate.Finding) string {
	c := f.Change
	if c == nil {
		return ""
	}
	word, better := direction(f)
	point, low, high, h := c.Worse*100, c.WorseLow*100, c.WorseHigh*100, half(c)*100
	if point < 0 && digits(point, h) != digits(0, h) {
		word = better
		point, low, high = -point, -high, -low
	}
	unit, end := " %", " %"
	if c.Points {
		unit, end = " points", ""
	}
	return fmt.Sprintf("%s%s %s (%s to %s%s)", minus(digits(point, h)), unit, word, minus(digits(low, h)), minus(digits(high, h)), end)
}

// sides says both values in one unit: "381 → 497 ms"; a side that is not there is "–". Their digits are those that the
// interval of the comparison, or of the share held to a limit, supports.
func sides(f gate.Finding) string {
	if f.Base == nil && f.Head == nil {
		return ""
	}
	like := f.Head
	if like == nil {
		like = f.Base
	}
	h := resolution(f, *like)
	say := func(s *gate.Side) string {
		if s == nil {
			return "–"
		}
		return bare(s.Point, like.Point, f.Unit, h)
	}
	_, unit := split(like.Point, f.Unit, h)
	if f.Head == nil {
		return say(f.Base) + " " + unit + " → –"
	}
	return say(f.Base) + " → " + say(f.Head) + " " + unit
}

// resolution is the half-width to which the values of a finding are known; 0 when nothing tells.
func resolution(f gate.Finding, s gate.Side) float64 {
	switch {
	case s.Low != nil && s.High != nil:
		return (*s.High - *s.Low) / 2
	case f.Change != nil && f.Change.Points:
		return half(f.Change)
	case f.Change != nil:
		return half(f.Change) / (1 + f.Change.Worse) * s.Point
	case f.Unit == string(bench.Ratio) && s.NRequests > 0:
		return 1 / float64(s.NRequests)
	}
	return 0
}

// span says what is known of the size of a finding: the change with its interval, or for a limit the interval of the value
// beside what it is held to, or how many requests a share is of.
func span(f gate.Finding) string {
	var parts []string
	s := f.Head
	switch {
	case f.Change != nil:
		return change(f)
	case s != nil && s.Low != nil && s.High != nil:
		h := (*s.High - *s.Low) / 2
		_, unit := split(s.Point, f.Unit, h)
		parts = append(parts, bare(*s.Low, s.Point, f.Unit, h)+" to "+bare(*s.High, s.Point, f.Unit, h)+" "+unit)
	case s != nil && s.NRequests > 0 && f.Unit == string(bench.Ratio):
		parts = append(parts, "n "+strconv.Itoa(s.NRequests))
	}
	if f.Min != nil {
		parts = append(parts, "min "+limit(f, *f.Min))
	}
	if f.Max != nil {
		parts = append(parts, "max "+limit(f, *f.Max))
	}
	return strings.Join(parts, "; ")
}

// split is the factor of a value's unit, and that unit with its prefix.
func split(like float64, unit string, half float64) (factor float64, name string) {
	if unit == string(bench.Ratio) {
		return 0.01, "%"
	}
	factor, prefix := scale(like, half, unit)
	return factor, prefix + unit
}

// bare is a value in the unit that another one is written in, without that unit, and with as many digits. Two are shown of
// a time or a rate however wide the interval: "1 → 3 s" would hide which change is meant.
func bare(value, like float64, unit string, half float64) string {
	factor, _ := split(like, unit, half)
	if unit == string(bench.Ratio) {
		return minus(digits(value/factor, half/factor))
	}
	return minus(plain(value/factor, max(decimals(like/factor, half/factor), significant(like/factor, 2))))
}

// asked says a fraction that someone wrote, or points where the finding's metric is a share.
func asked(f gate.Finding, x float64) string {
	s := strconv.FormatFloat(math.Round(x*1e6)/1e4, 'f', -1, 64)
	if f.Unit == string(bench.Ratio) {
		return s + " points"
	}
	return s + " %"
}

// limit says a limit that someone wrote, in the unit of the metric.
func limit(f gate.Finding, x float64) string {
	if f.Unit == string(bench.Ratio) {
		return strconv.FormatFloat(math.Round(x*1e8)/1e6, 'f', -1, 64) + " %"
	}
	factor, prefix := scale(x, 0, f.Unit)
	return strconv.FormatFloat(math.Round(x/factor*1e6)/1e6, 'f', -1, 64) + " " + prefix + f.Unit
}

// rule says what was asked, and where it stands.
func rule(f gate.Finding) string {
	var parts []string
	if f.Tolerance != nil {
		parts = append(parts, "tolerance "+asked(f, *f.Tolerance))
	}
	if f.RuleOut != nil {
		parts = append(parts, "rule-out "+asked(f, *f.RuleOut))
	}
	if f.Min != nil {
		parts = append(parts, "min "+limit(f, *f.Min))
	}
	if f.Max != nil {
		parts = append(parts, "max "+limit(f, *f.Max))
	}
	if f.Slack != nil {
		parts = append(parts, "slack "+asked(f, *f.Slack))
	}
	if f.SLO != nil {
		parts = append(parts, "SLO "+strings.Join(promises(f.SLO), " and "))
	}
	if f.Primary {
		parts = append(parts, "primary")
	}
	switch {
	case f.Rule.File != "" && f.Rule.Line > 0:
		parts = append(parts, name(f.Rule.File)+":"+strconv.Itoa(f.Rule.Line))
	case f.Rule.File != "":
		parts = append(parts, name(f.Rule.File))
	}
	return strings.Join(parts, ", ")
}

// detectable says the smallest worsening that such a comparison finds four times in five.
func detectable(f gate.Finding) string {
	if f.MDE80 == nil {
		return ""
	}
	m := *f.MDE80 * 100
	unit := " %"
	if f.Unit == string(bench.Ratio) {
		unit = " points"
	}
	if m >= 1000 {
		return "more than 1000" + unit
	}
	return digits(m, m/4) + unit
}

// chance writes the adjusted p with two digits.
func chance(c *gate.Change) string {
	switch {
	case c == nil:
		return ""
	case c.PHolm < 0.001:
		return "<0.001"
	case c.PHolm >= 0.1:
		return strconv.FormatFloat(c.PHolm, 'f', 2, 64)
	}
	return strconv.FormatFloat(c.PHolm, 'f', 1-int(math.Floor(math.Log10(c.PHolm))), 64)
}

// runs says how many runs stand on each side: "25/5", base first.
func runs(f gate.Finding) string {
	n := func(s *gate.Side) string {
		if s == nil {
			return "–"
		}
		return strconv.Itoa(s.NRuns)
	}
	if f.Base == nil && f.Head == nil {
		return ""
	}
	return n(f.Base) + "/" + n(f.Head)
}

// level is the confidence that the intervals of a verdict share, as "95 %"; empty when nothing was compared, or when they
// stand at different looks.
func level(v gate.Verdict) string {
	shared := ""
	for _, f := range v.Findings {
		if f.Change == nil || f.Change.Level <= 0 {
			continue
		}
		s := strconv.FormatFloat(math.Round(f.Change.Level*1e4)/100, 'f', -1, 64) + " %"
		if shared != "" && s != shared {
			return ""
		}
		shared = s
	}
	return shared
}

// count writes a number with its noun: "1 run", "3 runs".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// against says what the candidate was compared with.
func against(v gate.Verdict) string {
	b := v.Baseline
	if b == nil {
		return "no baseline"
	}
	s := stands(v) + ": " + count(b.Sessions, "session")
	if !v.At.IsZero() { // else there is no candidate
		s += ", newest " + older(b.AgeDays) + " than the candidate"
	}
	var origin []string
	for _, x := range [][2]string{{"commit ", short(b.Origin.Commit)}, {"engine ", b.Origin.Engine}, {"accepted by ", b.Origin.Who}} {
		if x[1] != "" {
			origin = append(origin, x[0]+name(x[1]))
		}
	}
	if b.Origin.Why != "" {
		origin = append(origin, "“"+name(b.Origin.Why)+"”")
	}
	if len(origin) > 0 {
		s += "; " + strings.Join(origin, ", ")
	}
	return s
}

// stands says where the baseline stands: of a commit, "baselines/h100-1x at 4f2a9c1".
func stands(v gate.Verdict) string {
	commit, ok := strings.CutPrefix(v.Baseline.Ref, "ref:")
	switch {
	case v.Baseline.Ref == "":
		return "baseline"
	case !ok && v.Baseline.Ref != baselines:
		return "baseline " + name(v.Baseline.Ref)
	}
	folder := baselines
	if v.Runner != "" {
		folder += "/" + name(v.Runner)
	}
	if ok {
		folder += " at " + fmt.Sprintf("%.7s", name(commit))
	}
	return folder
}

// baselines is the folder in which they stand, unless a verdict names another place.
const baselines = "baselines"

// hash is a commit, whole or shortened.
var hash = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// short is a commit as people write it; what is none stays as it is.
func short(commit string) string {
	if hash.MatchString(commit) {
		return commit[:7]
	}
	return commit
}

// age writes days; hours below one day, and no less than that.
// older says how much older; a baseline of the candidate's own campaign, or a newer one, has an age of 0.
func older(days float64) string {
	switch {
	case days == 0:
		return "not older"
	case days < 1.0/24:
		return "less than an hour older"
	case days < 1:
		return count(int(math.Round(days*24)), "hour") + " older"
	}
	return count(int(math.Round(days)), "day") + " older"
}

// notes are the warnings of a verdict, and those of its findings: each once, with the findings that it belongs to.
func notes(v gate.Verdict) []string {
	out := make([]string, 0, len(v.Warnings))
	for _, w := range v.Warnings {
		out = append(out, prose(w))
	}
	where := map[string][]string{}
	var order []string
	for _, f := range v.Findings {
		for _, w := range f.Warnings {
			if w = prose(w); len(where[w]) == 0 {
				order = append(order, w)
			}
			where[w] = append(where[w], name(f.Scenario)+" "+name(f.Metric))
		}
	}
	for _, w := range order {
		out = append(out, some(where[w], 4)+": "+w)
	}
	return out
}

// some joins at most n parts and says how many more there are.
func some(parts []string, n int) string {
	if len(parts) > n {
		return fmt.Sprintf("%s and %d more", strings.Join(parts[:n], ", "), len(parts)-n)
	}
	return strings.Join(parts, ", ")
}

const (
	saysSimulated = "These numbers come from the simulated server. They say nothing about a real one."
	saysDefaults  = "No config was given: the default rules were applied."
)
