package config

import (
	"encoding/json"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// JSON turns a config's YAML into JSON, so that it can be held against the schema. What it refuses, [Parse] refuses too.
func JSON(data []byte) ([]byte, error) {
	s, e := clean("", data)
	if e != nil {
		return nil, e
	}
	root, e := s.tree()
	if e != nil {
		return nil, e
	}
	r := &reader{source: s, keys: map[ast.Node]*token.Token{}}
	v := r.plain(root)
	if len(r.mistakes) > 0 {
		return nil, join(r.mistakes)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write a config as JSON: %w", err)
	}
	return out, nil
}
