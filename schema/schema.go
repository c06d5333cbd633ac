// Package schema holds the JSON Schemas of benchgate's files.
package schema

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed *.json
var files embed.FS

// Kinds are the files that have a schema.
var Kinds = []string{"config", "digest", "verdict", "campaign", "doctor"}

// Of returns the schema of a kind as JSON text.
func Of(kind string) ([]byte, error) {
	if !slices.Contains(Kinds, kind) {
		return nil, fmt.Errorf("no schema for %q: want one of %v", kind, Kinds)
	}
	return files.ReadFile(kind + ".json")
}

// Rules are the schema of a kind, read once for any number of documents. The zero value is of no use.
type Rules struct{ read *jsonschema.Schema }

// Read returns the rules of a kind.
func Read(kind string) (Rules, error) {
	text, err := Of(kind)
	if err != nil {
		return Rules{}, err
	}
	rules, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return Rules{}, fmt.Errorf("schema of %s: %w", kind, err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(kind, rules); err != nil {
		return Rules{}, fmt.Errorf("schema of %s: %w", kind, err)
	}
	read, err := c.Compile(kind)
	if err != nil {
		return Rules{}, fmt.Errorf("schema of %s: %w", kind, err)
	}
	return Rules{read}, nil
}

// Check holds a JSON document against the schema of a kind and returns what does not fit, a line each. An error means
// that the document is no JSON at all.
func Check(kind string, document []byte) (problems []string, err error) {
	r, err := Read(kind)
	if err != nil {
		return nil, err
	}
	return r.Check(document)
}

// Check returns what of a JSON document does not fit, a line each. An error means that it is no JSON at all.
func (r Rules) Check(document []byte) (problems []string, err error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	var wrong *jsonschema.ValidationError
	if err := r.read.Validate(value); errors.As(err, &wrong) {
		return flatten(wrong.DetailedOutput()), nil
	} else if err != nil {
		return nil, err
	}
	return nil, nil
}

// flatten lists the innermost complaints.
func flatten(u *jsonschema.OutputUnit) []string {
	if len(u.Errors) == 0 {
		if u.Error == nil {
			return nil
		}
		return []string{fmt.Sprintf("%s: %s", place(u.InstanceLocation), u.Error)}
	}
	var all []string
	for i := range u.Errors {
		all = append(all, flatten(&u.Errors[i])...)
	}
	return all
}

func place(pointer string) string {
	if pointer == "" {
		return "/"
	}
	return pointer
}
