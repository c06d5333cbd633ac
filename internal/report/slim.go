package report

import "strings"

// slim is the same picture of fewer elements, so that a page of hundreds opens: the points of a level line, which has none
// of its own, are left out, and the lines of the axes, each a path of the library's, are one path as far as they follow
// one another.
func slim(svg string) string {
	const open, end = `<path d="`, `" class="g"/>`
	var out strings.Builder
	lines := ""
	for tag := range strings.SplitAfterSeq(svg, ">") {
		line, ruled := strings.CutSuffix(tag, end)
		switch {
		case ruled && lines == "":
			lines = line
		case ruled:
			lines += " " + strings.TrimPrefix(line, open)
		case strings.HasPrefix(tag, "<circle ") && strings.Contains(tag, ` r="0.01"`):
		default:
			if lines != "" {
				out.WriteString(lines + end)
				lines = ""
			}
			out.WriteString(tag)
		}
	}
	return out.String()
}
