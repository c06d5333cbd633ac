package github

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	// commentBytes is what a comment holds in all: GitHub takes 65,536 characters.
	commentBytes = 60_000
	// commentShort is what is tried once where GitHub finds the text too long all the same.
	commentShort = 2_000
	// sectionLeast is what a section of ours gets, whatever other jobs have written.
	sectionLeast = 2_000
	// sectionShort is what a section gets in a short comment of many.
	sectionShort = 200
	// moreBytes is room for the line that says how many sections are left out.
	moreBytes = 100
)

// section is one runner's part of a comment.
type section struct {
	mark
	name string // as safeName has it
	rank int
	text string
}

func (s section) start() string {
	return "<!-- benchgate-section:" + s.name + " " + s.mark.String() + " rank=" + strconv.Itoa(s.rank) + " -->"
}

func (s section) end() string { return "<!-- benchgate-end:" + s.name + " -->" }

func (s section) String() string { return s.start() + "\n" + s.text + "\n" + s.end() }

// inert is a text that opens no marker of ours.
func inert(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.ReplaceAll(strings.TrimRight(text, " \r\n"), "<!-- benchgate", "&lt;!-- benchgate")
}

// sectionsOf reads the sections of a comment that this program wrote; what it cannot read it leaves out.
func sectionsOf(body string) []section {
	lines := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	var all []section
	for len(lines) > 0 {
		s, rest, ok := readSection(lines)
		if !ok {
			lines = lines[1:]
			continue
		}
		lines = rest
		all = append(all, s)
	}
	return all
}

// readSection reads the section that begins with the first of these lines, and returns the lines after it.
func readSection(lines []string) (s section, rest []string, ok bool) {
	m := sectionStart.FindStringSubmatch(lines[0])
	if m == nil {
		return section{}, nil, false
	}
	at, ok := readMark(m[2:5])
	rank, err := strconv.Atoi(m[5])
	s = section{mark: at, name: m[1], rank: rank}
	length := slices.Index(lines[1:], s.end())
	if !ok || err != nil || length < 0 {
		return section{}, nil, false
	}
	s.text = strings.Join(lines[1:1+length], "\n")
	return s, lines[length+2:], true
}

// composed tells whether a comment with this marker is built as compose builds one: below its first line there is nothing but
// sections, a line between them, and the word on those that were left out; the newest of them is as new as the marker.
func composed(body string, m mark) bool {
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(body, "\r\n", "\n"), " \n"), "\n")[1:]
	newest := false
	for len(lines) > 0 {
		s, rest, ok := readSection(lines)
		switch {
		case !ok:
			return newest && len(lines) == 1 && leftOut.MatchString(lines[0])
		case s.newer(m) || len(rest) == 1 || len(rest) > 1 && rest[0] != "":
			return false
		}
		newest = newest || !m.newer(s.mark)
		if len(rest) == 0 {
			return newest
		}
		lines = rest[1:]
	}
	return false
}

// leftOut is the line that compose ends with where there is no room for all sections.
var leftOut = regexp.MustCompile(`^\*And \d{1,9} more: the summary of this job has them\.\*$`)

// compose writes a comment of our sections and of those that other jobs wrote, within so many bytes.
func (p Post) compose(others []section, limit int) string {
	top := p.Job.mark()
	for _, o := range others {
		if o.newer(top) {
			top.run, top.attempt = o.run, o.attempt
		}
	}
	head := "<!-- benchgate:" + safeName(p.Key) + " " + top.String() + " -->"
	others = fitting(slices.Clone(others), limit-len(head)-sectionLeast*len(p.Sections))
	room := limit - len(head)
	for _, o := range others {
		room -= len(o.String()) + 2
	}
	own := p.render(room)
	all := append(slices.Clone(own), others...)
	slices.SortStableFunc(all, func(a, b section) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.name, b.name))
	})
	parts := make([]string, len(all))
	for i, s := range all {
		parts[i] = s.String()
	}
	if n := len(p.Sections) - len(own); n > 0 {
		parts = append(parts, "*And "+strconv.Itoa(n)+" more: the summary of this job has them.*")
	}
	return head + "\n" + strings.Join(parts, "\n\n") + "\n"
}

// render writes our sections into so many bytes: each gets an equal share of what those before it have left. Those that
// come last are left out where not even the shortest of texts fits.
func (p Post) render(room int) []section {
	var all []section
	room -= moreBytes
	for i, s := range p.Sections {
		one := section{mark: p.Job.mark(), name: safeName(s.Name), rank: s.Rank}
		share := max(room/(len(p.Sections)-i)-len(one.String())-2, sectionShort)
		if i > 0 && room < len(one.String())+share+2 {
			break
		}
		one.text = cutBytes(inert(s.Render(share)), share)
		room -= len(one.String()) + 2
		all = append(all, one)
	}
	return all
}

// fitting leaves the longest sections of other jobs out, and says so in their place, until they fit.
func fitting(others []section, room int) []section {
	size := 0
	for _, o := range others {
		size += len(o.String()) + 2
	}
	for size > room {
		longest := 0
		for i := range others {
			if len(others[i].text) > len(others[longest].text) {
				longest = i
			}
		}
		const left = "*There is no room here for this part: the summary of its job has it.*"
		if len(others) == 0 || len(others[longest].text) <= len(left) {
			break
		}
		size -= len(others[longest].text) - len(left)
		others[longest].text = left
	}
	return others
}
