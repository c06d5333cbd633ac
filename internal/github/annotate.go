package github

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	actions "github.com/sethvargo/go-githubactions"
)

// Annotation is one remark beside a line of a file, or beside the job where File is "".
type Annotation struct {
	Level   string // "error", "warning" or "notice"; anything else counts as a notice
	Title   string // "": none
	Message string
	File    string // relative to the root of the repository; "": none
	Line    int    // 1 and up; 0: the whole file
}

const (
	annotationsShown = 10 // GitHub shows this many of a level of one step, and 50 of a job
	annotationRunes  = 2000
	titleRunes       = 200
)

// Annotate writes remarks, which come worst first. Of more than ten of one level it writes the first nine and how many
// more there are, because GitHub drops the rest unsaid.
func (r *Runner) Annotate(all []Annotation) {
	for _, level := range []string{"error", "warning", "notice"} {
		var of []Annotation
		for _, a := range all {
			if a.level() == level {
				of = append(of, a)
			}
		}
		if more := len(of) - annotationsShown + 1; more > 1 {
			of = append(of[:annotationsShown-1:annotationsShown-1],
				Annotation{Level: level, Message: fmt.Sprintf("and %d more: the summary of this job has them all", more)})
		}
		for _, a := range of {
			// A log that cannot be written has no reader.
			_ = caught(func() { r.action.IssueCommand(a.command()) })
		}
	}
}

func (a Annotation) level() string {
	switch a.Level {
	case "error", "warning":
		return a.Level
	}
	return "notice"
}

// command is the workflow command; the library escapes the ends of lines, commas and colons in it.
func (a Annotation) command() *actions.Command {
	properties := actions.CommandProperties{}
	if title := oneLine(a.Title); title != "" {
		properties["title"] = cut(title, titleRunes)
	}
	if file := oneLine(a.File); file != "" {
		properties["file"] = file
		if a.Line > 0 {
			properties["line"] = strconv.Itoa(a.Line)
		}
	}
	message := cut(plain(a.Message), annotationRunes)
	if strings.TrimSpace(message) == "" {
		message = "no text"
	}
	return &actions.Command{Name: a.level(), Message: message, Properties: properties}
}

// plain is a text without controls, but those that end a line or set a tab.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}
