package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is one mistake in a config file, with its place. Several are joined by [errors.Join], in the order of the file.
type Error struct {
	File    string
	Line    int    // from 1; 0: the file as a whole
	Column  int    // from 1, in characters; 0: the line as a whole
	Message string // what is wrong
	Hint    string // what to do; may be empty
	Snippet string // the line, with a caret under the place and secrets masked; may be empty
	cause   error
}

// Error is the whole story: place and message, the line with its caret, the hint. It may have several lines.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.place())
	b.WriteString(e.Message)
	if e.Snippet != "" {
		b.WriteString("\n" + e.Snippet)
	}
	if e.Hint != "" {
		b.WriteString("\n  hint: " + e.Hint)
	}
	return b.String()
}

// place is "file:line:column: ", as far as it is known; "line 3: " in a text without a name.
func (e *Error) place() string {
	switch {
	case e.File == "" && e.Line > 0:
		return fmt.Sprintf("line %d: ", e.Line)
	case e.File == "":
		return ""
	case e.Line == 0:
		return e.File + ": "
	case e.Column == 0:
		return fmt.Sprintf("%s:%d: ", e.File, e.Line)
	}
	return fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Column)
}

// Unwrap is the error of the operating system behind this one, if any.
func (e *Error) Unwrap() error { return e.cause }

// most is the number of mistakes that are shown at once: the rest of a thoroughly wrong file is noise.
const most = 20

// join puts mistakes into the order of the file and drops those said twice (a reference inherits those of its target).
func join(all []*Error) error {
	slices.SortStableFunc(all, func(a, b *Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	all = slices.CompactFunc(all, func(a, b *Error) bool {
		return a.Line == b.Line && a.Column == b.Column && a.Message == b.Message
	})
	var list []error
	for i, e := range all {
		if i == most {
			list = append(list, &Error{File: e.File, Message: fmt.Sprintf("%d or more further mistakes are not shown", len(all)-most)})
			break
		}
		list = append(list, e)
	}
	return errors.Join(list...)
}
