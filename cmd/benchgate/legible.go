package main

import (
	"regexp"
	"strings"
	"unicode"
)

// escape is what a terminal would obey: CSI and OSC sequences, ended or cut short, none longer than its line.
var escape = regexp.MustCompile(`(\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]?|\x1b\][^\x07\x1b\n]*(\x07|\x1b\\)?|\x1b.?`)

// legible is a text of some lines without what a terminal would obey: words of servers and of files may be in it. Line breaks
// and tabs stay; escape sequences, other control characters, and those that turn the direction of writing go.
func legible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, escape.ReplaceAllString(strings.ToValidUTF8(s, "�"), ""))
}
