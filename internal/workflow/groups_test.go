package workflow

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// onNewer ends the older run of a pull request for a newer push and for another base, and not for a new title.
const onNewer = "${{ github.event_name == 'pull_request' && (github.event.action != 'edited' || github.event.changes.base.ref.from != '') }}"

// TestRunsThatMustNotMeetHaveAGroup: a newer push of a pull request ends the older run, a merge group's run ends by itself,
// and one job alone writes the data branch.
func TestRunsThatMustNotMeetHaveAGroup(t *testing.T) {
	type group struct {
		Group  string
		Cancel any `yaml:"cancel-in-progress"`
	}
	got := map[string]group{}
	for name, text := range written(t) {
		var d struct {
			Concurrency group
			Jobs        map[string]struct{ Concurrency group }
		}
		if err := yaml.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		got[name] = d.Concurrency
		for id, j := range d.Jobs {
			if j.Concurrency != (group{}) {
				got[name+" "+id] = j.Concurrency
			}
		}
	}
	want := map[string]group{
		ownGate:                         {"self-gate-${{ github.ref }}", onNewer},
		".github/workflows/nightly.yml": {"nightly", false},
	}
	for _, on := range []string{"pull_request", "merge_group"} {
		want[on+" benchgate.yml"] = group{"benchgate-${{ github.ref }}", onNewer}
		want[on+" "+several] = want[on+" benchgate.yml"]
		want[on+" benchgate-dispatch.yml"] = group{"benchgate-dispatch-${{ inputs.pull-request }}", true}
		want[on+" benchgate-nightly.yml"] = group{}
		want[on+" benchgate-nightly.yml keep"] = group{"benchgate-data", false}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, text := range workflows(t) {
		if strings.Contains(string(text), "queue: max") {
			t.Errorf("%s: not every runner and linter knows queue: max", name)
		}
	}
}
