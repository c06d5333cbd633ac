package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

// decimals is how many digits after the point mean something for a number known to within ± half: the last one is worth
// no more than half and no less than a tenth of it, so 31 ± 18 has none and 3.1 ± 0.9 has one.
func decimals(half float64) int {
	if !(half > 0) || math.IsInf(half, 0) {
		return 1
	}
	return max(0, min(3, int(math.Ceil(-math.Log10(half)))))
}

// format writes a number without a sign on zero.
func format(x float64, digits int) string {
	if math.Abs(x) >= 1e12 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	s := strconv.FormatFloat(x, 'f', digits, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

// percent writes a fraction that was given, not estimated: a tolerance, a limit.
func percent(x float64) string { return strconv.FormatFloat(roundTo(x*100, 4), 'f', -1, 64) + " %" }

// estimated writes a fraction as a percentage with the digits that an uncertainty of ± half leaves.
func estimated(x, half float64) string { return format(x*100, decimals(half*100)) + " %" }

func roundTo(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}

// count writes a number with its noun: "1 run", "3 runs".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// quote makes text of a stranger fit for one line.
func quote(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}

// tongue says how a change of a metric is spoken of.
type tongue struct {
	worse, better string
	unit          string
}

func speak(m bench.Metric) tongue {
	switch {
	case m.Unit == bench.Ratio && m.HigherBetter():
		return tongue{"lower", "higher", " points"}
	case m.Unit == bench.Ratio:
		return tongue{"higher", "lower", " points"}
	case m.Unit == bench.Seconds:
		return tongue{"slower", "faster", " %"}
	}
	return tongue{"worse", "better", " %"}
}

// change says a worsening (negative: an improvement) with so many digits: "31 % slower".
func (t tongue) change(worse float64, digits int) string {
	word := t.worse
	if worse < 0 && strings.Trim(format(worse*100, digits), "-0.") != "" {
		word = t.better
	}
	return format(math.Abs(worse)*100, digits) + t.unit + " " + word
}

// asked says a change that a rule named, with the digits it was named with.
func (t tongue) asked(worse float64) string {
	return strconv.FormatFloat(roundTo(worse*100, 4), 'f', -1, 64) + t.unit
}

// span says an interval of worsenings: "from 8 % faster to 34 % slower", "from 9 % to 31 % slower".
func (t tongue) span(c *Change) string {
	d := c.digits()
	low, high := c.WorseLow, c.WorseHigh
	if high < 0 {
		low, high = high, low
	}
	from, to := t.change(low, d), t.change(high, d)
	if i := strings.LastIndex(from, " "); strings.HasSuffix(to, from[i:]) {
		from = from[:i]
	}
	return "from " + from + " to " + to
}

// most says the largest worsening that the interval leaves, rounded up so that the sentence stays true.
func (t tongue) most(c *Change) string {
	d := c.digits()
	scale := math.Pow10(d)
	up := math.Ceil(c.WorseHigh*100*scale-1e-6) / scale / 100
	if up < 0 {
		return "at least " + t.change(up, d)
	}
	return "at most " + t.change(up, d)
}

// digits is how many decimals a percentage of this change deserves.
func (c *Change) digits() int { return decimals((c.WorseHigh - c.WorseLow) / 2 * 100) }

// amount writes a value of a metric with its unit and the digits that an uncertainty of ± half leaves.
func amount(x, half float64, unit bench.Unit) string {
	switch {
	case unit == bench.Ratio:
		return estimated(x, half)
	case unit == bench.Seconds && math.Abs(x) < 1:
		return format(x*1000, decimals(half*1000)) + " ms"
	}
	return format(x, decimals(half)) + " " + string(unit)
}

// given writes a limit as a rule names it.
func given(x float64, unit bench.Unit) string {
	switch {
	case unit == bench.Ratio:
		return percent(x)
	case unit == bench.Seconds && math.Abs(x) < 1:
		return strconv.FormatFloat(roundTo(x*1000, 6), 'f', -1, 64) + " ms"
	}
	return strconv.FormatFloat(roundTo(x, 6), 'f', -1, 64) + " " + string(unit)
}

// list joins at most n parts and says how many more there are.
func list(parts []string, n int) string {
	if len(parts) > n {
		return strings.Join(parts[:n], "; ") + fmt.Sprintf("; and %d more", len(parts)-n)
	}
	return strings.Join(parts, "; ")
}
