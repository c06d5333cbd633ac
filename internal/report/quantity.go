package report

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"

	"github.com/benchgate/benchgate/internal/bench"
)

// unsure is how many significant digits a number gets whose interval is unknown.
const unsure = 3

// Quantity writes a value of a unit (as bench.Unit has it) with a prefix, or as a percentage for a ratio. Half is the
// half-width of its interval in the same unit: no digit is printed that such an interval makes meaningless. Half 0 is
// unknown and gives three significant digits. A value that is no number is "–".
func Quantity(value float64, unit string, half float64) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return "–"
	}
	if unit == string(bench.Ratio) {
		return digits(value*100, half*100) + " %"
	}
	factor, prefix := scale(value, half, unit)
	return digits(value/factor, half/factor) + " " + prefix + unit
}

// scale picks the prefix. Times below a second go down to µs; rates go up to thousands.
func scale(value, half float64, unit string) (factor float64, prefix string) {
	size := math.Abs(value)
	if size == 0 {
		size = half
	}
	s := benchunit.CommonScale([]float64{size}, benchunit.Decimal)
	switch {
	case unit == string(bench.Seconds) && (s.Prefix == "m" || s.Prefix == "µ"):
		return s.Factor, s.Prefix
	case unit == string(bench.Seconds) && s.Prefix == "n":
		return 1e-6, "µ"
	}
	return 1, ""
}

// digits writes x with as many digits as ± half supports.
func digits(x, half float64) string { return plain(x, decimals(x, half)) }

// decimals is how many digits after the point ± half leaves: the last one is worth no more than half and no less than a
// tenth of it. Without half it is what three significant digits of x need.
func decimals(x, half float64) int {
	if !(half > 0) || math.IsInf(half, 0) {
		return significant(x, unsure)
	}
	return max(0, min(6, int(math.Ceil(-math.Log10(half)))))
}

// significant is how many decimals show x with n significant digits.
func significant(x float64, n int) int {
	if x == 0 {
		return 0
	}
	return max(0, min(9, n-1-int(math.Floor(math.Log10(math.Abs(x))))))
}

// plain writes a number without a sign on zero.
func plain(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}
