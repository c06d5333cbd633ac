package main

import (
	"strings"
	"unicode"

	"github.com/benchgate/benchgate/internal/terminal"
)

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
	}, terminal.Strip(strings.ToValidUTF8(s, "�")))
}
