package workflow

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// written are the workflows that people take: every template for every event.
func written(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
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
	if seen < 40 {
		t.Errorf("saw only %d places: is the test looking in the right place?", seen)
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

// TestACheckIsEarnedAgainstTheBaseItGuards: a pull request against a branch of its author's starts nothing, one that is given
// another base is judged anew, and no job asks which kind of edit it was: a job that is skipped counts as passed.
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
		if d.Jobs["verdict"].If != "always()" {
			t.Errorf("%s: the verdict is told if %v", name, d.Jobs["verdict"].If)
		}
	}
	if names := Names(); gates != 4 || !slices.Contains(names, several) {
		t.Errorf("%d gates of %v", gates, names)
	}
}
