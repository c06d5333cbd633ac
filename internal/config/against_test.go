package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/gate"
)

// TestAgainst reads the cases of testdata/against: base, head and what came of it, in one file.
func TestAgainst(t *testing.T) {
	for _, name := range files(t, "testdata/against/*.txt") {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text := string(readFile(t, name))
			base, rest, _ := strings.Cut(text, "\n=== head\n")
			head, want, found := strings.Cut(rest, "\n=== told\n")
			if !found {
				t.Fatal("a case has base, === head, === told")
			}
			if got := told([]byte(head+"\n"), []byte(base+"\n")); *update {
				if err := os.WriteFile(name, []byte(base+"\n=== head\n"+head+"\n=== told\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// told is what a case comes to: where a key is from, and what is said of the rest.
func told(head, base []byte) string {
	c, e, err := config.ParseAgainst("ci/x.yaml", head, base)
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	line := func(key string, values ...string) { b.WriteString(key + ": " + strings.Join(values, ", ") + "\n") }
	line("target", c.Target.Model, c.Target.Dir, strings.Join(c.Target.Command, " "))
	if c.Reference != nil {
		line("reference", c.Reference.Model, c.Reference.Dir, strings.Join(c.Reference.Command, " "))
	}
	line("runner", c.Runner)
	for _, s := range c.Scenarios {
		line("scenario", s.Name)
	}
	if e.Model.Key != "" {
		line("model", e.Model.String())
	}
	for _, k := range e.Target {
		line("under test", k.String())
	}
	for _, k := range e.Keys {
		line("edit", k.String())
	}
	for _, u := range c.Unused {
		line("unused", u)
	}
	return b.String()
}

const sound = `version: 1
runner: r1
target: {base_url: "http://127.0.0.1:8000/v1", model: some/model}
scenarios: {chat: {dataset: {kind: random, input_tokens: 8}, output_tokens: 8, load: {rate: 1, requests: 60}}}
`

// What is said of a rule is shown at a line of the change.
func TestRulesOfBaseStandWhereTheHeadHasThem(t *testing.T) {
	gated := func(rules string) []byte {
		return []byte(sound + "gate:\n  rules:\n" + rules + "  waivers:\n    - {metric: tpot.mean, scenario: chat, ceiling: 9%, until: 2027-01-31, why: x}\n")
	}
	const mean, median = "    - {metric: tpot.mean, tolerance: 5%}\n", "    - {metric: tpot.p50, tolerance: 5%}\n"
	for name, c := range map[string]struct {
		head []byte
		want []int // of the rule on the mean, of that on the median, of the waiver, of the scenario
	}{
		"the same":        {gated(mean + median), []int{7, 8, 10, 4}},
		"further down":    {append([]byte("# a\n# b\n"), gated(mean+median)...), []int{9, 10, 12, 6}},
		"in other order":  {gated(median + mean), []int{8, 7, 10, 4}},
		"another number":  {gated(strings.Replace(mean, "5%", "50%", 1) + median), []int{7, 8, 10, 4}},
		"one is gone":     {gated(median), []int{0, 7, 9, 4}},
		"another kind":    {gated(strings.Replace(mean, "tolerance: 5%", "max: 1s", 1) + median), []int{0, 8, 10, 4}},
		"nothing is left": {[]byte(strings.Replace(sound, "{chat:", "{talk:", 1)), []int{0, 0, 0, 0}},
	} {
		got, _, err := config.ParseAgainst("./ci/x.yaml", c.head, gated(mean+median))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p := got.Policy
		var lines []int
		for _, at := range []gate.Place{p.Rules[0].At, p.Rules[1].At, p.Waivers[0].At, got.Scenarios[0].At} {
			lines = append(lines, at.Line)
			if at.File != "ci/x.yaml" {
				t.Errorf("%s: stands in %q", name, at.File)
			}
		}
		if diff := cmp.Diff(c.want, lines); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got.File != "./ci/x.yaml" {
			t.Errorf("the file is %q", got.File)
		}
	}
}

func TestMistakesNameTheSideThatHoldsThem(t *testing.T) {
	bad := strings.Replace(sound, "model: some/model", "modle: some/model", 1)
	for name, c := range map[string]struct{ head, base, want string }{
		"the head's target":       {bad, sound, "ci/x.yaml:3:"},
		"the head's other keys":   {sound + "gates: {}\n", sound, "ci/x.yaml:5:"},
		"no head":                 {"", sound, "ci/x.yaml: the file is empty"},
		"a conflict in the head":  {"<<<<<<< a\n", sound, "ci/x.yaml:1:"},
		"base":                    {sound, bad, "ci/x.yaml at base:3:"},
		"no text at base":         {sound, "", "ci/x.yaml at base: the file is empty"},
		"another version at base": {sound, "version: 2\n", "ci/x.yaml at base:1:"},
		"both":                    {bad, bad, "ci/x.yaml:3:"},
	} {
		_, _, err := config.ParseAgainst("ci/x.yaml", []byte(c.head), []byte(c.base))
		var mistake *config.Error
		if !errors.As(err, &mistake) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestAReferencesCheckoutIsAskedForItsTarget(t *testing.T) {
	text := strings.Replace(sound, "model: some/model}", `model: MODEL, dir: DIR, command: [serve, MODEL]}`, 1)
	of := func(model, dir string) []byte {
		return []byte(strings.NewReplacer("MODEL", model, "DIR", dir).Replace(text) + "reference: {dir: base}\n")
	}
	c, _, err := config.ParseAgainstBeside("x.yaml", of("new", "engine"), of("old", "."), "base/x.yaml", of("old", "server"))
	if err != nil {
		t.Fatal(err)
	}
	want := [4]string{"new", "engine", "old", "base/server"}
	if diff := cmp.Diff(want, [4]string{c.Target.Model, c.Target.Dir, c.Reference.Model, c.Reference.Dir}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, _, err := config.ParseAgainstBeside("x.yaml", of("new", "."), of("old", "."), "base/x.yaml", []byte("version: 2")); err == nil || !strings.HasPrefix(err.Error(), "base/x.yaml:1:") {
		t.Errorf("error %v", err)
	}
}

func TestLinesOfEditsAreCut(t *testing.T) {
	e := config.Edits{Keys: []config.Edit{{Key: "a", Before: "1", After: "2"}, {Key: "b", After: "2"}, {Key: "c", Before: "1"}}}
	for most, want := range map[int][]string{
		3: {"a: 1 → 2", "b: added 2", "c: removed 1"}, 2: {"a: 1 → 2", "and 2 more"}, 1: {"and 3 more"},
	} {
		if diff := cmp.Diff(want, e.Lines(most)); diff != "" {
			t.Errorf("%d (-want +got):\n%s", most, diff)
		}
	}
}

func TestRewrittenFactsAreTheModelAndDatasets(t *testing.T) {
	text := strings.Replace(sound, "scenarios: {", "scenarios: {docs: {dataset: {kind: jsonl, path: ../docs.jsonl}, output_tokens: 8, load: {rate: 1, requests: 60}}, ", 1)
	c, err := config.Parse("ci/x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	model := config.Edits{Model: config.Edit{Key: "target.model", Before: "a", After: "b"}}
	asked := []string{}
	differs := func(yes bool) func(string) (bool, error) {
		return func(file string) (bool, error) { asked = append(asked, file); return yes, nil }
	}
	for name, test := range map[string]struct {
		e    config.Edits
		yes  bool
		want map[string][]string
	}{
		"nothing":      {config.Edits{}, false, map[string][]string{}},
		"the model":    {model, false, map[string][]string{"docs": {bench.KeyModel}, "chat": {bench.KeyModel}}},
		"a dataset":    {config.Edits{}, true, map[string][]string{"docs": {bench.KeyWorkload}}},
		"both of them": {model, true, map[string][]string{"docs": {bench.KeyModel, bench.KeyWorkload}, "chat": {bench.KeyModel}}},
	} {
		got, err := c.Rewritten(test.e, differs(test.yes))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff([]string{"../docs.jsonl", "../docs.jsonl", "../docs.jsonl", "../docs.jsonl"}, asked); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	broken := errors.New("no such commit")
	if _, err := c.Rewritten(model, func(string) (bool, error) { return false, broken }); !errors.Is(err, broken) || !strings.Contains(err.Error(), `"docs"`) {
		t.Errorf("error %v", err)
	}
}

// FuzzAgainst: no two texts make it panic; every key outside target is base's; and texts that mean different things there
// are told apart.
func FuzzAgainst(f *testing.F) {
	for _, pattern := range []string{"testdata/ok/*.yaml", "../../examples/*.yaml"} {
		for _, name := range files(f, pattern) {
			text := readFile(f, name)
			f.Add(text, text)
			f.Add(text, []byte(sound))
			f.Add([]byte(sound), text)
		}
	}
	f.Fuzz(func(t *testing.T, head, base []byte) {
		c, e, err := config.ParseAgainst("x.yaml", head, base)
		if err != nil {
			return
		}
		h, headErr := config.Parse("x.yaml", head)
		b, baseErr := config.Parse("x.yaml", base)
		if headErr != nil || baseErr != nil {
			t.Fatalf("taken, though alone they are wrong: %v, %v", headErr, baseErr)
		}
		if diff := cmp.Diff(h.Target, c.Target); diff != "" {
			t.Fatalf("target (-head +got):\n%s", diff)
		}
		if (h.Target.Model != b.Target.Model) != (e.Model.Key != "") {
			t.Fatalf("model of %q and %q: %+v", b.Target.Model, h.Target.Model, e.Model)
		}
		if diff := cmp.Diff(b.Target, e.Was); diff != "" {
			t.Fatalf("target at base (-base +got):\n%s", diff)
		}
		if len(e.Target) == 0 && !cmp.Equal(h.Target, b.Target) {
			t.Fatalf("no edit of target is told:\n%s\n---\n%s", base, head)
		}
		c.Target, c.Unused, b.Unused = b.Target, nil, nil
		placeless(&b)
		placeless(&c)
		if diff := cmp.Diff(b, c); diff != "" {
			t.Fatalf("all but target (-base +got):\n%s", diff)
		}
		if len(e.Keys) == 0 && !sameBut(h, b) {
			t.Fatalf("no edit is told:\n%s\n---\n%s", base, head)
		}
	})
}

// sameBut compares configs but for their targets, what a reference inherits of those, and places. The order of scenarios
// means nothing.
func sameBut(a, b config.Config) bool {
	for _, c := range []*config.Config{&a, &b} {
		c.Target, c.Reference, c.Unused = config.Target{}, nil, nil
		slices.SortFunc(c.Scenarios, func(x, y config.Scenario) int { return strings.Compare(x.Name, y.Name) })
		slices.Sort(c.Policy.Scenarios)
		placeless(c)
		for i := range c.Policy.Rules {
			slices.Sort(c.Policy.Rules[i].Scenarios)
		}
		slices.SortFunc(c.Policy.Rules, func(x, y gate.Rule) int {
			return strings.Compare(fmt.Sprint(x.Metric, x.Scenarios), fmt.Sprint(y.Metric, y.Scenarios))
		})
	}
	return cmp.Equal(a, b) || !cmp.Equal(a, a)
}

// placeless takes the lines out of a config.
func placeless(c *config.Config) {
	for i := range c.Scenarios {
		c.Scenarios[i].At.Line = 0
	}
	for i := range c.Policy.Rules {
		c.Policy.Rules[i].At.Line = 0
	}
	for i := range c.Policy.Waivers {
		c.Policy.Waivers[i].At.Line = 0
	}
}

func TestEditsOfRulesAreNamedFirst(t *testing.T) {
	e := config.Edits{Keys: []config.Edit{
		{"scenarios.chat.load.rate", "8", "4"},
		{"gate.rules[3]", "", "{metric: tpot.mean}"},
		{"scenarios.chat.primary.tolerance", "5%", "50%"},
		{"gate.rules[0]", "{metric: error.ratio, max: 1%}", ""},
		{"gate.waivers[0]", "", "{ceiling: 90%}"},
	}}
	want := []string{
		"scenarios.chat.primary.tolerance: 5% → 50%", "gate.rules[0]: removed {metric: error.ratio, max: 1%}", "gate.waivers[0]: added {ceiling: 90%}",
		"scenarios.chat.load.rate: 8 → 4", "gate.rules[3]: added {metric: tpot.mean}",
	}
	if diff := cmp.Diff(want, e.Lines(9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
