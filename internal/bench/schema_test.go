package bench_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	check "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/benchgate/benchgate/internal/bench"
)

const packagePath = "github.com/benchgate/benchgate/internal/bench"

// reflector describes our files: fields that this version does not know are allowed, since readers ignore them. Doc
// comments become descriptions.
func reflector(t *testing.T) *jsonschema.Reflector {
	t.Helper()
	r := &jsonschema.Reflector{
		Anonymous: true, AllowAdditionalProperties: true, ExpandedStruct: true,
	}
	if err := r.AddGoComments(packagePath, ".", jsonschema.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	for key, text := range r.CommentMap {
		r.CommentMap[strings.Replace(key, packagePath+"/.", packagePath, 1)] = strings.ReplaceAll(text, "\n", " ")
	}
	return r
}

func schemaOf(t *testing.T, v any, id, title string, finish func(*jsonschema.Schema)) []byte {
	t.Helper()
	s := reflector(t).ReflectFromType(reflect.TypeOf(v))
	s.Title = title
	finish(s)
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

func digestSchema(t *testing.T) []byte {
	return schemaOf(t, bench.Digest{}, "digest", "benchgate digest: one scenario on one runner", func(s *jsonschema.Schema) {
		pin(s, bench.DigestSchema)
	})
}

func campaignSchema(t *testing.T) []byte {
	return schemaOf(t, bench.Record{}, "campaign", "benchgate campaign: one line of campaign.jsonl", func(s *jsonschema.Schema) {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			s.OneOf = append(s.OneOf, &jsonschema.Schema{Required: []string{p.Key}})
		}
		pin(s.Definitions["Header"], bench.CampaignSchema)
	})
}

// pin holds a file's schema field to its kind and major version.
func pin(s *jsonschema.Schema, schema string) {
	p, _ := s.Properties.Get("schema")
	p.Pattern = "^" + schema + `(\.[0-9]+)*$`
}

func TestSchemasAreCurrent(t *testing.T) {
	golden(t, "../../schema/digest.json", digestSchema(t))
	golden(t, "../../schema/campaign.json", campaignSchema(t))
}

func TestSchemasAcceptWhatIsWritten(t *testing.T) {
	digest, campaign := compiled(t, digestSchema(t)), compiled(t, campaignSchema(t))
	if err := digest.Validate(value(t, written(t, example()))); err != nil {
		t.Errorf("digest: %v", err)
	}
	for line := range strings.Lines(lines(t, records())) {
		if err := campaign.Validate(value(t, line)); err != nil {
			t.Errorf("campaign, %s: %v", line, err)
		}
	}
}

func TestSchemasRefuseWhatIsBroken(t *testing.T) {
	digest, campaign := compiled(t, digestSchema(t)), compiled(t, campaignSchema(t))
	whole := written(t, example())
	for name, file := range map[string]string{
		"another kind":   strings.Replace(whole, bench.DigestSchema, "benchgate.verdict/v1", 1),
		"newer major":    strings.Replace(whole, bench.DigestSchema, "benchgate.digest/v2", 1),
		"text as number": strings.Replace(whole, "0.0942", `"0.0942"`, 1),
		"no runner":      strings.Replace(whole, `"runner": "h100-1x",`, "", 1),
	} {
		if digest.Validate(value(t, file)) == nil {
			t.Errorf("digest: %s is accepted", name)
		}
	}
	for name, line := range map[string]string{
		"nothing":    `{}`,
		"two things": `{"warning":{"at":"2026-11-03T09:00:00Z","code":"a","message":"b"},"visit":{"visit":1,"side":"candidate","started":"2026-11-03T09:00:00Z"}}`,
	} {
		if campaign.Validate(value(t, line)) == nil {
			t.Errorf("campaign: %s is accepted", name)
		}
	}
}

func compiled(t *testing.T, schema []byte) *check.Schema {
	t.Helper()
	c := check.NewCompiler()
	if err := c.AddResource("s.json", value(t, string(schema))); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func value(t *testing.T, text string) any {
	t.Helper()
	v, err := check.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
