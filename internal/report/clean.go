package report

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/benchgate/benchgate/internal/terminal"
)

// Lengths, in characters, to which foreign text is cut. The verdict itself holds all of it.
const (
	longName = 80
	longText = 700
)

// command is what the log readers of GitHub and Azure look for inside a line.
var command = regexp.MustCompile(`##\[|##vso\[`)

// clean makes text of a stranger fit for one line: valid UTF-8, no escape sequences, control, format (direction, zero width)
// or private characters, single spaces, at most so many characters, and no command to whoever reads the log.
func clean(s string, most int) string {
	s = terminal.Strip(strings.ToValidUTF8(s, "�"))
	s = strings.Map(func(r rune) rune {
		switch {
		case r > ' ' && r < unicode.MaxASCII:
			return r
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return ' '
		case unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, s)
	s = cut(strings.Join(strings.Fields(s), " "), most)
	if !strings.Contains(s, "##") {
		return s
	}
	return command.ReplaceAllStringFunc(s, func(c string) string { return "# " + c[1:] })
}

// cut keeps at most so many characters, the last one telling that there were more.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func name(s string) string  { return clean(s, longName) }
func prose(s string) string { return clean(s, longText) }

// mute breaks the two colons at the start of a line, which a log reader would obey.
func mute(line string) string {
	body := strings.TrimLeft(line, " ")
	if rest, ok := strings.CutPrefix(body, "::"); ok {
		return line[:len(line)-len(body)] + ": :" + rest
	}
	return line
}
