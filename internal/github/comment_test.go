package github_test

import (
	"testing"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/google/go-cmp/cmp"
)

func TestACommentIsCreatedOnceAndThenKeptUpToDate(t *testing.T) {
	inVirtualTime(t, ghfake.Options{}, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
		var states []string
		for _, say := range []string{"red", "red", "green"} {
			states = append(states, publish(client, post(github.Section{Name: "h100", Render: text(say)})).Comment)
		}
		if diff := cmp.Diff([]string{"created", "unchanged", "updated"}, states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		want := "<!-- benchgate:gate head=" + headSHA + " run=42 attempt=1 -->\n" +
			"<!-- benchgate-section:h100 head=" + headSHA + " run=42 attempt=1 rank=0 -->\ngreen\n<!-- benchgate-end:h100 -->\n"
		var bodies []string
		for _, c := range fake.Comments(number) {
			bodies = append(bodies, c.Body)
		}
		if diff := cmp.Diff([]string{want}, bodies); diff != "" {
			t.Errorf("comments (-want +got):\n%s", diff)
		}
	})
}
