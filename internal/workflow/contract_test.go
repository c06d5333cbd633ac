package workflow

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// document is what these tests ask of a workflow or of action.yml.
type document struct {
	Permissions any
	On          any
	Env         map[string]any
	Jobs        map[string]job
	Inputs      map[string]any
	Outputs     map[string]struct{ Value string }
	Runs        struct {
		Using string
		Steps []step
	}
}

type job struct {
	Permissions any
	Timeout     any `yaml:"timeout-minutes"`
	RunsOn      any `yaml:"runs-on"`
	Env         map[string]any
	Uses        string
	Steps       []step
}

type step struct {
	ID, Uses, Run, Shell string
	With, Env            map[string]any
	If                   any
}

const root = "../.."

func parse(t *testing.T, text []byte) document {
	t.Helper()
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// workflows are all of this repository: its own, the examples, and every one of the templates for every event and pin.
func workflows(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, folder := range []string{".github/workflows", "examples/workflows"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %d files", folder, err, len(files))
		}
		for _, f := range files {
			name := filepath.Join(folder, filepath.Base(f))
			all[name] = read(t, name)
		}
	}
	for _, on := range []string{"pull_request", "merge_group"} {
		for _, name := range Initial() {
			o := Options{GateOn: on, Revision: strings.Repeat("a1", 20), Version: "v1.2.3"}
			all["init on "+on+": "+name] = text(t, name, o)
			o.Source = true
			all["init on "+on+", built: "+name] = text(t, name, o)
		}
	}
	return all
}

var (
	uses   = regexp.MustCompile(`(?m)^[^#\n]*\buses: *(.*)$`)
	pinned = regexp.MustCompile(`^([\w.-]+/[\w./-]+)@([0-9a-f]{40}) # v[0-9]`)
)

// TestActionsArePinnedByCommit wants one commit for one action everywhere, but for our own.
func TestActionsArePinnedByCommit(t *testing.T) {
	seen := map[string]string{}
	for name, b := range workflows(t) {
		for _, m := range uses.FindAllStringSubmatch(string(b), -1) {
			if strings.HasPrefix(m[1], "./") { // a checkout of this repository
				continue
			}
			p := pinned.FindStringSubmatch(m[1])
			if p == nil {
				t.Errorf("%s: %q is no commit with its version in a comment", name, m[1])
			} else if before := seen[p[1]]; before != "" && before != m[1] && p[1] != "benchgate/benchgate" {
				t.Errorf("%s: %q here and %q elsewhere", name, m[1], before)
			} else {
				seen[p[1]] = m[1]
			}
		}
	}
	if len(seen) < 5 {
		t.Errorf("saw only %d actions: is the test looking in the right place?", len(seen))
	}
}

// TestWorkflowsGiveAwayNothing: no rights unless a job asks, a limit of time everywhere, no key left in a checkout, and no
// foreign text in a script.
func TestWorkflowsGiveAwayNothing(t *testing.T) {
	for name, b := range workflows(t) {
		d := parse(t, b)
		if diff := cmp.Diff(map[string]any{}, d.Permissions); diff != "" {
			t.Errorf("%s: permissions at the top (-want +got):\n%s", name, diff)
		}
		if strings.Contains(fmt.Sprint(d.On), "pull_request_target") || strings.Contains(fmt.Sprint(d.On), "workflow_run") {
			t.Errorf("%s runs on %v", name, d.On)
		}
		for id, j := range d.Jobs {
			if j.Timeout == nil && j.Uses == "" {
				t.Errorf("%s: job %s has no timeout-minutes", name, id)
			}
			if j.Permissions == nil {
				t.Errorf("%s: job %s does not say its permissions", name, id)
			}
			for _, s := range j.Steps {
				if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
					t.Errorf("%s: job %s keeps the credentials of its checkout", name, id)
				}
				if strings.Contains(s.Run, "${{") {
					t.Errorf("%s: job %s puts a value into a script: %q", name, id, s.Run)
				}
			}
		}
	}
}

// TestWorkflowsSpeakTheActionsWords holds what they ask and read against action.yml: GitHub only warns of an input that there
// is not, and an output that there is not is empty.
func TestWorkflowsSpeakTheActionsWords(t *testing.T) {
	a := parse(t, read(t, "action.yml"))
	asked := 0
	for name, b := range workflows(t) {
		d := parse(t, b)
		for id, j := range d.Jobs {
			for _, s := range j.Steps {
				if !ours(s) {
					continue
				}
				asked++
				for key := range s.With {
					if _, ok := a.Inputs[key]; !ok {
						t.Errorf("%s: job %s sets %q, which is no input", name, id, key)
					}
				}
				if s.With["mode"] == nil {
					t.Errorf("%s: job %s gives no mode", name, id)
				}
				for _, m := range regexp.MustCompile(`steps\.`+s.ID+`\.outputs\.([\w-]+)`).FindAllStringSubmatch(string(b), -1) {
					if _, ok := a.Outputs[m[1]]; s.ID != "" && !ok {
						t.Errorf("%s: %q is no output", name, m[0])
					}
				}
			}
		}
	}
	if asked < 10 {
		t.Errorf("saw only %d steps: is the test looking in the right place?", asked)
	}
}

func ours(s step) bool {
	return strings.HasPrefix(s.Uses, "./") || strings.HasPrefix(s.Uses, "benchgate/benchgate@")
}

// variable is what an input is called in the environment: a composite action's steps get no INPUT_ of the runner.
func variable(input string) string {
	return "BENCHGATE_" + strings.ToUpper(strings.ReplaceAll(input, "-", "_"))
}

// TestActionHandsEveryInputOver: each is in the environment of the step that reads it, by itself, and in no script.
func TestActionHandsEveryInputOver(t *testing.T) {
	a := parse(t, read(t, "action.yml"))
	if a.Runs.Using != "composite" {
		t.Errorf("it is %q: a docker action does not run on macOS", a.Runs.Using)
	}
	env, got := map[string]any{}, map[string]string{}
	for _, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") || s.Shell != "bash" || !strings.HasPrefix(s.Run, "exec ") {
			t.Errorf("step %s runs %q by %q", s.ID, s.Run, s.Shell)
		}
		maps.Copy(env, s.Env)
	}
	want := map[string]string{
		"BENCHGATE_ACTION_REPOSITORY": "${{ github.action_repository }}",
		"BENCHGATE_BIN":               "${{ steps.install.outputs.bin }}",
	}
	for input := range a.Inputs {
		want[variable(input)] = "${{ inputs." + input + " }}"
	}
	// The job that measures runs the code of the change: it never has the token, whatever a workflow says.
	want["BENCHGATE_TOKEN"] = "${{ (inputs.mode == 'judge' || inputs.mode == 'keep') && inputs.token || '' }}"
	for k, v := range env {
		got[k] = fmt.Sprint(v)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for name, o := range a.Outputs {
		if want := "${{ steps.benchgate.outputs." + name + " }}"; o.Value != want {
			t.Errorf("output %s is %q, want %q", name, o.Value, want)
		}
	}
}

// TestActionIsTheContract spells out what other people's workflows depend on.
func TestActionIsTheContract(t *testing.T) {
	a := parse(t, read(t, "action.yml"))
	want := strings.Fields(`api-url baseline-ref binary binary-sha256 comment comment-key config config-ref install lock
		lock-timeout mode out results scenarios status token upstream-result`)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(a.Inputs))); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	want = strings.Fields("base comment-state exit-code needed publish-errors report verdict verdict-sha256")
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(a.Outputs))); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}

// TestBaseIsNeverTheChangeItself: actions/checkout takes an empty ref for the commit of the event.
func TestBaseIsNeverTheChangeItself(t *testing.T) {
	seen := 0
	for name, b := range workflows(t) {
		for id, j := range parse(t, b).Jobs {
			for _, s := range j.Steps {
				if s.With["path"] != "base" {
					continue
				}
				seen++
				if ref := s.With["ref"]; ref != "${{ needs.plan.outputs.base }}" || s.If != "needs.plan.outputs.base != ''" {
					t.Errorf("%s: job %s checks out %v as the base if %v", name, id, ref, s.If)
				}
			}
		}
	}
	if seen < 3 {
		t.Errorf("saw only %d checkouts: is the test looking in the right place?", seen)
	}
}

// TestEveryOutputIsWritten holds what the program tells the workflow against action.yml.
func TestEveryOutputIsWritten(t *testing.T) {
	files, err := filepath.Glob(root + "/cmd/benchgate/action*.go")
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]bool{}
	for _, f := range files {
		for _, m := range regexp.MustCompile(`\.output\("([\w-]+)"`).FindAllSubmatch(read(t, "cmd/benchgate/"+filepath.Base(f)), -1) {
			written[string(m[1])] = true
		}
	}
	named := parse(t, read(t, "action.yml")).Outputs
	if diff := cmp.Diff(slices.Sorted(maps.Keys(named)), slices.Sorted(maps.Keys(written))); diff != "" {
		t.Errorf("-action.yml +program:\n%s", diff)
	}
}

// TestEveryInputIsRead looks for each input where it is read: in the script that installs, or in the program.
func TestEveryInputIsRead(t *testing.T) {
	script, program := string(read(t, "scripts/install-action.sh")), string(read(t, "cmd/benchgate/action_inputs.go"))
	for input := range parse(t, read(t, "action.yml")).Inputs {
		byScript, byProgram := strings.Contains(script, "${"+variable(input)+":-"), strings.Contains(program, `("`+input+`"`)
		if byScript == byProgram {
			t.Errorf("input %s: read by the script %t, by the program %t, want one of them", input, byScript, byProgram)
		}
	}
}
