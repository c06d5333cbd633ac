package config

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// Limits of a config file. They keep a hostile file from costing time, memory or stack; no honest file comes near.
const (
	maxBytes  = 1 << 20
	maxTokens = 100_000
	maxDepth  = 24
)

// clean refuses what is no text of one config, before any parser sees it, and drops a byte order mark.
func clean(name string, data []byte) (*source, *Error) {
	if len(data) > maxBytes {
		return nil, &Error{File: name, Message: fmt.Sprintf("the file is larger than %d bytes", maxBytes), Hint: "a config is a few kilobytes; is this the right file?"}
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	s := newSource(name, text)
	switch {
	case strings.TrimSpace(text) == "":
		return nil, &Error{File: name, Message: "the file is empty", Hint: "benchgate init writes one to start from"}
	case strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff"):
		return nil, &Error{File: name, Message: "the file is UTF-16", Hint: "save it as UTF-8"}
	case strings.HasPrefix(text, "version https://git-lfs"):
		return nil, s.at(spot{line: 1}, "this is a Git LFS pointer, not the file", "git lfs pull; a config is small enough to be kept without LFS")
	}
	for i, line := range s.lines {
		if e := s.badLine(i, line); e != nil {
			return nil, e
		}
	}
	return s, nil
}

func (s *source) whole() string { return strings.Join(s.lines, "\n") }

func (s *source) badLine(i int, line string) *Error {
	if conflict(line) {
		return s.at(spot{line: i + 1, column: 1, width: 7}, "the file holds an unresolved merge conflict", "choose a side and delete the marker lines")
	}
	column := 0
	for at, r := range line {
		column++
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(line[at:]); size == 1 {
				return s.at(spot{line: i + 1, column: column}, "a byte that is not UTF-8", "save the file as UTF-8")
			}
		}
		if r < ' ' && r != '\t' || r == 0x7f {
			return s.at(spot{line: i + 1, column: column}, fmt.Sprintf("a control character (%U)", r), "delete it; a config is plain text")
		}
	}
	return nil
}

func conflict(line string) bool {
	for _, m := range []string{"<<<<<<<", ">>>>>>>", "|||||||"} {
		if rest, ok := strings.CutPrefix(line, m); ok && (rest == "" || rest[0] == ' ') {
			return true
		}
	}
	return line == "======="
}

// unwanted are parts of YAML that a config never needs, with what to do instead.
var unwanted = map[token.Type]struct{ what, hint string }{
	token.AnchorType:     {"an anchor (&)", "write the value out; quote text that begins with &"},
	token.AliasType:      {"an alias (*)", `write the value out; quote text that begins with *, such as "*.go"`},
	token.TagType:        {"a tag (!)", "leave it out; quote text that begins with !"},
	token.MergeKeyType:   {"a merge key (<<)", "write the keys out; a reference inherits every key of target by itself"},
	token.DirectiveType:  {"a directive (%)", "delete the line; quote text that begins with %"},
	token.MappingKeyType: {"a complex key (?)", "write key: value; quote text that begins with ?"},
}

// bounded refuses what a parser could be hurt by: too many tokens, deep nesting, aliases that multiply, several documents.
func (s *source) bounded(tokens token.Tokens) *Error {
	if len(tokens) > maxTokens {
		return &Error{File: s.name, Message: fmt.Sprintf("the file has more than %d parts", maxTokens), Hint: "a config is a few kilobytes; is this the right file?"}
	}
	var d depth
	content := false
	for _, t := range tokens {
		p := spot{line: t.Position.Line, column: t.Position.Column, width: 1}
		if u, ok := unwanted[t.Type]; ok {
			return s.at(p, u.what+" is not understood here", u.hint)
		}
		if t.Type == token.DocumentHeaderType && content {
			return s.at(spot{line: p.line, column: p.column, width: 3}, "a second document begins here", "one file holds one config: one runner a file")
		}
		content = content || t.Type != token.DocumentHeaderType && t.Type != token.CommentType
		if d.push(t) > maxDepth {
			return s.at(p, fmt.Sprintf("nested more than %d deep", maxDepth), "a config needs five levels")
		}
	}
	return nil
}

// depth follows the nesting over tokens: open brackets, and outside of them the columns at which blocks began.
type depth struct {
	flow, line int
	columns    []int
}

func (d *depth) push(t *token.Token) int {
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		d.flow++
	case token.MappingEndType, token.SequenceEndType:
		d.flow--
	case token.CommentType:
		return 0
	}
	first := t.Position.Line != d.line || t.Type == token.SequenceEntryType || d.dash(t)
	d.line = t.Position.Line
	if d.flow <= 0 && first {
		for len(d.columns) > 0 && d.columns[len(d.columns)-1] >= t.Position.Column {
			d.columns = d.columns[:len(d.columns)-1]
		}
		d.columns = append(d.columns, t.Position.Column)
	}
	return len(d.columns) + max(d.flow, 0)
}

// dash reports whether the token stands right behind the dash of a list entry.
func (d *depth) dash(t *token.Token) bool {
	return t.Prev != nil && t.Prev.Type == token.SequenceEntryType
}
