package workflow

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// ownGate is the gate of this repository, which is written by hand.
const ownGate = ".github/workflows/self-gate.yml"

// written are the workflows that people take, every template for every event, and those of this repository that measure.
func written(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range []string{ownGate, ".github/workflows/nightly.yml"} {
		all[name] = read(t, name)
	}
	for _, on := range []string{"pull_request", "merge_group"} {
		for _, name := range Names() {
			all[on+" "+name] = text(t, name, Options{GateOn: on})
		}
	}
	return all
}

// TestNothingOfAnotherJobLiesInTheCheckout: the links of a checkout are the change's, and may lead into .git.
func TestNothingOfAnotherJobLiesInTheCheckout(t *testing.T) {
	seen := 0
	for name, b := range written(t) {
		for id, j := range parse(t, b).Jobs {
			for _, s := range j.Steps {
				var places []string
				switch {
				case strings.HasPrefix(s.Uses, "actions/upload-artifact@"), strings.HasPrefix(s.Uses, "actions/download-artifact@"):
					places = []string{"path"}
				case s.With["mode"] == "run":
					places = []string{"out"}
				case s.With["mode"] == "judge":
					places = []string{"results", "out"}
				case s.With["mode"] == "keep":
					places = []string{"results"}
				}
				for _, input := range places {
					seen++
					if at := fmt.Sprint(s.With[input]); !strings.HasPrefix(at, "${{ runner.temp }}/") {
						t.Errorf("%s: job %s: %s is %s", name, id, input, at)
					}
				}
			}
		}
	}
	if seen < 45 {
		t.Errorf("saw only %d places: is the test looking in the right place?", seen)
	}
}

// TestTheJobThatMeasuresHoldsNothing: it runs the code of the change, so it reads the repository and may do nothing else, no
// secret and no token is in its steps, and no step of it judges. A job with more rights runs nothing on the lab machine.
func TestTheJobThatMeasuresHoldsNothing(t *testing.T) {
	measuring := 0
	for name, b := range written(t) {
		d := parse(t, b)
		if len(d.Env) > 0 {
			t.Errorf("%s: every job has %v in its environment", name, d.Env)
		}
		for id, j := range d.Jobs {
			if lab := strings.Contains(fmt.Sprint(j.RunsOn), "self-hosted"); lab != measures(j) {
				t.Errorf("%s: job %s runs on the lab machine: %t, measures: %t", name, id, lab, !lab)
			}
			if !measures(j) {
				continue
			}
			measuring++
			if diff := cmp.Diff(any(map[string]any{"contents": "read"}), j.Permissions); diff != "" {
				t.Errorf("%s: permissions of job %s (-want +got):\n%s", name, id, diff)
			}
			if said := fmt.Sprint(j); strings.Contains(said, "secrets.") || strings.Contains(said, "token") {
				t.Errorf("%s: job %s has a secret or a token: %s", name, id, said)
			}
		}
	}
	if measuring != 9 {
		t.Errorf("%d jobs measure: is the test looking in the right place?", measuring)
	}
}

// measures reports whether a step of a job runs what is measured.
func measures(j job) bool {
	return slices.ContainsFunc(j.Steps, func(s step) bool { return ours(s) && s.With["mode"] == "run" })
}

// TestAChangeIsJudgedByTheProgramOfItsBase: our own gate is built from a checkout, and that of the job that judges is the base
// commit's, in a place where the change has nothing.
func TestAChangeIsJudgedByTheProgramOfItsBase(t *testing.T) {
	const folder = ".benchgate-base"
	var base, judges step
	free := false
	for _, s := range parse(t, read(t, ownGate)).Jobs["verdict"].Steps {
		switch {
		case s.With["mode"] == "judge":
			judges = s
		case s.With["path"] == folder && base.Uses == "" && free && strings.HasPrefix(s.Uses, "actions/checkout@"):
			base = s
		case s.Run == "test ! -e "+folder+" -a ! -L "+folder:
			free = true
		}
	}
	// The job plan runs the change's program: what it calls the base is the change's word.
	if want := "${{ github.event.pull_request.base.sha || github.event.merge_group.base_sha }}"; base.With["ref"] != want {
		t.Errorf("the base commit is %v, want %s, where nothing of the change lies", base.With["ref"], want)
	}
	if judges.With["config-ref"] != nil || judges.With["baseline-ref"] != nil {
		t.Errorf("the change says what it is held against: %v", judges.With)
	}
	if judges.Uses != "./"+folder || judges.With["install"] != "source" {
		t.Errorf("the action that judges is %s, its program %v", judges.Uses, judges.With["install"])
	}
}

// TestAMeasurementThatLeavesNothingIsRed: what is uploaded of a job that measures is what it is judged by.
func TestAMeasurementThatLeavesNothingIsRed(t *testing.T) {
	for name, b := range written(t) {
		for _, s := range parse(t, b).Jobs["bench"].Steps {
			if strings.HasPrefix(s.Uses, "actions/upload-artifact@") && s.With["if-no-files-found"] != "error" {
				t.Errorf("%s: a missing upload is %v", name, s.With["if-no-files-found"])
			}
		}
	}
}

// measuredIf is when a gate measures: in the queue, or an open pull request that is no fork's.
func measuredIf(name string) string {
	const (
		needed = "needs.plan.outputs.needed == 'true' && "
		queue  = "github.event_name == 'merge_group'"
		pull   = "github.event.pull_request.state == 'open' && github.event.pull_request.head.repo.full_name == github.repository"
	)
	switch name {
	case ownGate:
		return needed + "(" + queue + " || " + pull + ")"
	case "merge_group benchgate.yml":
		return needed + queue
	}
	return needed + pull
}

// TestACheckIsEarnedAgainstTheBaseItGuards: a pull request against a branch of its author's starts nothing, one that is given
// another base is judged anew, and no job asks which kind of edit it was: a job that is skipped counts as passed. What was closed
// is not measured, and judged all the same.
func TestACheckIsEarnedAgainstTheBaseItGuards(t *testing.T) {
	gates := 0
	for name, b := range written(t) {
		var d struct {
			On   map[string]any
			Jobs map[string]struct{ If any }
		}
		if err := yaml.Unmarshal(b, &d); err != nil {
			t.Fatal(err)
		}
		on, ok := d.On["pull_request"]
		if !ok {
			continue
		}
		gates++
		want := map[string]any{"branches": []any{"main"}, "types": []any{"opened", "reopened", "synchronize", "edited"}}
		if diff := cmp.Diff(want, on); diff != "" {
			t.Errorf("%s: pull_request (-want +got):\n%s", name, diff)
		}
		for id, j := range d.Jobs {
			if strings.Contains(fmt.Sprint(j.If), "github.event.action") || strings.Contains(fmt.Sprint(j.If), "changes") {
				t.Errorf("%s: job %s runs if %v", name, id, j.If)
			}
		}
		if want := measuredIf(name); d.Jobs["bench"].If != want {
			t.Errorf("%s: it is measured if %v, want %s", name, d.Jobs["bench"].If, want)
		}
		if d.Jobs["verdict"].If != "always()" {
			t.Errorf("%s: the verdict is told if %v", name, d.Jobs["verdict"].If)
		}
	}
	if names := Names(); gates != 5 || !slices.Contains(names, several) {
		t.Errorf("%d gates of %v", gates, names)
	}
}

// TestNothingJudgedIsNotGreen: a cancel may skip the step that judges in a job that goes on, which would then end green.
func TestNothingJudgedIsNotGreen(t *testing.T) {
	seen := 0
	for name, b := range workflows(t) {
		for id, j := range parse(t, b).Jobs {
			for i, s := range j.Steps {
				if s.With["mode"] != "judge" {
					continue
				}
				seen++
				want := "always() && steps.judge.outputs.exit-code == ''"
				if s.If != nil {
					want = fmt.Sprintf("always() && %v && steps.judge.outputs.exit-code == ''", s.If)
				}
				if next := j.Steps[i+1]; s.ID != "judge" || next.If != want || !strings.Contains(next.Run, "exit 3") {
					t.Errorf("%s: job %s is green where step %q judged nothing: if %v, run %q", name, id, s.ID, next.If, next.Run)
				}
			}
		}
	}
	if seen < 15 {
		t.Errorf("saw only %d steps that judge: is the test looking in the right place?", seen)
	}
}
