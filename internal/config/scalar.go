package config

import (
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// scalar is one value of the file, as written and with its place. The zero value is a key that the file does not have.
type scalar struct{ node ast.Node }

// UnmarshalYAML keeps the node: what it means is decided later, where a mistake can be shown with its line.
func (s *scalar) UnmarshalYAML(n ast.Node) error {
	s.node = n
	return nil
}

func (s scalar) given() bool { return s.node != nil }

// written is the value as text.
func (s scalar) written() string {
	switch n := s.node.(type) {
	case nil:
		return ""
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	default:
		return n.GetToken().Value
	}
}

// quoted reports whether the value was written as text on purpose.
func (s scalar) quoted() bool {
	switch s.node.GetToken().Type {
	case token.SingleQuoteType, token.DoubleQuoteType, token.LiteralType, token.FoldedType:
		return true
	}
	return false
}

// The kinds of values. What each looks like stands in kinds.
type (
	text     struct{ scalar }
	argument struct{ scalar } // text for a program: a number needs no quotes
	word     struct{ scalar } // one of a few words
	label    struct{ scalar } // name of a runner or a scenario
	metric   struct{ scalar }
	count    struct{ scalar }
	number   struct{ scalar }
	shape    struct{ scalar } // number, or inf
	flag     struct{ scalar }
	duration struct{ scalar }
	percent  struct{ scalar }
	share    struct{ scalar } // percent, or points of a ratio
	limit    struct{ scalar } // duration, percent or number, as its metric wants; or off
	ceiling  struct{ scalar } // duration, or off
	portion  struct{ scalar } // percent, or off
	day      struct{ scalar }
)

// kind says what a value looks like: for people, and as patterns that the JSON Schema carries.
type kind struct {
	noun    string // "a duration such as 30s"
	json    string // type in JSON Schema; several separated by commas
	pattern string // of the text
	// verbatim text that looks like a number or a truth value has to be quoted: other readers of the file would take it
	// for one.
	verbatim bool
}

const (
	durationPattern = `^([0-9]+(\.[0-9]+)?(us|µs|ms|s|m|h|d))+$`
	percentPattern  = `^[0-9]+(\.[0-9]+)? ?%$`
	sharePattern    = `^[0-9]+(\.[0-9]+)? ?(%|points?)$`
	limitPattern    = `^(([0-9]+(\.[0-9]+)?(us|µs|ms|s|m|h|d))+|[0-9]+(\.[0-9]+)? ?%|off)$`
	ceilingPattern  = `^(([0-9]+(\.[0-9]+)?(us|µs|ms|s|m|h|d))+|off)$`
	portionPattern  = `^([0-9]+(\.[0-9]+)? ?%|off)$`
	namePattern     = `^[a-z0-9][a-z0-9-]{0,39}$`
	dayPattern      = `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`
	metricPattern   = `^[a-z0-9_]+\.[a-z0-9.]+$`
)

var kinds = map[reflect.Type]kind{
	reflect.TypeFor[text]():     {noun: "text", json: "string", verbatim: true},
	reflect.TypeFor[argument](): {noun: "text", json: "string,number,boolean"},
	reflect.TypeFor[word]():     {noun: "a word", json: "string"},
	reflect.TypeFor[label]():    {noun: "a name", json: "string", pattern: namePattern, verbatim: true},
	reflect.TypeFor[metric]():   {noun: "a metric such as ttft.p95", json: "string", pattern: metricPattern},
	reflect.TypeFor[count]():    {noun: "a whole number", json: "integer"},
	reflect.TypeFor[number]():   {noun: "a number", json: "number"},
	reflect.TypeFor[shape]():    {noun: "a number, or inf", json: "number,string", pattern: `^inf$`},
	reflect.TypeFor[flag]():     {noun: "true or false", json: "boolean"},
	reflect.TypeFor[duration](): {noun: "a duration such as 30s", json: "string", pattern: durationPattern},
	reflect.TypeFor[percent]():  {noun: "a percentage such as 5%", json: "string", pattern: percentPattern},
	reflect.TypeFor[share]():    {noun: "a percentage such as 5%", json: "string", pattern: sharePattern},
	reflect.TypeFor[limit]():    {noun: "a limit such as 500ms, 0.5% or 12.5", json: "number,string", pattern: limitPattern},
	reflect.TypeFor[ceiling]():  {noun: "a duration such as 25ms, or off", json: "string", pattern: ceilingPattern},
	reflect.TypeFor[portion]():  {noun: "a percentage such as 25%, or off", json: "string", pattern: portionPattern},
	reflect.TypeFor[day]():      {noun: "a day such as 2027-01-31", json: "string", pattern: dayPattern},
}

// fault is what is wrong with a value, without its place.
type fault struct{ message, hint string }

var (
	wholeNumber = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	realNumber  = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	bareNumber  = regexp.MustCompile(`^[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$`)
	oneDuration = regexp.MustCompile(`([0-9]+(?:\.[0-9]+)?)(us|µs|ms|s|m|h|d)`)
	allDuration = regexp.MustCompile(durationPattern)
	onePercent  = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?%$`)
	onePoints   = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?points?$`)
)

var units = map[string]float64{
	"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 24 * 3600,
}

const unitHint = "units are us, ms, s, m, h and d"

// century is the longest duration understood, in seconds.
const century = 100 * 365.25 * 24 * 3600

// parseDuration reads 30s, 1h30m or 1.5d; the result is in seconds.
func parseDuration(s string) (float64, *fault) {
	switch {
	case strings.HasPrefix(s, "-"):
		return 0, &fault{quote(s) + " is negative", "a duration is positive: 30s"}
	case bareNumber.MatchString(s):
		return 0, &fault{quote(s) + " has no unit", "say whether it is " + s + "ms, " + s + "s or " + s + "m; " + unitHint}
	case !allDuration.MatchString(s):
		return 0, &fault{quote(s) + " is no duration", "write it like 30s, 500ms or 1h30m; " + unitHint}
	}
	sum := 0.0
	for _, m := range oneDuration.FindAllStringSubmatch(s, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return 0, &fault{quote(s) + " is no duration", unitHint}
		}
		sum += v * units[m[2]]
	}
	if sum > century {
		return 0, &fault{quote(s) + " is too long", "a hundred years is the limit"}
	}
	return sum, nil
}

// parsePercent reads 5%; the result is a fraction.
func parsePercent(s string) (float64, *fault) {
	if m := onePercent.FindStringSubmatch(s); m != nil {
		return hundredth(m[1]), nil
	}
	switch {
	case strings.HasPrefix(s, "-"):
		return 0, &fault{quote(s) + " is negative", "write it without the minus sign"}
	case bareNumber.MatchString(s):
		return 0, &fault{quote(s) + " has no unit", "write " + bareHint(s)}
	}
	return 0, &fault{quote(s) + " is no percentage", "write it like 5% or 0.5%"}
}

// bareHint offers what a bare number may have meant: 5 is 5%, 0.05 is 5% or 0.05%.
func bareHint(s string) string {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v <= 0 || v >= 1 {
		return s + "%"
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e4, 'f', -1, 64) + "% (or " + s + "%, if that is what you mean)"
}

// parsePoints reads "3 points"; the result is a fraction.
func parsePoints(s string) (float64, bool) {
	m := onePoints.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	return hundredth(m[1]), true
}

// hundredth shifts the decimal point in the text: 0.7 / 100 is not the double nearest to 0.007.
func hundredth(digits string) float64 {
	v, err := strconv.ParseFloat(digits+"e-2", 64)
	if err != nil {
		return math.Inf(1)
	}
	return v
}

func (s scalar) parseNumber() (float64, *fault) {
	w := s.written()
	switch {
	case s.quoted():
		return 0, &fault{quote(w) + " is text", "write the number without quotes"}
	case isInfinite(w):
		return 0, &fault{w + " is not a number to plan with", "write a finite number"}
	case !realNumber.MatchString(w):
		return 0, &fault{quote(w) + " is no number", "write it like 8 or 0.5, without a unit and without underscores"}
	}
	v, err := strconv.ParseFloat(w, 64)
	if err != nil {
		return 0, &fault{quote(w) + " is out of range", "write a finite number"}
	}
	return v, nil
}

func (s scalar) parseCount() (int, *fault) {
	w := s.written()
	switch {
	case s.quoted():
		return 0, &fault{quote(w) + " is text", "write the number without quotes"}
	case !wholeNumber.MatchString(w):
		return 0, &fault{quote(w) + " is no whole number", "write it like 160, without a unit and without underscores"}
	}
	v, err := strconv.Atoi(w)
	if err != nil {
		return 0, &fault{quote(w) + " is out of range", "write a smaller number"}
	}
	return v, nil
}

func isInfinite(s string) bool {
	switch strings.ToLower(strings.TrimLeft(s, "+-.")) {
	case "inf", "infinity", "∞":
		return true
	}
	return false
}

func parseDay(s string) (time.Time, *fault) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return time.Time{}, &fault{quote(s) + " is no day", "write it like 2027-01-31; the waiver holds to the end of that day, UTC"}
	}
	return t, nil
}
