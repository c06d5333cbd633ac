package config

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// source is the text of a file as its author sees it: by lines.
type source struct {
	name  string
	lines []string
}

func newSource(name, text string) *source {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return &source{name: name, lines: lines}
}

// spot is a place in a file: a line and a column from 1, and how many characters the caret underlines.
type spot struct {
	line, column, width int
	// secret hides everything on the line from the column on.
	secret bool
}

// at makes a mistake of a place, with its line shown.
func (s *source) at(p spot, message, hint string) *Error {
	return &Error{
		File: s.name, Line: p.line, Column: p.column,
		Message: shown(message), Hint: hint, Snippet: s.snippet(p),
	}
}

const (
	// window is the number of characters of a line that are shown.
	window = 110
	// maxShown is the number of bytes up to which a line is shown at all: nobody reads a longer one, and looking for
	// secrets in it would take long.
	maxShown = 4096
)

func (s *source) snippet(p spot) string {
	if p.line < 1 || p.line > len(s.lines) || len(s.lines[p.line-1]) > maxShown {
		return ""
	}
	line := []rune(s.masked(p.line - 1))
	if p.secret {
		before := string(line[:min(max(p.column-1, 0), len(line))])
		line = []rune(strings.TrimSuffix(before, mask) + mask)
	}
	if len(strings.TrimSpace(string(line))) == 0 {
		return ""
	}
	column := min(max(p.column, 1), len(line)+1)
	line, column = cut(line, column)
	gutter := fmt.Sprintf("%4d | ", p.line)
	blank := strings.Repeat(" ", len(gutter)-2) + "| "
	width := min(max(p.width, 1), max(len(line)-column+1, 1))
	return gutter + printable(line) + "\n" + blank + padding(line[:column-1]) + strings.Repeat("^", width)
}

// cut shortens a long line to the surroundings of a column.
func cut(line []rune, column int) ([]rune, int) {
	if len(line) <= window {
		return line, column
	}
	from := max(0, column-1-window/2)
	to := min(len(line), from+window)
	short := append([]rune(nil), line[from:to]...)
	if to < len(line) {
		short = append(short, '…')
	}
	if from > 0 {
		short = append([]rune{'…'}, short...)
		from--
	}
	return short, column - from
}

// padding is blank where the text is visible, and keeps tabs, so that the caret stands under its character.
func padding(before []rune) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, string(before))
}

func printable(line []rune) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, string(line))
}

// quote shows a value of the file inside a message: short, printable, no secret.
func quote(s string) string {
	r := []rune(s)
	if len(r) > 60 {
		r = append(r[:60], '…')
	}
	return fmt.Sprintf("%q", shown(string(r)))
}
