package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
)

var update = flag.Bool("update", false, "rewrite the schemas that are made of Go types")

// described makes the schema of a document of the Go type. Unknown fields are allowed: readers ignore them. Comments of the
// package and of bench become descriptions.
func described(t *testing.T, pkg string, document any, name, title string) []byte {
	t.Helper()
	r := &jsonschema.Reflector{Anonymous: true, AllowAdditionalProperties: true, ExpandedStruct: true}
	for _, p := range []string{pkg, "bench"} {
		// The path of this package: that of the comments is joined to it.
		if err := r.AddGoComments("github.com/benchgate/benchgate/schema", "../internal/"+p, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	for key, text := range r.CommentMap {
		r.CommentMap[key] = strings.ReplaceAll(text, "\n", " ")
	}
	s := r.Reflect(document)
	s.Title = title
	if s.Description == "" {
		t.Errorf("the comment of %T was not found", document)
	}
	p, _ := s.Properties.Get("schema")
	p.Pattern = "^" + name + `(\.[0-9]+)*$`
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// current holds a schema's file against what it should be; with -update it writes it.
func current(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale (%v): run make schema", file, err)
	}
}
