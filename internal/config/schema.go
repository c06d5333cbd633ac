package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
)

// Schema is the JSON Schema of the file, for editors and for whoever writes configs by program. What it refuses, [Parse]
// refuses too; Parse also knows what no schema can say, such as a percentile that is out of reach.
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true, Mapper: valueSchema,
	}
	s := r.Reflect(file{})
	s.Title = "benchgate.yaml"
	s.Description = "What benchgate measures on one runner, and what is asked of the measurements."
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the schema of a config: %w", err)
	}
	return append(out, '\n'), nil
}

// valueSchema writes a value out in full, so that the tags of its field (an enum, a default) can add to it.
func valueSchema(t reflect.Type) *jsonschema.Schema {
	if t == reflect.TypeFor[body]() {
		return &jsonschema.Schema{Type: "object"}
	}
	k, ok := kinds[t]
	if !ok {
		return nil
	}
	types := strings.Split(k.json, ",")
	if len(types) == 1 {
		return &jsonschema.Schema{Type: k.json, Pattern: k.pattern}
	}
	s := &jsonschema.Schema{}
	for _, t := range types {
		one := &jsonschema.Schema{Type: t}
		if t == "string" {
			one.Pattern = k.pattern
		}
		s.AnyOf = append(s.AnyOf, one)
	}
	return s
}

// JSONSchemaExtend says what the keys alone do not: a target needs an address and a model, a reference inherits them,
// and scenarios have names.
func (file) JSONSchemaExtend(s *jsonschema.Schema) {
	target, _ := s.Properties.Get("target")
	target.Required = []string{"base_url", "model"}
	scenarios, _ := s.Properties.Get("scenarios")
	least := uint64(1)
	scenarios.MinProperties = &least
	scenarios.PatternProperties = map[string]*jsonschema.Schema{namePattern: scenarios.AdditionalProperties}
	scenarios.AdditionalProperties = jsonschema.FalseSchema
}

// JSONSchemaExtend says that looks are even.
func (campaign) JSONSchemaExtend(s *jsonschema.Schema) {
	looks, _ := s.Properties.Get("looks")
	looks.Items = &jsonschema.Schema{Type: "integer", Minimum: "2", Maximum: "100", MultipleOf: "2"}
	least := uint64(1)
	looks.MinItems = &least
	looks.UniqueItems = true
	looks.Default = []int{6, 8, 10}
}

// JSONSchemaExtend ties the keys of a dataset to its kind.
func (dataset) JSONSchemaExtend(s *jsonschema.Schema) {
	s.OneOf = []*jsonschema.Schema{
		kindOf("random", []string{"input_tokens"}, "path", "max_input_tokens", "prefix_tokens", "groups"),
		kindOf("jsonl", []string{"path"}, "input_tokens", "range", "max_input_tokens", "prefix_tokens", "groups"),
		kindOf("sharegpt", []string{"path"}, "input_tokens", "range", "prefix_tokens", "groups"),
		kindOf("prefix", []string{"prefix_tokens", "groups", "input_tokens"}, "path", "max_input_tokens"),
	}
}

func kindOf(name string, required []string, never ...string) *jsonschema.Schema {
	p := jsonschema.NewProperties()
	p.Set("kind", &jsonschema.Schema{Const: name})
	for _, key := range never {
		p.Set(key, jsonschema.FalseSchema)
	}
	return &jsonschema.Schema{Properties: p, Required: required}
}

// JSONSchemaExtend wants exactly one of rate and concurrency, and refuses beside a concurrency what shapes arrivals.
func (load) JSONSchemaExtend(s *jsonschema.Schema) {
	closed := jsonschema.NewProperties()
	closed.Set("burstiness", jsonschema.FalseSchema)
	closed.Set("max_concurrency", jsonschema.FalseSchema)
	s.OneOf = []*jsonschema.Schema{
		{Title: "open loop", Required: []string{"rate"}},
		{Title: "closed loop", Required: []string{"concurrency"}, Properties: closed},
	}
}

// JSONSchemaExtend says that a rule which names scenarios names at least one.
func (rule) JSONSchemaExtend(s *jsonschema.Schema) {
	names, _ := s.Properties.Get("scenarios")
	least := uint64(1)
	names.MinItems = &least
}

// JSONSchemaExtend wants at least one limit.
func (slo) JSONSchemaExtend(s *jsonschema.Schema) {
	least := uint64(1)
	s.MinProperties = &least
}
