package github_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
)

// judged is a post of one part of a gate that asks for statuses, these states by name, and has no comment.
func judged(run int64, states map[string]string) github.Post {
	p := note(run, "")
	p.Sections, p.Statuses, p.Part = nil, nil, "benchgate.yaml"
	for name, state := range states {
		p.Statuses = append(p.Statuses, github.Status{Context: name, State: state, Description: fmt.Sprint("run ", run)})
	}
	p.Withdraw = &github.Withdrawal{Branch: "main", Description: "withdrawn"}
	return p
}

// standing is the newest status of each name, as "state description".
func standing(w *world) map[string]string {
	now := map[string]string{}
	for _, s := range w.State().Statuses {
		now[s.Context] = s.State + " " + s.Description
	}
	return now
}

// TestWhatOtherAttemptsLeftGreenDoesNotStand has a commit with statuses of every kind, and then a post that sets one of them, or
// can name none: green is what it sets, and what is not its own.
func TestWhatOtherAttemptsLeftGreenDoesNotStand(t *testing.T) {
	const green = "success"
	other := func(change func(p *github.Post)) github.Post {
		p := judged(41, nil)
		change(&p)
		return p
	}
	before := []github.Post{
		judged(41, map[string]string{"benchgate/a/main": green, "benchgate/b/main": green, "benchgate/red/main": "failure"}),
		judged(50, map[string]string{"benchgate/beside/main": green}),
		other(func(p *github.Post) {
			p.Part = "more/benchgate.yaml"
			p.Statuses = []github.Status{{Context: "benchgate/part/main", State: green, Description: "part"}}
		}),
		other(func(p *github.Post) {
			p.Key = "another gate"
			p.Statuses = []github.Status{{Context: "benchgate/key/main", State: green, Description: "key"}}
		}),
		other(func(p *github.Post) {
			p.Withdraw.Branch = "release"
			p.Statuses = []github.Status{{Context: "benchgate/a/release", State: green, Description: "release"}}
		}),
		other(func(p *github.Post) {
			p.Part, p.Withdraw = "", nil
			p.Statuses = []github.Status{{Context: "benchgate/unknown/main", State: green, Description: "by hand"}}
		}),
		other(func(p *github.Post) {
			p.Statuses = []github.Status{{Context: "tests", State: green, Description: "no gate"}}
		}),
	}
	stays := map[string]string{
		"benchgate/red/main": "failure run 41", "benchgate/beside/main": "success run 50", "benchgate/key/main": "success key",
		"benchgate/a/release": "success release", "benchgate/unknown/main": "success by hand", "tests": "success no gate",
	}
	for name, c := range map[string]struct {
		post github.Post
		want map[string]string // beside what stays
	}{
		"a verdict on one runner": {
			judged(50, map[string]string{"benchgate/a/main": green}),
			map[string]string{"benchgate/a/main": "success run 50", "benchgate/b/main": "error withdrawn", "benchgate/part/main": "success part"},
		},
		"an error that names no runner": {
			func() github.Post { p := judged(50, nil); p.Withdraw.All = true; return p }(),
			map[string]string{"benchgate/a/main": "error withdrawn", "benchgate/b/main": "error withdrawn", "benchgate/part/main": "error withdrawn"},
		},
		"what blocks alone": {
			func() github.Post {
				p := judged(50, map[string]string{"benchgate/a/main": green})
				p.Blocking = true
				return p
			}(),
			map[string]string{"benchgate/a/main": "success run 41", "benchgate/b/main": "error withdrawn", "benchgate/part/main": "success part"},
		},
		"no statuses are asked for": {
			func() github.Post { p := judged(50, nil); p.Withdraw = nil; return p }(),
			map[string]string{"benchgate/a/main": "success run 41", "benchgate/b/main": "success run 41", "benchgate/part/main": "success part"},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := inMemory(t, ghfake.Options{})
			defer w.leave()
			for _, p := range before {
				p.Withdraw = nil // each is alone with the commit
				w.publish(p)
			}
			posted := w.publish(c.post)
			for context, s := range stays {
				c.want[context] = s
			}
			if diff := cmp.Diff(c.want, standing(w)); diff != "" || len(posted.Errors) > 0 {
				t.Errorf("%s: errors %q, statuses (-want +got):\n%s", name, posted.Errors, diff)
			}
			calls := len(w.Made())
			again := w.publish(c.post) // of the same attempt: nothing more is withdrawn
			if made := len(w.Made()) - calls; len(again.Errors) > 0 || made > 2 || cmp.Diff(c.want, standing(w)) != "" {
				t.Errorf("%s again: %d calls, %+v", name, made, again)
			}
		})
	}
}

// TestStatusesOfACommitAreLookedThroughPageByPage has more statuses than a page holds, all newer than the one that is looked for.
func TestStatusesOfACommitAreLookedThroughPageByPage(t *testing.T) {
	for crowd, want := range map[int]string{250: "error withdrawn", 1100: "success run 41"} {
		synctest.Test(t, func(t *testing.T) {
			w := inMemory(t, ghfake.Options{})
			defer w.leave()
			w.publish(judged(41, map[string]string{"benchgate/old/main": "success"}))
			state := w.State()
			for i := range crowd {
				state.Statuses = append(state.Statuses, ghfake.Status{SHA: headSHA, Context: fmt.Sprint("tests ", i), State: "success", Creator: "somebody"})
			}
			crowded := inMemory(t, ghfake.Options{State: state})
			defer crowded.leave()
			posted := crowded.publish(judged(50, map[string]string{"benchgate/a/main": "failure"}))
			told := strings.Contains(strings.Join(posted.Errors, " "), "left green: the commit has too many statuses")
			if got := standing(crowded); got["benchgate/old/main"] != want || got["benchgate/a/main"] != "failure run 50" || told != (crowd > 1000) {
				t.Errorf("among %d: %s, %s, errors %q", crowd, got["benchgate/old/main"], got["benchgate/a/main"], posted.Errors)
			}
		})
	}
}

// TestLookingForGreenLeavesRoomForTheRest: with a comment that takes all the calls it may, what blocks is still written.
func TestLookingForGreenLeavesRoomForTheRest(t *testing.T) {
	for runners, calls := range map[int]int{1: 6, 7: 12, 50: 12} {
		synctest.Test(t, func(t *testing.T) {
			w := inMemory(t, ghfake.Options{})
			defer w.leave()
			p := note(50, "new words")
			p.Statuses, p.Part, p.Withdraw = nil, "benchgate.yaml", &github.Withdrawal{Branch: "main"}
			for i := range runners {
				p.Statuses = append(p.Statuses, github.Status{Context: github.StatusContext(fmt.Sprintf("runner-%02d", i), "main"), State: "success"})
			}
			p.Statuses[runners-1].State = "failure"
			posted := w.publish(p)
			kept := w.State().Statuses
			if posted.Calls != calls || len(kept) != min(runners, 7) || kept[0].State != "failure" || (len(posted.Errors) > 0) != (runners > 7) {
				t.Errorf("%d runners: %d statuses, the first %s, %+v", runners, len(kept), kept[0].State, posted)
			}
		})
	}
}
