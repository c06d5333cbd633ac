package config

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// unused says of every key that the file sets and that this version only reads, in the order of the file, that it does
// nothing. A server's metrics that are off are as asked.
func (r *reader) unused(root ast.Node, f file) []string {
	var all []Error
	for _, path := range [][]string{
		{"target", "metrics"}, {"reference"}, {"campaign", "looks"}, {"campaign", "visit_runs"}, {"campaign", "cooldown"}, {"gate", "paths"},
	} {
		n, name := root, ""
		for _, key := range path {
			n, name = entry(n, key), name+"."+key
			if n == nil {
				break
			}
		}
		if n == nil || name == ".target.metrics" && f.Target.v.Metrics.written() == "off" {
			continue
		}
		all = append(all, Error{File: r.name, Line: r.keys[n].Position.Line, Message: name[1:] + " is not used by this version"})
	}
	slices.SortStableFunc(all, func(a, b Error) int { return a.Line - b.Line })
	var sentences []string
	for _, e := range all {
		sentences = append(sentences, e.Error())
	}
	return sentences
}
