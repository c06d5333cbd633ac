package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/schema"
)

var update = flag.Bool("update", false, "rewrite verdict.json")

// verdictSchema describes a verdict by the Go type and its comments. Unknown fields are allowed: readers ignore them.
func verdictSchema(t *testing.T) []byte {
	t.Helper()
	const path = "github.com/benchgate/benchgate/internal/gate"
	r := &jsonschema.Reflector{Anonymous: true, AllowAdditionalProperties: true, ExpandedStruct: true}
	if err := r.AddGoComments(path, "../internal/gate", jsonschema.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	for key, text := range r.CommentMap {
		r.CommentMap[strings.Replace(key, path+"/../internal/gate", path, 1)] = strings.ReplaceAll(text, "\n", " ")
	}
	s := r.Reflect(gate.Verdict{})
	s.Title = "benchgate verdict: the answer to every rule"
	p, _ := s.Properties.Get("schema")
	p.Pattern = "^" + gate.VerdictSchema + `(\.[0-9]+)*$`
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

func TestVerdictSchemaIsCurrent(t *testing.T) {
	want := verdictSchema(t)
	if *update {
		if err := os.WriteFile("verdict.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("verdict.json")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("verdict.json is stale (%v): run make schema", err)
	}
}

func TestSchemaAcceptsEveryVerdictThatReportsAreTestedWith(t *testing.T) {
	files, err := filepath.Glob("../internal/report/testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no verdicts to check: %v", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		problems, err := schema.Check("verdict", data)
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v", f, err, problems)
		}
	}
}

func TestSchemaRefusesWhatIsNoVerdict(t *testing.T) {
	for name, text := range map[string]string{
		"empty object":      `{}`,
		"another kind":      `{"schema": "benchgate.digest/v1", "outcome": "pass", "exit_code": 0, "runner": "r", "bound": "", "summary": "", "findings": [], "environment": {}}`,
		"code as text":      `{"schema": "benchgate.verdict/v1", "outcome": "pass", "exit_code": "0", "runner": "r", "bound": "", "summary": "", "findings": [], "environment": {}}`,
		"findings no array": `{"schema": "benchgate.verdict/v1", "outcome": "pass", "exit_code": 0, "runner": "r", "bound": "", "summary": "", "findings": {}, "environment": {}}`,
	} {
		problems, err := schema.Check("verdict", []byte(text))
		if err != nil || len(problems) == 0 {
			t.Errorf("%s: accepted (%v)", name, err)
		}
	}
}

func TestEveryKindHasASchemaThatIsJSON(t *testing.T) {
	for _, kind := range schema.Kinds {
		text, err := schema.Of(kind)
		if err != nil || !json.Valid(text) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := schema.Of("cake"); err == nil {
		t.Error("a schema for cake")
	}
}
