package config

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// The methods here turn a value of the file into a number or a word. A key that the file does not have gives the
// fallback; a bad value is noted, and gives the fallback too, so that reading goes on and finds every mistake at once.

func (r *reader) failed(s scalar, f *fault) bool {
	if f == nil {
		return false
	}
	r.fail(s.node, f.message, f.hint)
	return true
}

// maxText is the length of any text; no name, path or reason comes near.
const maxText = 4096

func (r *reader) text(t text, fallback string) string {
	if !t.given() {
		return fallback
	}
	s := t.written()
	switch {
	case strings.TrimSpace(s) == "":
		r.fail(t.node, "it is empty", "give it a value, or delete the key")
	case len(s) > maxText:
		r.fail(t.node, fmt.Sprintf("longer than %d bytes", maxText), "shorten it")
	case strings.ContainsFunc(s, func(c rune) bool { return unicode.IsControl(c) && c != '\t' && c != '\n' }):
		r.fail(t.node, "it holds a control character", "delete it")
	default:
		return s
	}
	return fallback
}

// argument reads text for a program, which may be empty.
func (r *reader) argument(a argument) string {
	s := a.written()
	if len(s) > maxText || strings.ContainsRune(s, 0) {
		r.fail(a.node, fmt.Sprintf("longer than %d bytes, or with a zero byte", maxText), "shorten it")
	}
	return s
}

// texts reads a list; a mistake in an entry is noted at the entry.
func (r *reader) texts(list []text) []string {
	var all []string
	for _, t := range list {
		all = append(all, r.text(t, "?"))
	}
	return all
}

func (r *reader) word(w word, fallback string, words ...string) string {
	if !w.given() {
		return fallback
	}
	s := w.written()
	if slices.Contains(words, s) {
		return s
	}
	hint := "write " + strings.Join(words, " or ")
	if near := nearest(s, words); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.fail(w.node, quote(s)+" is not understood", hint)
	return fallback
}

var goodName = regexp.MustCompile(namePattern)

const nameHint = "a name is made of a-z, 0-9 and -, begins with a letter or digit, and has at most 40 characters"

func (r *reader) label(l label) string {
	s := l.written()
	if l.given() && !goodName.MatchString(s) {
		r.fail(l.node, quote(s)+" is no name", nameHint)
	}
	return s
}

func (r *reader) flag(f flag, fallback bool) bool {
	if !f.given() {
		return fallback
	}
	switch s := f.written(); {
	case s == "true" && !f.quoted():
		return true
	case s == "false" && !f.quoted():
		return false
	default:
		r.fail(f.node, quote(s)+" is neither true nor false", "write true or false, without quotes")
	}
	return fallback
}

func (r *reader) count(c count, fallback, least, greatest int) int {
	if !c.given() {
		return fallback
	}
	v, f := c.parseCount()
	switch {
	case r.failed(c.scalar, f):
	case v < least:
		r.fail(c.node, fmt.Sprintf("%d is too small", v), fmt.Sprintf("write %d or more", least))
	case v > greatest:
		r.fail(c.node, fmt.Sprintf("%d is too large", v), fmt.Sprintf("write %d or less", greatest))
	default:
		return v
	}
	return fallback
}

func (r *reader) positive(n number, fallback float64) float64 {
	v := r.atLeast(n, fallback, 0)
	if n.given() && v == 0 {
		r.fail(n.node, n.written()+" is not more than 0", "write a positive number")
		return fallback
	}
	return v
}

func (r *reader) atLeast(n number, fallback, least float64) float64 {
	if !n.given() {
		return fallback
	}
	v, f := n.parseNumber()
	switch {
	case r.failed(n.scalar, f):
	case v < least:
		r.fail(n.node, n.written()+" is negative", "write it without the minus sign")
	default:
		return math.Abs(v) // no minus zero
	}
	return fallback
}

// seconds reads a positive duration.
func (r *reader) seconds(d duration, fallback float64) float64 {
	if !d.given() {
		return fallback
	}
	v, f := parseDuration(d.written())
	switch {
	case r.failed(d.scalar, f):
	case toDuration(v) <= 0:
		r.fail(d.node, quote(d.written())+" is no time at all", "write a duration longer than 0")
	default:
		return v
	}
	return fallback
}

func (r *reader) duration(d duration, fallback time.Duration) time.Duration {
	if !d.given() {
		return fallback
	}
	return toDuration(r.seconds(d, fallback.Seconds()))
}

// pause reads a duration that may be 0s.
func (r *reader) pause(d duration, fallback time.Duration) time.Duration {
	if !d.given() {
		return fallback
	}
	v, f := parseDuration(d.written())
	if r.failed(d.scalar, f) {
		return fallback
	}
	return toDuration(v)
}

func toDuration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// bounds of a percentage, as fractions. above excludes the lower one.
type bounds struct {
	least, greatest float64
	above           bool
}

func (b bounds) fault(v float64, written string) *fault {
	switch {
	case b.above && v <= b.least:
		return &fault{fmt.Sprintf("%s is not more than %g%%", quote(written), 100*b.least), "write a larger percentage"}
	case v < b.least:
		return &fault{fmt.Sprintf("%s is less than %g%%", quote(written), 100*b.least), "write a larger percentage"}
	case v > b.greatest:
		return &fault{fmt.Sprintf("%s is more than %g%%", quote(written), 100*b.greatest), "write a smaller percentage"}
	}
	return nil
}

func (r *reader) percent(p percent, fallback float64, b bounds) float64 {
	if !p.given() {
		return fallback
	}
	v, f := parsePercent(p.written())
	if f == nil {
		f = b.fault(v, p.written())
	}
	if r.failed(p.scalar, f) {
		return fallback
	}
	return v
}

// share reads a percentage or, of a ratio, points; both are fractions.
func (r *reader) share(s share, ratio bool, fallback float64, b bounds) float64 {
	if !s.given() {
		return fallback
	}
	v, points := parsePoints(s.written())
	var f *fault
	switch {
	case points && !ratio:
		f = &fault{quote(s.written()) + " is for ratios", "the change of a time or a rate is a percentage: 5%"}
	case !points:
		v, f = parsePercent(s.written())
	}
	if f != nil && ratio && bareNumber.MatchString(s.written()) {
		f.hint = "write " + s.written() + " points, or " + bareHint(s.written())
	}
	if f == nil {
		f = b.fault(v, s.written())
	}
	if r.failed(s.scalar, f) {
		return fallback
	}
	return v
}
