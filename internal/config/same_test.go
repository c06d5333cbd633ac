package config

import (
	"strings"
	"testing"
)

func TestConfigsOfOneBuildDifferInRulesAlone(t *testing.T) {
	const text = `version: 1
runner: lab
target: {base_url: "http://127.0.0.1:{port}/v1", model: m, command: [serve, "{port}"], env: {A: "1"}}
reference: {dir: base}
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 4
    load: {concurrency: 4, requests: 100}
  batch:
    dataset: {kind: jsonl, path: a.jsonl}
    output_tokens: 4
    load: {concurrency: 4, requests: 100}
gate:
  rules:
    - {metric: ttft.p50, tolerance: 5%}
`
	was, err := Parse("benchgate.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	batch := text[strings.Index(text, "  batch:"):strings.Index(text, "gate:")]
	for _, c := range []struct {
		name, from, to string
		want           bool
	}{
		{"nothing", "m", "m", true},
		{"a rule", "5%", "9%", true},
		{"a load", "requests: 100", "requests: 200", true},
		{"a scenario is gone", batch, "", true},
		{"a default is written", "model: m", "model: m, api: chat", true},
		{"the model", "model: m", "model: n", false},
		{"an argument", "[serve", "[serve, --slow", false},
		{"the environment", `"1"`, `"2"`, false},
		{"the reference", "dir: base", "dir: other", false},
		{"no reference", "reference: {dir: base}\n", "", false},
		{"a length", "input_tokens: 16", "input_tokens: 17", false},
		{"a file", "a.jsonl", "b.jsonl", false},
	} {
		is, err := Parse("benchgate.yaml", []byte(strings.Replace(text, c.from, c.to, 1)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if SameBuild(was, is) != c.want || SameBuild(is, was) != c.want {
			t.Errorf("%s: %t and %t, want %t", c.name, SameBuild(was, is), SameBuild(is, was), c.want)
		}
	}
}
