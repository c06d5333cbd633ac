package workflow

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite examples/workflows")

const examples = "../../examples/workflows"

// shown are the files of examples/workflows: every workflow as it is for a pull request, and the one for a merge queue.
func shown(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{"merge-queue.yml": text(t, "benchgate.yml", Options{GateOn: "merge_group"})}
	for _, name := range Names() {
		files[name] = text(t, name, Options{GateOn: "pull_request"})
	}
	return files
}

func text(t *testing.T, name string, o Options) []byte {
	t.Helper()
	b, err := Text(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestExamplesAreWhatInitWrites(t *testing.T) {
	want := shown(t)
	if *update {
		if err := os.RemoveAll(examples); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(examples, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, b := range want {
			if err := os.WriteFile(filepath.Join(examples, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := map[string][]byte{}
	files, err := filepath.Glob(filepath.Join(examples, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(f)] = b
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("examples/workflows is not what the templates make; go test ./internal/workflow -update writes it (-want +got):\n%s", diff)
	}
}

func TestPinIsTheBuildsOwnCommitOrAPlaceToFill(t *testing.T) {
	const (
		revision = "0123456789abcdef0123456789abcdef01234567"
		toFill   = unknown + " # v0: replace it by the commit of a release"
	)
	for name, c := range map[string]struct{ revision, version, want string }{
		"a release":          {revision, "v1.2.3", revision + " # v1.2.3"},
		"a build of a day":   {revision, "v0.0.0-20261130130000-0123456789ab+dirty", revision + " # v0.0.0-20261130130000-0123456789ab+dirty"},
		"no version":         {revision, "(devel)", revision + " # v0, built from source"},
		"a version of lines": {revision, "v1\n      - run: id", revision + " # v0, built from source"},
		"a release alone":    {"", "v1.2.3", unknown + " # v1.2.3: replace it by the commit of this release"},
		"half a commit":      {revision[:12], "v1.2.3-rc.1", toFill},
		"a branch":           {"main", "(devel)", toFill},
		"no commit at all":   {unknown, "", toFill},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(text(t, "benchgate.yml", Options{GateOn: "pull_request", Revision: c.revision, Version: c.version}))
			if n := strings.Count(got, "benchgate/benchgate@"+c.want+"\n"); n != 3 {
				t.Errorf("%d steps use the action at %q, want 3:\n%s", n, c.want, got)
			}
			if c.want == toFill {
				o := Options{GateOn: "pull_request", Revision: c.revision, Version: c.version, Source: true}
				if got, want := string(text(t, "benchgate.yml", o)), "@"+unknown+" # v0: replace it by a commit of benchgate\n"; strings.Count(got, want) != 3 {
					t.Errorf("a workflow that builds asks for another commit:\n%s", got)
				}
			}
			if open := strings.HasPrefix(c.want, unknown); open != Open([]byte(got)) {
				t.Errorf("open: %t, want %t", !open, open)
			}
		})
	}
}

// TestWhatIsNoReleaseIsBuilt: every job that uses the program builds it, with the Go that the step before has brought, and runs
// that step when it runs the program.
func TestWhatIsNoReleaseIsBuilt(t *testing.T) {
	for _, on := range []string{"pull_request", "merge_group"} {
		for _, name := range Names() {
			used := 0
			for id, j := range parse(t, text(t, name, Options{GateOn: on, Source: true})).Jobs {
				for i, s := range j.Steps {
					if !strings.HasPrefix(s.Uses, "benchgate/benchgate@") {
						continue
					}
					used++
					if s.With["install"] != "source" || i == 0 || !strings.HasPrefix(j.Steps[i-1].Uses, "actions/setup-go@") {
						t.Errorf("%s on %s: job %s has nothing to run: %v", name, on, id, s.With)
					} else if diff := cmp.Diff(s.If, j.Steps[i-1].If); diff != "" {
						t.Errorf("%s on %s: job %s: Go comes when benchgate does not (-benchgate +Go):\n%s", name, on, id, diff)
					}
				}
			}
			if used != 3 {
				t.Errorf("%s on %s: %d jobs use the program, want 3", name, on, used)
			}
			if released := string(text(t, name, Options{GateOn: on})); strings.Contains(released, "setup-go") || strings.Contains(released, "install:") {
				t.Errorf("%s on %s builds what is released", name, on)
			}
		}
	}
}

func TestGateGuardsTheBranchItIsWrittenFor(t *testing.T) {
	for name, want := range map[string]string{"": "main", "main": "main", "trunk": "trunk", "release/2.x": "release/2.x", "1.0": "1.0", "on": "on"} {
		var d struct {
			On struct {
				Pull struct{ Branches []any } `yaml:"pull_request"`
			}
		}
		if err := yaml.Unmarshal(text(t, "benchgate.yml", Options{GateOn: "pull_request", Branch: name}), &d); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{want}, d.On.Pull.Branches); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
	for _, name := range []string{"a'b", "a*", "!main", "[main]", "a b", "-f", "a\nb", "v1+", "${{ x }}"} {
		if b, err := Text("benchgate.yml", Options{GateOn: "pull_request", Branch: name}); err == nil || b != nil {
			t.Errorf("a workflow is written for %q", name)
		}
	}
}

func TestOneWorkflowAloneIsTheGate(t *testing.T) {
	if all := Initial(); slices.Contains(all, several) || !slices.Contains(all, "benchgate.yml") || len(all) != len(Names())-1 {
		t.Errorf("a repository starts with %v of %v", all, Names())
	}
}

func TestWhatThereIsNotIsAnError(t *testing.T) {
	for _, c := range []struct{ name, on, want string }{
		{"weekly.yml", "pull_request", `there is no workflow "weekly.yml"`},
		{"../workflow.go", "pull_request", "there is no workflow"},
		{"benchgate.yml", "pull_request_target", `a gate does not run on "pull_request_target"`},
		{"benchgate.yml", "", `a gate does not run on ""`},
	} {
		if b, err := Text(c.name, Options{GateOn: c.on}); err == nil || !strings.Contains(err.Error(), c.want) || b != nil {
			t.Errorf("%q on %q: %v, want %q", c.name, c.on, err, c.want)
		}
	}
}
