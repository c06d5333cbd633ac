package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// reader collects what is wrong with one file.
type reader struct {
	*source
	// keys maps a value to the token of its key, so that a mistake of a whole block is shown where the block is named.
	keys     map[ast.Node]*token.Token
	place    string // the file, as findings name it
	mistakes []*Error
	base     *target // of the reference's own config; nil: there is none
	// baseFolder is where that config lies.
	baseFolder string
}

// enough is the number of mistakes after which a file is not looked at any further.
const enough = 100

// fail notes a mistake of a value; the message begins with the value's key.
func (r *reader) fail(n ast.Node, message, hint string) { r.failAt(n, false, message, hint) }

func (r *reader) failAt(n ast.Node, secret bool, message, hint string) {
	p := r.spot(n)
	p.secret = secret
	r.note(p, strings.TrimPrefix(n.GetPath(), "$."), message, hint)
}

// failKey notes a mistake of a key.
func (r *reader) failKey(t *token.Token, path, message, hint string) {
	r.note(tokenSpot(t), path, message, hint)
}

func (r *reader) note(p spot, path, message, hint string) {
	if path != "" && path != "$" {
		message = path + ": " + message
	}
	if len(r.mistakes) < enough {
		r.mistakes = append(r.mistakes, r.at(p, message, hint))
	}
}

// spot is where a value is shown: a scalar or a bracket at itself, a block at its key.
func (r *reader) spot(n ast.Node) spot {
	switch v := n.(type) {
	case *ast.MappingNode:
		if v.IsFlowStyle {
			return tokenSpot(v.Start)
		}
	case *ast.SequenceNode:
		if v.IsFlowStyle {
			return tokenSpot(v.Start)
		}
	default:
		return tokenSpot(n.GetToken())
	}
	if t := r.keys[n]; t != nil {
		return tokenSpot(t)
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return tokenSpot(m.Values[0].Key.GetToken())
	}
	return tokenSpot(n.GetToken())
}

func tokenSpot(t *token.Token) spot {
	if t == nil || t.Position == nil {
		return spot{line: 1, column: 1, width: 1}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(t.Origin), "\n")
	return spot{line: t.Position.Line, column: t.Position.Column, width: len([]rune(strings.TrimSpace(first)))}
}

// check compares a value with the type that will hold it: mappings, lists and scalars in their places, no unknown key,
// no key twice, nothing empty.
func (r *reader) check(n ast.Node, t reflect.Type) {
	if n.Type() == ast.NullType {
		r.empty(n, t)
		return
	}
	if b, ok := reflect.Zero(t).Interface().(blocky); ok {
		t = b.inner()
	}
	k, scalar := kinds[t]
	switch {
	case scalar:
		r.checkScalar(n, k)
	case t == reflect.TypeFor[body]():
		if m := r.mapping(n, "a mapping of request fields"); m != nil {
			r.checkBody(m)
		}
	case t.Kind() == reflect.Slice:
		r.checkList(n, t.Elem())
	case t.Kind() == reflect.Map:
		r.checkMap(n, t.Elem())
	default:
		r.checkStruct(n, t)
	}
}

func (r *reader) empty(n ast.Node, t reflect.Type) {
	p := r.spot(n)
	if key := r.keys[n]; key != nil {
		p = tokenSpot(key)
	}
	hint := "give it a value, or delete the line"
	if k, ok := kinds[t]; ok {
		hint = "write " + k.noun + ", or delete the line to keep the default"
	}
	r.note(p, strings.TrimPrefix(n.GetPath(), "$."), "it has no value", hint)
}

func (r *reader) checkScalar(n ast.Node, k kind) {
	switch v := n.(type) {
	case *ast.MappingNode:
		r.fail(n, "a mapping where "+k.noun+" is wanted", scalarHint(v))
	case *ast.SequenceNode:
		r.fail(n, "a list where "+k.noun+" is wanted", "write a single value")
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		if s := n.GetToken().Value; k.verbatim {
			r.fail(n, quote(s)+" is no text in YAML", fmt.Sprintf("quote it: %q", s))
		}
	}
}

// scalarHint knows the classic: {port} without quotes is a mapping in YAML.
func scalarHint(m *ast.MappingNode) string {
	if len(m.Values) == 1 && m.IsFlowStyle && m.Values[0].Value.Type() == ast.NullType {
		return fmt.Sprintf(`in YAML braces make a mapping; quote them: "{%s}"`, m.Values[0].Key.GetToken().Value)
	}
	return "write a single value"
}

func (r *reader) checkList(n ast.Node, elem reflect.Type) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		hint := "write [a, b], or one \"- entry\" a line"
		if elem == reflect.TypeFor[argument]() {
			hint = "write one argument an entry: [vllm, serve, some/model]; no shell splits it"
		}
		r.fail(n, "a list is wanted", hint)
		return
	}
	for _, v := range s.Values {
		r.check(v, elem)
	}
}

func (r *reader) mapping(n ast.Node, what string) *ast.MappingNode {
	if m, ok := n.(*ast.MappingNode); ok {
		return m
	}
	r.fail(n, what+" is wanted", "write key: value, one a line, indented; or {key: value}")
	return nil
}

func (r *reader) checkMap(n ast.Node, elem reflect.Type) {
	m := r.mapping(n, "a mapping of names")
	if m == nil {
		return
	}
	r.each(m, func(_ string, _ *token.Token, v ast.Node) { r.check(v, elem) })
}

func (r *reader) checkBody(m *ast.MappingNode) { r.each(m, func(string, *token.Token, ast.Node) {}) }

func (r *reader) checkStruct(n ast.Node, t reflect.Type) {
	fields := fieldsOf(t)
	m := r.mapping(n, "a mapping with "+keyList(fields))
	if m == nil {
		return
	}
	r.each(m, func(name string, key *token.Token, v ast.Node) {
		f, ok := fields[name]
		if !ok {
			message, hint := unknownKey(name, t)
			r.failKey(key, strings.TrimPrefix(m.GetPath(), "$."), message, hint)
			return
		}
		r.check(v, f)
	})
}

// each visits the entries of a mapping, and refuses a key that stands there twice.
func (r *reader) each(m *ast.MappingNode, visit func(name string, key *token.Token, v ast.Node)) {
	first := map[string]*token.Token{}
	for _, e := range m.Values {
		key := e.Key.GetToken()
		if before, ok := first[key.Value]; ok {
			r.failKey(key, strings.TrimPrefix(m.GetPath(), "$."),
				fmt.Sprintf("%s stands here twice", quote(key.Value)),
				fmt.Sprintf("the first is at line %d; rename or delete one", before.Position.Line))
			continue
		}
		first[key.Value] = key
		r.keys[e.Value] = key
		visit(key.Value, key, e.Value)
	}
}
