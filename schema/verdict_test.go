package schema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/schema"
)

func TestVerdictSchemaIsCurrent(t *testing.T) {
	current(t, "verdict.json", described(t, "gate", gate.Verdict{}, gate.VerdictSchema, "benchgate verdict: the answer to every rule"))
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
