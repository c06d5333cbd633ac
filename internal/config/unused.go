package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// unused says of every key that the file sets and that only another design would use, in the order of the file, that it does
// nothing.
func (r *reader) unused(root ast.Node, design string) []string {
	idle := map[string]string{}
	switch design {
	case "committed":
		for _, key := range []string{"reference", "campaign.looks", "campaign.visit_runs", "campaign.cooldown"} {
			idle[key] = "design: committed"
		}
	case "interleaved":
		idle["campaign.runs"] = "design: interleaved"
	}
	var all []Error
	for key, by := range idle {
		n := root
		for _, name := range strings.Split(key, ".") {
			n = entry(n, name)
		}
		if n == nil {
			continue
		}
		all = append(all, Error{File: r.name, Line: r.keys[n].Position.Line, Message: key + " is not used by " + by})
	}
	slices.SortFunc(all, func(a, b Error) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Message, b.Message)) })
	var sentences []string
	for _, e := range all {
		sentences = append(sentences, e.Error())
	}
	return sentences
}
