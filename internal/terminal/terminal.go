// Package terminal knows the escape sequences that a terminal would obey in a foreign text.
package terminal

import (
	"regexp"
	"strings"
)

// escape is a CSI or OSC sequence, ended or cut short, none longer than its line, or another escape.
var escape = regexp.MustCompile(`(\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]?|\x1b\][^\x07\x1b\n]*(\x07|\x1b\\)?|\x1b.?`)

// Strip is a text without its escape sequences. Single control characters stay, but for escapes. Where there are any, bytes that
// are no text become U+FFFD: two of them could be an escape once what stood between is gone.
func Strip(s string) string {
	if !strings.ContainsAny(s, "\x1b\u009b") {
		return s
	}
	return escape.ReplaceAllString(strings.ToValidUTF8(s, "\ufffd"), "")
}
