package config_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/gate"
)

const minimal = `version: 1
runner: RUNNER
target: {base_url: "http://127.0.0.1:8000/v1", model: some/model}
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 32}
    output_tokens: 16
    load: {concurrency: 4, requests: 60}
`

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func runner(name string) string { return strings.Replace(minimal, "RUNNER", name, 1) }

func TestEveryMistakeHasItsPlace(t *testing.T) {
	_, err := config.Parse("dir/x.yaml", []byte(strings.Replace(runner("r1"), "requests: 60", "requests: 0", 1)))
	var e *config.Error
	if !errors.As(err, &e) {
		t.Fatalf("not a *config.Error: %v", err)
	}
	want := config.Error{
		File: "dir/x.yaml", Line: 8, Column: 38, Message: "scenarios.chat.load.requests: 0 is too small", Hint: "write 1 or more",
		Snippet: "   8 |     load: {concurrency: 4, requests: 0}\n     |                                      ^",
	}
	if diff := cmp.Diff(want, *e, cmp.AllowUnexported(config.Error{}), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".cause" }, cmp.Ignore())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDefaultsAreThoseOfTheGate(t *testing.T) {
	c, err := config.Parse("x.yaml", []byte(runner("r1")))
	if err != nil {
		t.Fatal(err)
	}
	want := gate.Defaults()
	want.Planned = false
	want.Scenarios, want.Looks = []string{"chat"}, []int{6, 8, 10}
	want.Rules = want.Rules[1:] // without a primary, the limit on errors is all that is asked
	if diff := cmp.Diff(want, c.Policy); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAMarginLeftOutIsThatOfTheGate(t *testing.T) {
	c, err := config.Parse("x.yaml", []byte(runner("r1")+"    primary: {metric: ttft.p95}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := gate.Defaults().Rules[0]
	want.Fallback, want.Scenarios, want.At = "", []string{"chat"}, gate.Place{File: "x.yaml", Line: 9}
	if diff := cmp.Diff(want, c.Policy.Rules[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestKeysThatDoNothingAreSaid(t *testing.T) {
	text := strings.Replace(runner("r1"), "model: some/model}", "model: some/model, metrics: /metrics}", 1) + `reference: {dir: base}
campaign:
  design: committed
  visit_runs: 2
  looks:
    - 6
`
	c, err := config.Parse("dir/x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"dir/x.yaml:9: reference is not used by design: committed", "dir/x.yaml:12: campaign.visit_runs is not used by design: committed",
		"dir/x.yaml:13: campaign.looks is not used by design: committed",
	}
	if diff := cmp.Diff(want, c.Unused); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExamplesSetNothingThatDoesNothing(t *testing.T) {
	for _, name := range append(files(t, "../../examples/*.yaml"), files(t, "../../examples/*/*.yaml")...) {
		c, err := config.Parse(filepath.Base(name), readFile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Unused) > 0 {
			t.Errorf("%s: %q", name, c.Unused)
		}
	}
}

func TestDesignsSayWhatTheyDoNotUse(t *testing.T) {
	all := runner("r1") + "reference: {dir: base}\ncampaign: {design: DESIGN, runs: 3, looks: [4], visit_runs: 2, cooldown: 1s}\n"
	for design, want := range map[string][]string{
		"committed": {
			"x.yaml:10: campaign.cooldown is not used by design: committed", "x.yaml:10: campaign.looks is not used by design: committed",
			"x.yaml:10: campaign.visit_runs is not used by design: committed", "x.yaml:9: reference is not used by design: committed",
		},
		"interleaved": {"x.yaml:10: campaign.runs is not used by design: interleaved"},
		"confirm":     nil,
	} {
		c, err := config.Parse("x.yaml", []byte(strings.Replace(all, "DESIGN", design, 1)))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(c.Unused)
		if diff := cmp.Diff(want, c.Unused); diff != "" {
			t.Errorf("%s (-want +got):\n%s", design, diff)
		}
	}
}

func TestReferenceInheritsFromTheConfigAtBase(t *testing.T) {
	const head = `version: 1
runner: r1
target: {base_url: "http://127.0.0.1:{port}/v1", model: new, command: [serve, --new, "{port}"], dir: engine}
reference: REFERENCE
scenarios: {chat: {dataset: {kind: random, input_tokens: 8}, output_tokens: 8, load: {rate: 1, requests: 60}}}
`
	const base = `version: 1
runner: r1
target:
  base_url: http://127.0.0.1:{port}/v1
  model: old
  command: [serve, --old, "{port}"]
  dir: server
  env: {THREADS: "1"}
  ready: {within: 1m}
scenarios: {chat: {dataset: {kind: random, input_tokens: 8}, output_tokens: 8, load: {rate: 1, requests: 60}}}
`
	type wanted struct {
		Model, Dir, Flag, Threads string
		ReadyIn                   time.Duration
	}
	for name, test := range map[string]struct {
		reference string
		beside    string
		want      wanted
	}{
		"no config at base":          {"{dir: base}", "", wanted{"new", "base", "--new", "", 10 * time.Minute}},
		"a config at base":           {"{dir: base}", "base/x.yaml", wanted{"old", "base/server", "--old", "1", time.Minute}},
		"what reference says wins":   {"{dir: base, model: mine, ready: {within: 2m}}", "base/x.yaml", wanted{"mine", "base/server", "--old", "1", 2 * time.Minute}},
		"a block goes key by key":    {"{dir: base, ready: {path: /health}}", "base/x.yaml", wanted{"old", "base/server", "--old", "1", time.Minute}},
		"an environment of its own":  {"{dir: base, env: {THREADS: '8'}}", "base/x.yaml", wanted{"old", "base/server", "--old", "8", time.Minute}},
		"configs in a folder":        {"{dir: base}", "base/gates/x.yaml", wanted{"old", "base/gates/server", "--old", "1", time.Minute}},
		"another folder of the head": {"{env: {A: b}}", "", wanted{"new", "engine", "--new", "", 10 * time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte(strings.Replace(head, "REFERENCE", test.reference, 1))
			c, err := config.Parse("x.yaml", text)
			if test.beside != "" {
				c, err = config.ParseBeside("x.yaml", text, test.beside, []byte(base))
			}
			if err != nil {
				t.Fatal(err)
			}
			r := c.Reference
			if diff := cmp.Diff(test.want, wanted{r.Model, r.Dir, r.Command[1], r.Env["THREADS"], r.ReadyIn}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.Target.Model != "new" || c.Target.Dir != "engine" {
				t.Errorf("the target itself became %q in %q", c.Target.Model, c.Target.Dir)
			}
		})
	}
}

func TestTheFolderOfTheBuildAtBase(t *testing.T) {
	const text = `version: 1
runner: r1
target: {base_url: "http://127.0.0.1:{port}/v1", model: m, command: [serve, "{port}"], dir: DIR}
reference: {dir: REFERENCE}
scenarios: {chat: {dataset: {kind: random, input_tokens: 8}, output_tokens: 8, load: {rate: 1, requests: 60}}}
`
	for name, test := range map[string]struct{ dir, reference, file, want string }{
		"the top of the checkout":       {"..", "../base", "base/gates/x.yaml", "../base"},
		"beside the config":             {".", "../base", "base/gates/x.yaml", "../base/gates"},
		"a checkout among the configs":  {"../server", "base", "gates/base/gates/x.yaml", "base/server"},
		"by its full path":              {"..", "/srv/base", "/srv/base/gates/x.yaml", "/srv/base"},
		"an absolute folder at base":    {"/opt/build", "../base", "base/gates/x.yaml", "../base"},
		"out of it, back to the head":   {"..", "../base", "base/x.yaml", ""},
		"out of it to nobody knows":     {"../../..", "../base", "base/gates/x.yaml", ""},
		"out of it, from the full path": {"..", "/srv/base", "/srv/base/x.yaml", ""},
	} {
		base := strings.NewReplacer("DIR", test.dir, "REFERENCE", test.reference).Replace(text)
		c, err := config.ParseBeside("gates/x.yaml", []byte(base), test.file, []byte(base))
		if test.want == "" {
			var mistake *config.Error
			if !errors.As(err, &mistake) || !strings.Contains(mistake.Message, "reference.dir") || mistake.Hint == "" {
				t.Errorf("%s: error is %v", name, err)
			}
			continue
		}
		if err != nil || c.Reference.Dir != test.want {
			t.Errorf("%s: the reference runs in %+v, want %q (%v)", name, c.Reference, test.want, err)
		}
	}
}

func TestAPortOfTheReferencesOwnNeedsNoCommand(t *testing.T) {
	text := strings.Replace(runner("r1"), "model: some/model}", `model: some/model, command: [serve, --port, "{port}"]}`, 1)
	text = strings.Replace(text, `base_url: "http://127.0.0.1:8000/v1"`, `base_url: "http://127.0.0.1:{port}/v1"`, 1)
	own := text + "reference: {base_url: 'http://127.0.0.1:9000/v1'}\n"
	for name, parse := range map[string]func() (config.Config, error){
		"inherited from the head": func() (config.Config, error) { return config.Parse("x.yaml", []byte(own)) },
		"inherited from base": func() (config.Config, error) {
			return config.ParseBeside("x.yaml", []byte(own), "base/x.yaml", []byte(text))
		},
	} {
		_, err := parse()
		var mistake *config.Error
		if !errors.As(err, &mistake) || !strings.Contains(mistake.Message, "reference.base_url") || !strings.Contains(mistake.Hint, "command: []") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	c, err := config.Parse("x.yaml", []byte(strings.Replace(own, "9000/v1'}", "9000/v1', command: []}", 1)))
	if err != nil || len(c.Reference.Command) != 0 || len(c.Target.Command) == 0 {
		t.Errorf("command: [] gives %v, %v", c.Reference, err)
	}
}

func TestAMistakeInTheConfigAtBaseNamesThatFile(t *testing.T) {
	text := []byte(runner("r1") + "reference: {dir: base}\n")
	for name, base := range map[string]string{
		"no YAML": "version: [", "another version": "version: 2\n", "an unknown key": runner("r1") + "targets: {}\n",
	} {
		_, err := config.ParseBeside("x.yaml", text, "base/x.yaml", []byte(base))
		if err == nil || !strings.Contains(err.Error(), "base/x.yaml") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What is wrong only together with the head's keys is shown in the head's file.
	long := strings.Repeat("# a comment\n", 50) + strings.Replace(runner("r1"), "model: some/model}", "model: some/model, command: [serve]}", 1)
	clash := []byte(runner("r1") + "reference: {dir: base, base_url: 'http://127.0.0.1:{port}/v1'}\n")
	if _, err := config.ParseBeside("x.yaml", clash, "base/x.yaml", []byte(long)); err == nil || !strings.Contains(err.Error(), "x.yaml") {
		t.Errorf("a port that nothing is told of: %v", err)
	}
}

func TestRulesStandAtAPathOfTheRepository(t *testing.T) {
	c, err := config.Parse("./benchgate/x.yaml", []byte(runner("r1")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gate.Place{File: "benchgate/x.yaml", Line: 5}, c.Scenarios[0].At); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.File != "./benchgate/x.yaml" {
		t.Errorf("File is %q, want the name as given", c.File)
	}
}

func TestAScenarioIsFoundByItsName(t *testing.T) {
	c, err := config.Parse("x.yaml", []byte(runner("r1")))
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := c.Scenario("chat"); !ok || s.OutputTokens != 16 {
		t.Errorf("chat: %+v, %v", s, ok)
	}
	if s, ok := c.Scenario("chatt"); ok {
		t.Errorf("chatt: found %+v", s)
	}
}

func TestAFolderHoldsOneRunnerAFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gates[1]*")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "b.yaml"), runner("two"))
	write(t, filepath.Join(dir, "a.yaml"), runner("one"))
	write(t, filepath.Join(dir, "notes.txt"), "not a config")
	all, err := config.Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range all {
		names = append(names, filepath.Base(c.File)+" "+c.Runner)
	}
	if diff := cmp.Diff([]string{"a.yaml one", "b.yaml two"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	one, err := config.Folder(filepath.Join(dir, "a.yaml"))
	if err != nil || len(one) != 1 || one[0].Runner != "one" {
		t.Errorf("a file by itself: %v, %v", one, err)
	}
}

func TestARunnerNamedTwiceIsRefused(t *testing.T) {
	dir := t.TempDir()
	first := write(t, filepath.Join(dir, "a.yaml"), runner("same"))
	second := write(t, filepath.Join(dir, "b.yaml"), "# a comment\n"+runner("same"))
	_, err := config.Folder(dir)
	want := second + `:3:9: runner: "same" is already the runner of ` + first + `, line 2
   3 | runner: same
     |         ^^^^
  hint: give each file its own runner: the name is that of the folder under baselines/`
	if err == nil || err.Error() != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, errText(err)))
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAFolderTellsTheMistakesOfEveryFile(t *testing.T) {
	dir := t.TempDir()
	a := write(t, filepath.Join(dir, "a.yaml"), strings.Replace(runner("r1"), "requests: 60", "requests: 0", 1))
	b := write(t, filepath.Join(dir, "b.yaml"), "version: 3\n")
	_, err := config.Folder(dir)
	if !strings.Contains(errText(err), a+":8:38") || !strings.Contains(errText(err), b+":1:10") {
		t.Errorf("want the places in both files, got:\n%v", err)
	}
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none.yaml")
	for name, read := range map[string]func() error{
		"a missing file":       func() error { _, err := config.Read(missing); return err },
		"a missing folder":     func() error { _, err := config.Folder(missing); return err },
		"a folder as a file":   func() error { _, err := config.Read(dir); return err },
		"a folder without any": func() error { _, err := config.Folder(dir); return err },
	} {
		err := read()
		var e *config.Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.File, dir) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(name, "missing") && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v is not fs.ErrNotExist", name, err)
		}
	}
}

func TestAHugeFileIsRefusedUnread(t *testing.T) {
	name := filepath.Join(t.TempDir(), "huge.yaml")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(200 << 20); err != nil { // 200 MB of one line, without a byte on disk
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = config.Read(name)
	if want := name + ": the file is larger than 1048576 bytes"; !strings.HasPrefix(errText(err), want) {
		t.Errorf("want %q, got %v", want, err)
	}
}

func TestAFileOfTooManyPartsIsRefusedUnparsed(t *testing.T) {
	_, err := config.Parse("x.yaml", []byte("a: ["+strings.Repeat("1,", 60_000)+"1]"))
	if want := "x.yaml: the file has more than 100000 parts"; !strings.HasPrefix(errText(err), want) {
		t.Errorf("want %q, got %v", want, err)
	}
}

// Every text here is near the limits, and was chosen to be expensive: what is bounded has to be cheap to refuse or read.
func TestHostileTextIsRefused(t *testing.T) {
	size := 1 << 20
	if testing.Short() {
		size = 1 << 14
	}
	fill := func(before, unit, after string) string {
		return before + strings.Repeat(unit, (size-len(before)-len(after))/len(unit)) + after
	}
	var keys bytes.Buffer
	for i := 0; keys.Len() < size-20; i++ {
		keys.WriteString(strings.Repeat("k", 1+i%7) + string(rune('a'+i%26)) + ": 1\n")
	}
	for name, text := range map[string]string{
		"open lists":       fill("a: ", "[", ""),
		"open mappings":    fill("a: ", "{b: ", ""),
		"dashes":           fill("", "- ", "a"),
		"question marks":   fill("", "? ", "a"),
		"one long word":    fill("a: ", "x", ""),
		"one long quote":   fill(`a: "`, `\"`, `"`),
		"many lines":       keys.String(),
		"a long list":      fill("a: [", "1,", "1]"),
		"a long block":     fill("a: |\n", " x\n", ""),
		"folded words":     fill("a: ", "x\n ", ""),
		"comments":         fill("", "#\n", ""),
		"blanks":           fill("a:", " ", "1"),
		"empty lines":      fill("a:", "\n", " 1"),
		"anchors":          fill("", "&a ", ""),
		"aliases":          fill("a: ", "*a ", ""),
		"tags":             fill("a: ", "!!str ", ""),
		"colons":           fill("", ": ", ""),
		"colons alone":     fill("", ":", ""),
		"documents":        fill("", "---\n", ""),
		"directives":       fill("", "%Y\n", ""),
		"quotes":           fill("", `'`, ""),
		"closing brackets": fill("", "]", ""),
		"closing braces":   fill("a: {b: 1", "}", ""),
		"commas":           fill("a: [", ",", "]"),
		"merge keys":       fill("", "<<: {}\n", ""),
		"env of thousands": fill(runner("r1")+"x: {", "a: b, ", "}"),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := config.Parse("x.yaml", []byte(text)); err == nil {
				t.Error("accepted")
			} else if len(err.Error()) > 20_000 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}
