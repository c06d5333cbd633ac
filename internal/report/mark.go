package report

import (
	"regexp"
	"strings"
)

// code puts foreign text in a code span: there are no mentions, references, links, images nor HTML in one. The fence is
// longer than any in the text.
func code(s string) string {
	if s == "" {
		return ""
	}
	f := fence(s, 1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return f + s + f
}

// fence is the shortest row of backticks, at least so many, that does not stand in the text.
func fence(s string, least int) string {
	f := strings.Repeat("`", least)
	for strings.Contains(s, f) {
		f += "`"
	}
	return f
}

// bars are what ends a cell.
var bars = strings.NewReplacer(`\|`, `\ \|`, "|", `\|`)

// cell makes markdown fit for a table: a pipe ends a cell even in a code span, unless a backslash stands before it that no
// other backslash escapes.
func cell(s string) string { return bars.Replace(s) }

var (
	// spans are what stands in a code span as it is: text that strconv.Quote wrote, commands of ours to be copied, and keys of
	// benchgate.yaml with a word that one may have.
	spans = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\b(?:campaign|gate|load|target)(?:\.[a-z_]+|\[\d+\])+(?:: (?:committed|interleaved|confirm|fail|warn)\b)?|\bbenchgate(?: (?:run|init|gate|doctor|calibrate|baseline(?: (?:accept|list|show|verify|rm))?)\b)(?: --scenario [a-z0-9-]+| --[a-z-]+(?: [A-Z]+\b)?| [A-Z]+\b)*`)
	// risky is a word that markdown, or what GitHub makes of it, could take for more than a word.
	risky = regexp.MustCompile("[@<>\\[\\]`#|\\\\_*~&$]|://|(?i:www\\.)|:[0-9A-Za-z+-]|(?i:\\bgh-)|\\b[0-9a-fA-F]{7,64}\\b")
	// leading is a first word that could begin a list, a rule, or a command to whoever reads the log.
	leading = regexp.MustCompile(`^([-+=>:]|\d+[.)]$)`)
)

// inline writes a sentence of ours in which foreign words may stand: what was quoted, our commands and keys, and every
// risky word become code spans; the rest holds nothing that could be taken for markup.
func inline(s string) string {
	var b strings.Builder
	rest := s
	for rest != "" {
		at := spans.FindStringIndex(rest)
		if at == nil {
			at = []int{len(rest), len(rest)}
		}
		for _, part := range []string{words(rest[:at[0]], b.Len() == 0), code(rest[at[0]:at[1]])} {
			if strings.HasSuffix(b.String(), "`") && strings.HasPrefix(part, "`") {
				b.WriteString(" ") // else the two fences were one
			}
			b.WriteString(part)
		}
		rest = rest[at[1]:]
	}
	return b.String()
}

// words puts runs of risky words in code spans, each without the punctuation around it.
func words(s string, first bool) string {
	var out, span []string
	flush := func() {
		if len(span) > 0 {
			text := strings.Join(span, " ")
			body := strings.TrimRight(strings.TrimLeft(text, "(“"), ".,;:)”")
			if risky.MatchString(strings.Replace(text, body, "", 1)) || body == "" {
				body = text
			}
			before, after, _ := strings.Cut(text, body)
			out = append(out, before+code(body)+after)
			span = nil
		}
	}
	for i, w := range strings.Split(s, " ") {
		core := strings.Trim(w, ".,;:()“”")
		if risky.MatchString(w) || risky.MatchString(core) || first && i == 0 && leading.MatchString(w) && w != "" {
			span = append(span, w)
			continue
		}
		flush()
		out = append(out, w)
	}
	flush()
	return strings.Join(out, " ")
}
