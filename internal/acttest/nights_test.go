//go:build act

package acttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/ghfake"
)

// first plays the night before: that of the main branch as it is without the change.
func (w *world) first(t *testing.T, f file, j job) {
	t.Helper()
	j.sha = w.commit["main"].base
	got := w.play(t, j)
	for _, name := range f.jobs {
		if got.result(name) != "success" {
			t.Errorf("the night before: job %q is %q", name, got.result(name))
		}
	}
	// The next night is a run of its own.
	if err := os.RemoveAll(filepath.Join(j.folder, "artifacts")); err != nil {
		t.Fatal(err)
	}
}

// proposed looks for what nights leave: each as a session on the data branch, whatever becomes of the API, and one standing
// pull request for those that may join.
func (w *world) proposed(t *testing.T, r row, hub *ghfake.Server, folder string) {
	t.Helper()
	nights := map[string]int{"schedule success": 1, "schedule:second success": 2}[r.event+" "+strings.Fields(r.Jobs)[0]]
	branches := w.command(t, origin(folder), "git", "branch", "--format", "%(refname:short)")
	kept := 0
	if strings.Contains(branches, "benchgate-data") {
		kept = strings.Count(w.command(t, origin(folder), "git", "ls-tree", "-r", "--name-only", "benchgate-data"), "lab/chat.json")
	}
	if kept != nights {
		t.Errorf("the data branch holds %d nights, not %d", kept, nights)
	}
	pulls := hub.State().Pulls[1:]
	if nights == 0 || r.api() != "ok" {
		if len(pulls) > 0 {
			t.Errorf("the pull requests are %+v", pulls)
		}
		return
	}
	if len(pulls) != 1 || pulls[0].BaseRef != "main" || pulls[0].Author != ghfake.Bot {
		t.Fatalf("the pull requests are %+v", pulls)
	}
	changed := w.command(t, origin(folder), "git", "diff", "--name-only", "main", pulls[0].HeadRef)
	if diff := cmp.Diff("baselines/lab/chat.json", changed); diff != "" {
		t.Errorf("what the standing pull request changes (-want +got):\n%s", diff)
	}
}
