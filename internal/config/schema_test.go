package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/benchgate/benchgate/internal/config"
)

// schema compiles the published schema with a validator that knows nothing of how it was made.
func schema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	data, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instance is a YAML text as a JSON value.
func instance(text []byte) (any, error) {
	var v any
	if err := yaml.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &v); err != nil {
		return nil, err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}

func TestThePublishedSchemaIsUpToDate(t *testing.T) {
	data, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "../../schema/config.json", string(data))
}

// JSON means what another reader of YAML makes of the same text.
func TestJSONIsTheSameValue(t *testing.T) {
	for _, name := range append(files(t, "testdata/ok/*.yaml"), files(t, "../../examples/*.yaml")...) {
		text := readFile(t, name)
		want, err := instance(text)
		if err != nil {
			t.Fatal(err)
		}
		data, err := config.JSON(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		same := cmp.Comparer(func(a, b json.Number) bool {
			x, _ := a.Float64()
			y, _ := b.Float64()
			return x == y
		})
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestJSONRefusesWhatIsNoConfig(t *testing.T) {
	for text, want := range map[string]string{
		"a: &x [1]\nb: *x\n": "line 1: an anchor (&) is not understood here",
		"a: [\n":             "line 1: ",
		"":                   "the file is empty",
		"b: 1\na: .nan\n":    "line 2: a: JSON has no such number",
		"a: 1\na: 2\n":       `line 2: "a" stands here twice`,
	} {
		if _, err := config.JSON([]byte(text)); !strings.HasPrefix(errText(err), want) {
			t.Errorf("%q: want %q, got %v", text, want, err)
		}
	}
}

func TestGoodConfigsPassTheSchema(t *testing.T) {
	s := schema(t)
	names := append(files(t, "testdata/ok/*.yaml"), files(t, "../../examples/*.yaml")...)
	for _, name := range names {
		v, err := instance(readFile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The schema catches in the editor what it can: all of these are mistakes of shape, name, unit or sign.
func TestTheSchemaCatchesMistakesOfShape(t *testing.T) {
	s := schema(t)
	for _, pattern := range []string{
		"unknown_key_*", "shape_*", "duration_[bfun]*", "percent_[bnw]*", "count_[znfq]*", "rate_[izn]*", "rate_and*", "looks_[ozse]*",
		"*_missing", "*_word", "runner_name*", "scenario_name", "scenario*_empty", "dataset_*", "rule_no_question", "rule_two_questions",
		"waiver_as_text", "waiver_without_why", "waiver_ceiling", "waiver_until", "waiver_issue", "version_*", "path_relative", "slo_empty",
		"concurrency_with_burstiness", "flag_text", "key_in_file", "key_as_env_name", "temperature_negative",
	} {
		for _, name := range files(t, "testdata/err/"+pattern+".yaml") {
			v, err := instance(readFile(t, name))
			if err != nil {
				continue // no YAML at all
			}
			if err := s.Validate(v); err == nil {
				t.Errorf("%s passes the schema", name)
			}
		}
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	data, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Properties map[string]map[string]any
		Defs       map[string]struct {
			Properties map[string]map[string]any
		} `json:"$defs"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	described := 0
	check := func(where string, keys map[string]map[string]any) {
		for key, k := range keys {
			described++
			if text, ok := k["description"].(string); !ok || !strings.HasSuffix(text, ".") {
				t.Errorf("%s.%s: %q is no sentence", where, key, text)
			}
		}
	}
	check("", doc.Properties)
	for name, d := range doc.Defs {
		check(name, d.Properties)
	}
	if described < 60 {
		t.Errorf("%d keys, expected all of them", described)
	}
}

func TestPresetsAreGoodConfigs(t *testing.T) {
	s := schema(t)
	for _, name := range config.Presets() {
		for _, on := range []string{"pull_request", "merge_group"} {
			t.Run(name+" "+on, func(t *testing.T) {
				text, err := config.Preset(name, on)
				if err != nil {
					t.Fatal(err)
				}
				c, err := config.Parse("benchgate.yaml", text)
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				v, err := instance(text)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Validate(v); err != nil {
					t.Error(err)
				}
				if c.Campaign.Design != "committed" || len(c.Policy.Rules) < 3 || c.Campaign.Budget == 0 {
					t.Errorf("%+v", c)
				}
				golden(t, filepath.Join("testdata", "preset", fmt.Sprintf("%s_%s.yaml", name, on)), string(text))
			})
		}
	}
}

// A commented key has to be right too: it is there to be uncommented.
func TestWhatAPresetCommentsOutIsRight(t *testing.T) {
	for _, name := range config.Presets() {
		text, err := config.Preset(name, "pull_request")
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, line := range strings.Split(string(text), "\n")[1:] {
			bare := strings.TrimLeft(line, " ")
			key, isComment := strings.CutPrefix(bare, "# ")
			if first, _, _ := strings.Cut(strings.TrimLeft(key, " -{"), ":"); isComment && first == strings.ToLower(first) && !strings.ContainsAny(first, " .") && strings.Contains(key, ":") {
				line = strings.TrimSuffix(line, bare) + key
			}
			all = append(all, line)
		}
		c, err := config.Parse("benchgate.yaml", []byte(strings.Join(all, "\n")))
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, strings.Join(all, "\n"))
			continue
		}
		if len(c.Policy.Waivers) != 1 || len(c.Sampling.ExtraBody) == 0 {
			t.Errorf("%s: some comments were not uncommented: %s", name, cmp.Diff(config.Config{}, c))
		}
		if len(c.Unused) > 0 {
			t.Errorf("%s recommends what does nothing: %q", name, c.Unused)
		}
	}
}

func TestAnUnknownPresetIsRefused(t *testing.T) {
	if text, err := config.Preset("tpu", "pull_request"); err == nil {
		t.Errorf("accepted: %s", text)
	}
	if text, err := config.Preset("gpu", "push"); err == nil {
		t.Errorf("accepted: %s", text)
	}
}
