package github_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
)

// inBubble runs a test in a world of its own, in virtual time.
func inBubble(t *testing.T, o ghfake.Options, test func(t *testing.T, fake *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, o)
		test(t, w)
		w.leave()
	})
}

// proposal is the standing pull request of these tests.
func proposal() github.Standing {
	return github.Standing{Head: "benchgate-data-pull", Base: "main", Title: "baselines: 1 night joins", Body: "one"}
}

// there is an open pull request with the text, below the conversation of the other tests.
func there(title, body string) ghfake.Pull {
	return ghfake.Pull{Number: 9, Title: title, Body: body, HeadRef: "benchgate-data-pull", HeadRepository: repository, HeadSHA: headSHA, BaseSHA: olderSHA}
}

func TestStandingPullIsOneAndUpToDate(t *testing.T) {
	fork := there("another's", "x")
	fork.Number, fork.HeadRepository = 8, "example/fork"
	merged := there("merged", "x")
	merged.State = "closed"
	elsewhere := there("into another branch", "x")
	elsewhere.BaseRef = "release"
	empty := proposal()
	empty.Title, empty.Body, empty.Empty = "nothing", "held", true
	for name, c := range map[string]struct {
		pulls []ghfake.Pull
		ask   github.Standing
		state string
		made  string
		title string // of the newest pull request
		open  string // "open" or "closed"
	}{
		"none is there":                {[]ghfake.Pull{}, proposal(), "created", "pulls create-pull", "baselines: 1 night joins", "open"},
		"one was merged":               {[]ghfake.Pull{merged}, proposal(), "created", "pulls create-pull", "baselines: 1 night joins", "open"},
		"a fork has the same branch":   {[]ghfake.Pull{fork}, proposal(), "created", "pulls create-pull", "baselines: 1 night joins", "open"},
		"one goes into another branch": {[]ghfake.Pull{elsewhere}, proposal(), "created", "pulls create-pull", "baselines: 1 night joins", "open"},
		"it says something else":       {[]ghfake.Pull{fork, there("old", "old")}, proposal(), "updated", "pulls update-pull", "baselines: 1 night joins", "open"},
		"it says so already":           {[]ghfake.Pull{there("baselines: 1 night joins", "one\r\n")}, proposal(), "unchanged", "pulls", "baselines: 1 night joins", "open"},
		"nothing is left to propose":   {[]ghfake.Pull{there("old", "old")}, empty, "closed", "pulls update-pull", "nothing", "closed"},
		"nothing, and none is there":   {[]ghfake.Pull{merged}, empty, "skipped", "pulls", "merged", "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, ghfake.Options{State: ghfake.State{Pulls: c.pulls}}, func(t *testing.T, fake *world) {
				if len(c.pulls) == 0 {
					fake.Change(func(s *ghfake.State) { s.Pulls = nil })
				}
				got, err := fake.client().StandingPull(t.Context(), c.ask)
				if err != nil {
					t.Error(err)
				}
				all := fake.State().Pulls
				last := all[len(all)-1]
				if got.State != c.state || strings.Join(fake.Made(), " ") != c.made || last.Title != c.title || last.State != c.open {
					t.Errorf("%+v by %v, and the newest is %q, %s; want %s by %s and %q, %s", got, fake.Made(), last.Title, last.State, c.state, c.made, c.title, c.open)
				}
				if got.State != "skipped" && (got.Number != last.Number || !strings.HasSuffix(got.URL, "/pull/"+string(rune('0'+last.Number%10))) && last.Number < 10) {
					t.Errorf("it is number %d at %q, want %d", got.Number, got.URL, last.Number)
				}
			})
		})
	}
}

// A POST whose answer is lost is not sent again before the list was read.
func TestStandingPullIsOpenedOnce(t *testing.T) {
	for _, fault := range []string{"500", "500-after", "reset", "reset-after"} {
		t.Run(fault, func(t *testing.T) {
			inBubble(t, ghfake.Options{Faults: []ghfake.Fault{{Name: fault, On: "create-pull", Times: 1}}}, func(t *testing.T, fake *world) {
				got, err := fake.client().StandingPull(t.Context(), proposal())
				if err != nil {
					t.Error(err)
				}
				n := 0
				for _, p := range fake.State().Pulls {
					if p.HeadRef == "benchgate-data-pull" {
						n++
					}
				}
				if n != 1 || got.State != "created" || got.Number == 0 {
					t.Errorf("%d pull requests, %+v, by %v", n, got, fake.Made())
				}
			})
		})
	}
}

func TestStandingPullThatMayNotBeOpenedSaysWhichSetting(t *testing.T) {
	for fault, want := range map[string]string{
		"forbidden-pulls": `turn on "Allow GitHub Actions to create and approve pull requests" under Settings > Actions > General`,
		"forbidden":       "permissions: {pull-requests: write}",
		"unauthorized":    "the token is invalid or expired",
	} {
		inBubble(t, ghfake.Options{Faults: []ghfake.Fault{{Name: fault, On: "write"}}}, func(t *testing.T, fake *world) {
			_, err := fake.client().StandingPull(t.Context(), proposal())
			if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "open the standing pull request: ") {
				t.Errorf("%s: error %v, want %q", fault, err, want)
			}
			if diff := cmp.Diff([]string{"pulls", "create-pull"}, fake.Made()); diff != "" {
				t.Errorf("%s: calls (-want +got):\n%s", fault, diff)
			}
		})
	}
}
