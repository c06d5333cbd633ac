package report

import (
	"strings"
	"unicode"

	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/terminal"
)

// Trouble is why there is no verdict. Its texts may hold foreign words.
type Trouble struct {
	// File is the one that cannot be read; empty where that is not the trouble.
	File string
	// Text is the error as a terminal shows it, of some lines: a caret points at what stands above it.
	Text string
	// Next is what to do; empty where the text says it.
	Next string
	// Runner is whose verdict is missing; empty where it is of none in particular.
	Runner string
}

// Lengths to which an error is cut.
const (
	mostLines   = 60
	longestLine = 200 // characters
)

// Markdown renders the trouble for a comment or for a job's summary: at most limit bytes, and never more characters than GitHub
// takes. Its last lines are cut first.
func (t Trouble) Markdown(limit int) string {
	most := size{limit, min(limit, mostCharacters)}
	title := "## " + lookOf(gate.Invalid).Emoji + " benchgate: "
	if t.File != "" {
		title += code(clean(t.File, longName)) + " cannot be read"
	} else {
		title += "no verdict"
	}
	if t.Runner != "" {
		title += " on " + code(clean(t.Runner, 40))
	}
	title += "\n\nNothing could be decided.\n"
	next := ""
	if t.Next != "" {
		next = "\n**Next:** " + inline(prose(t.Next)) + "\n"
	}
	lines := literal(t.Text)
	for n := len(lines); n > 0; n-- {
		if text := title + t.block(lines[:n], len(lines)) + next; sizeOf(text).within(most) {
			return text
		}
	}
	return cutBytes(title, most)
}

// block is the first lines of a text as they stand.
func (t Trouble) block(lines []string, all int) string {
	if len(lines) < all {
		lines = append(lines[:len(lines):len(lines)], "…")
	}
	f := fence(strings.Join(lines, "\n"), 3)
	return "\n" + f + "text\n" + strings.Join(lines, "\n") + "\n" + f + "\n"
}

// literal is a text of a stranger line by line: spaces stay, so that a caret stands where it stood, and what a terminal or a
// log reader would obey goes.
func literal(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		line = strings.Map(func(r rune) rune {
			switch {
			case r == '\t':
				return ' '
			case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
				return -1
			}
			return r
		}, terminal.Strip(strings.ToValidUTF8(line, "�")))
		line = command.ReplaceAllStringFunc(cut(line, longestLine), func(c string) string { return "# " + c[1:] })
		if lines = append(lines, strings.TrimRight(mute(line), " ")); len(lines) > mostLines {
			return append(lines[:mostLines], "…")
		}
	}
	return lines
}
