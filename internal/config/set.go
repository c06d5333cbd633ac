package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Set changes one key of a config's text, before it is parsed: the key is a dotted path such as
// scenarios.chat.load.rate or gate.rules.0.max, the value is a YAML scalar, [list] or {mapping}. A key that is not there
// yet is added. Comments stay, and so do line numbers where a value is replaced.
func Set(data []byte, key, value string) ([]byte, error) {
	steps, err := stepsOf(key)
	if err != nil {
		return nil, err
	}
	written, err := flowValue(key, value)
	if err != nil {
		return nil, err
	}
	r, root, e := newReader("", data)
	if e != nil {
		return nil, e
	}
	out, err := r.source.replace(key, root, steps, written)
	if err != nil {
		return nil, err
	}
	return []byte(out), nil
}

func setError(key, message, hint string) *Error {
	return &Error{Message: fmt.Sprintf("set %s: %s", quote(key), shown(message)), Hint: hint}
}

var step = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func stepsOf(key string) ([]string, error) {
	steps := strings.Split(key, ".")
	for _, s := range steps {
		if !step.MatchString(s) || len(steps) > maxDepth/2 {
			return nil, setError(key, "this is no key", "write a dotted path: scenarios.chat.load.rate=8")
		}
	}
	return steps, nil
}

// plainWord is text that means the same with and without quotes around it, in a line and inside brackets.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_./%+-]*[A-Za-z0-9_/%])?$`)

// flowValue turns the value into text that can stand anywhere: as it is when it is a plain word, else as JSON, which is
// YAML. So a value cannot close a bracket or begin a line.
func flowValue(key, value string) (string, error) {
	if plainWord.MatchString(value) {
		return value, nil
	}
	bad := func(why string) error {
		return setError(key, why, "write a number, a word, a [list] or a {mapping}; quote text that holds special characters")
	}
	if strings.ContainsAny(value, "\n\r") {
		return "", bad("the value has several lines")
	}
	r, root, e := newReader("", []byte("v: "+value+"\n"))
	if e != nil {
		return "", bad(e.Message)
	}
	n := entry(root, "v")
	if m, ok := root.(*ast.MappingNode); !ok || len(m.Values) != 1 || n == nil || n.Type() == ast.NullType {
		return "", bad("the value is empty or more than one value")
	}
	out, err := json.Marshal(r.plain(n))
	if err != nil || len(r.mistakes) > 0 {
		return "", bad("the value cannot be written")
	}
	return string(out), nil
}

// replace walks down the steps as far as the file goes, and changes or adds what is left.
func (s *source) replace(key string, n ast.Node, steps []string, value string) (string, error) {
	for i, name := range steps {
		if list, ok := n.(*ast.SequenceNode); ok {
			at, err := strconv.Atoi(name)
			if err != nil || at < 0 || at >= len(list.Values) {
				return "", setError(key, fmt.Sprintf("%s has %d entries, counted from 0", strings.Join(steps[:i], "."), len(list.Values)), "name an entry by its number: gate.rules.0.max")
			}
			n = list.Values[at]
			continue
		}
		m, ok := n.(*ast.MappingNode)
		if !ok {
			return "", setError(key, strings.Join(steps[:i], ".")+" is a value, it has no keys", "")
		}
		next := entry(m, name)
		if next == nil || next.Type() == ast.NullType {
			return s.add(key, m, next, steps[i:], value)
		}
		n = next
	}
	from, to, ok := s.extent(n)
	if !ok {
		return "", setError(key, "its value is a block of several lines", "set the keys in it one by one")
	}
	return s.splice(from, to, value), nil
}

// add writes a new entry in front of a mapping's first one: in a block on a line of its own, inside braces right behind
// the opening one.
func (s *source) add(key string, m *ast.MappingNode, empty ast.Node, steps []string, value string) (string, error) {
	text := value
	for i := len(steps) - 1; i > 0; i-- {
		text = "{" + steps[i] + ": " + text + "}"
	}
	if empty != nil {
		return "", setError(key, steps[0]+" stands there without a value", "delete that line first")
	}
	text = steps[0] + ": " + text
	if m.IsFlowStyle {
		at := s.offset(m.Start.Position) + 1
		if len(m.Values) > 0 {
			text += ", "
		}
		return s.splice(at, at, text), nil
	}
	first := m.Values[0].Key.GetToken().Position
	at := s.offset(first)
	return s.splice(at, at, text+"\n"+strings.Repeat(" ", first.Column-1)), nil
}

// extent is where a scalar or a bracketed value stands in the text; false for a block.
func (s *source) extent(n ast.Node) (from, to int, ok bool) {
	var end *token.Token
	switch v := n.(type) {
	case *ast.MappingNode:
		if !v.IsFlowStyle {
			return 0, 0, false
		}
		end = v.End
	case *ast.SequenceNode:
		if !v.IsFlowStyle {
			return 0, 0, false
		}
		end = v.End
	case *ast.LiteralNode:
		return 0, 0, false
	default:
		return s.scalarExtent(n.GetToken())
	}
	if end == nil {
		return 0, 0, false
	}
	return s.offset(n.GetToken().Position), s.offset(end.Position) + 1, true
}

// scalarExtent is where a plain or quoted scalar stands. The token knows the text of a quoted one only with its escapes
// resolved, so its end is looked for here.
func (s *source) scalarExtent(t *token.Token) (from, to int, ok bool) {
	from = s.offset(t.Position)
	rest := s.whole()[from:]
	switch t.Type {
	case token.DoubleQuoteType:
		to = len(doubleQuoted.FindString(rest))
	case token.SingleQuoteType:
		to = len(singleQuoted.FindString(rest))
	default:
		written := strings.TrimSpace(t.Origin)
		if !strings.Contains(written, "\n") && strings.HasPrefix(rest, written) {
			to = len(written)
		}
	}
	return from, from + to, to > 0
}

var (
	doubleQuoted = regexp.MustCompile(`^"(?s:[^"\\]|\\.)*"`)
	singleQuoted = regexp.MustCompile(`^'(?:[^']|'')*'`)
)

// offset turns a place into bytes from the start of the text.
func (s *source) offset(p *token.Position) int {
	at := 0
	for _, line := range s.lines[:min(p.Line-1, len(s.lines))] {
		at += len(line) + 1
	}
	if p.Line > len(s.lines) {
		return len(s.whole())
	}
	column := 1
	for i := range s.lines[p.Line-1] {
		if column == p.Column {
			return at + i
		}
		column++
	}
	return at + len(s.lines[p.Line-1])
}

func (s *source) splice(from, to int, text string) string {
	all := s.whole()
	return all[:from] + text + all[to:]
}
