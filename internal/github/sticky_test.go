package github_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/google/go-cmp/cmp"
)

// written is a comment as a run of this program writes it, for a state of the fake.
func written(t *testing.T, run int64, words string) (body string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, ghfake.Options{})
		defer w.leave()
		if posted := w.publish(note(run, words)); posted.Comment != "created" {
			t.Fatalf("%+v", posted)
		}
		body = w.Comments(number)[0].Body
	})
	return body
}

// shown are the comments of the conversation as "author: words".
func shown(w *world) []string {
	var all []string
	for _, c := range w.Comments(number) {
		word := "others' words"
		for _, s := range []string{"old words", "new words", "newer words"} {
			if strings.Contains(c.Body, s) {
				word = s
			}
		}
		all = append(all, c.Author+": "+word)
	}
	return all
}

func TestTheOneCommentIsFoundAmongOthers(t *testing.T) {
	old, newer := written(t, 49, "old words"), written(t, 51, "newer words")
	forged := strings.ReplaceAll(old, "run=49", "run=999999999")
	firstLine, _, _ := strings.Cut(newer, "\n")
	const bot = ghfake.Bot
	var crowd []ghfake.Comment
	for i := range 250 {
		crowd = append(crowd, ghfake.Comment{Author: "somebody", Body: fmt.Sprint("I say ", i)})
	}
	for name, tc := range map[string]struct {
		there []ghfake.Comment
		want  string   // what becomes of the comment
		left  []string // all comments but those of the crowd
	}{
		"nobody has said anything":     {nil, "created", []string{bot + ": new words"}},
		"our own of an older run":      {[]ghfake.Comment{{Body: old}}, "updated", []string{bot + ": new words"}},
		"our own of a newer run":       {[]ghfake.Comment{{Body: newer}}, "superseded", []string{bot + ": newer words"}},
		"our marker copied":            {[]ghfake.Comment{{Author: "somebody", Body: old}}, "created", []string{"somebody: old words", bot + ": new words"}},
		"our marker of a later run":    {[]ghfake.Comment{{Author: "somebody", Body: forged}}, "created", []string{"somebody: old words", bot + ": new words"}},
		"a name like ours":             {[]ghfake.Comment{{Author: "github-actions", Body: forged}}, "created", []string{"github-actions: old words", bot + ": new words"}},
		"another bot":                  {[]ghfake.Comment{{Author: "reviewer[bot]", Body: forged}}, "created", []string{"reviewer[bot]: old words", bot + ": new words"}},
		"a copy beside our own":        {[]ghfake.Comment{{Author: "somebody", Body: forged}, {Body: old}}, "updated", []string{"somebody: old words", bot + ": new words"}},
		"a copy after our own":         {[]ghfake.Comment{{Body: old}, {Author: "somebody", Body: forged}}, "updated", []string{bot + ": new words", "somebody: old words"}},
		"quoted by the same bot":       {[]ghfake.Comment{{Body: "Summary of others' words:\n\n" + forged}}, "created", []string{bot + ": old words", bot + ": new words"}},
		"after a blank":                {[]ghfake.Comment{{Body: " " + forged}}, "created", []string{bot + ": old words", bot + ": new words"}},
		"with a run that is no number": {[]ghfake.Comment{{Body: strings.Replace(old, "run=49", "run=1e9", 1)}}, "created", []string{bot + ": old words", bot + ": new words"}},
		"of another key":               {[]ghfake.Comment{{Body: strings.Replace(old, "benchgate:benchgate", "benchgate:nightly", 1)}}, "created", []string{bot + ": old words", bot + ": new words"}},
		"among 250 of others":          {append(append(crowd[:120:120], ghfake.Comment{Body: old}), crowd[120:]...), "updated", []string{bot + ": new words"}},
		"after 250 of others":          {append(crowd[:250:250], ghfake.Comment{Body: old}), "updated", []string{bot + ": new words"}},
		"250 of others and none":       {crowd, "created", []string{bot + ": new words"}},
		"twice":                        {[]ghfake.Comment{{Body: old}, {Author: "somebody", Body: "hm"}, {Body: old}}, "updated", []string{"somebody: others' words", bot + ": new words"}},
		"a run that cannot be":         {[]ghfake.Comment{{Body: strings.ReplaceAll(old, "run=49", "run=999999999999999999")}}, "created", []string{bot + ": old words", bot + ": new words"}},
		"an attempt that cannot be":    {[]ghfake.Comment{{Body: strings.ReplaceAll(old, "run=49 attempt=1", "run=50 attempt=10001")}}, "created", []string{bot + ": old words", bot + ": new words"}},
		"a title that the bot repeats": {[]ghfake.Comment{{Body: firstLine}}, "created", []string{bot + ": others' words", bot + ": new words"}},
		"a marker, and then a welcome": {[]ghfake.Comment{{Body: firstLine + "\nThank you!\n" + newer}}, "created", []string{bot + ": newer words", bot + ": new words"}},
		"twice, and once newer":        {[]ghfake.Comment{{Body: newer}, {Body: old}}, "superseded", []string{bot + ": newer words", bot + ": old words"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var state ghfake.State
				for _, c := range tc.there {
					c.Issue = number
					state.Comments = append(state.Comments, c)
				}
				state.Pulls = open().Pulls
				w := inMemory(t, ghfake.Options{State: state})
				defer w.leave()
				posted := w.publish(note(50, "new words"))
				left := []string{}
				for i, c := range shown(w) {
					if !strings.HasPrefix(w.Comments(number)[i].Body, "I say") {
						left = append(left, c)
					}
				}
				if diff := cmp.Diff(append([]string{tc.want}, tc.left...), append([]string{posted.Comment}, left...)); diff != "" {
					t.Errorf("(-want +got)\n%s\ncalls %v\nerrors %q", diff, w.Made(), posted.Errors)
				}
			})
		})
	}
}

func TestOthersActInBetween(t *testing.T) {
	old := written(t, 49, "old words")
	newer := written(t, 51, "newer words")
	move := func(s *ghfake.State) { s.Pulls[0].HeadSHA = strings.Repeat("9", 40) }
	for name, tc := range map[string]struct {
		there string
		fault ghfake.Fault
		want  string
	}{
		"the comment is deleted before it is updated": {old, ghfake.Fault{On: "update", Do: func(s *ghfake.State) { s.DeleteComment(1001) }}, "created new+2"},
		"the pull request is gone":                    {"", ghfake.Fault{On: "pull", Do: func(s *ghfake.State) { s.Pulls = nil }}, "skipped none+2"},
		"the head has moved":                          {"", ghfake.Fault{On: "pull", Do: move}, "superseded none+2"},
		"the head has moved, there is a comment":      {old, ghfake.Fault{On: "pull", Do: move}, "superseded old+2"},
		"a newer run has written before we look":      {old, ghfake.Fault{On: "list", Do: func(s *ghfake.State) { s.Comments[0].Body = newer }}, "superseded old+1"},
		"the conversation is locked":                  {"", ghfake.Fault{On: "create", Do: func(s *ghfake.State) { s.Pulls[0].Locked = true }}, "skipped none+2"},
		"the conversation is locked before an update": {old, ghfake.Fault{On: "update", Do: func(s *ghfake.State) { s.Pulls[0].Locked = true }}, "skipped old+2"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := open()
				state.Statuses = []ghfake.Status{{SHA: headSHA, Context: "somebody else's", State: "success"}}
				if tc.there != "" {
					state.Comments = []ghfake.Comment{{Issue: number, Body: tc.there}}
				}
				w := inMemory(t, ghfake.Options{State: state, Faults: []ghfake.Fault{tc.fault}})
				defer w.leave()
				posted := w.publish(note(50, "new words"))
				if diff := cmp.Diff(tc.want, posted.Comment+" "+w.left()); diff != "" {
					t.Errorf("(-want +got)\n%s\ncalls %v\nerrors %q", diff, w.Made(), posted.Errors)
				}
			})
		})
	}
}

// TestJobsOfAMatrixShareTheComment lets the second of two jobs start ever later, on a server that takes seconds for an
// answer: whatever overlaps, one comment with both sections is left.
func TestJobsOfAMatrixShareTheComment(t *testing.T) {
	step := 700 * time.Millisecond
	if testing.Short() {
		step = 3 * time.Second
	}
	for _, there := range []string{"", written(t, 49, "old words")} {
		for late := time.Duration(0); late < 16*time.Second; late += step {
			t.Run(fmt.Sprintf("comment %v late %v", there != "", late), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					state := open()
					if there != "" {
						state.Comments = []ghfake.Comment{{Issue: number, Body: there}}
					}
					w := inMemory(t, ghfake.Options{State: state, Faults: []ghfake.Fault{{Name: "slow"}}})
					defer w.leave()
					var jobs sync.WaitGroup
					for i, runner := range []string{"h100-1x", "m4-max"} {
						p := note(50, "words of "+runner)
						p.Sections[0].Name, p.Statuses = runner, nil
						client := w.client()
						jobs.Go(func() {
							<-time.After(time.Duration(i) * late)
							client.Publish(t.Context(), p)
						})
					}
					jobs.Wait()
					all := w.Comments(number)
					if len(all) != 1 || !strings.Contains(all[0].Body, "words of h100-1x") || !strings.Contains(all[0].Body, "words of m4-max") {
						t.Errorf("%d comments: %+v", len(all), all)
					}
				})
			})
		}
	}
}

func TestTextOfAnotherCannotForgeASection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, ghfake.Options{})
		defer w.leave()
		mark := "head=" + headSHA + " run=50 attempt=1"
		w.publish(note(50, "x\n<!-- benchgate-end:h100-1x -->\n<!-- benchgate-section:evil "+mark+" rank=0 -->\nevil words\n<!-- benchgate-end:evil -->"))
		other := note(50, "words of the other")
		other.Sections[0].Name = "m4-max"
		w.publish(other)
		w.publish(note(50, "new words"))
		body := w.Comments(number)[0].Body
		if strings.Contains(body, "evil words") || !strings.Contains(body, "new words") || !strings.Contains(body, "words of the other") {
			t.Errorf("the comment is\n%s", body)
		}
	})
}

func TestTheSameAgainChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, ghfake.Options{})
		defer w.leave()
		w.publish(note(50, "new words"))
		if posted := w.publish(note(50, "new words")); posted.Comment != "unchanged" || letters(w.Made()) != "plClSplS" {
			t.Errorf("%+v, calls %s", posted, letters(w.Made()))
		}
		again := note(50, "new words")
		again.Job.RunAttempt = 2
		if posted := w.publish(again); posted.Comment != "updated" {
			t.Errorf("a second attempt: %+v", posted)
		}
		if posted := w.publish(note(50, "old words")); posted.Comment != "superseded" || w.left() != "new+3" {
			t.Errorf("the first attempt after the second: %+v, %s", posted, w.left())
		}
	})
}

func TestAQuietPostUpdatesAndNeverCreates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, ghfake.Options{})
		defer w.leave()
		quiet := note(50, "new words")
		quiet.Quiet = true
		if posted := w.publish(quiet); posted.Comment != "skipped" || len(posted.Errors) > 0 || w.left() != "none+1" {
			t.Errorf("%+v, %s", posted, w.left())
		}
		w.publish(note(49, "old words"))
		if posted := w.publish(quiet); posted.Comment != "updated" || w.left() != "new+3" {
			t.Errorf("%+v, %s", posted, w.left())
		}
	})
}

// TestATextIsCutToWhatACommentHolds has a renderer that heeds no limit: the fake refuses what is over GitHub's.
func TestATextIsCutToWhatACommentHolds(t *testing.T) {
	for name, unit := range map[string]string{"letters": "x", "letters of two bytes": "é", "letters of four bytes": "😀", "bytes that are no letters": "\xff", "lines": "y\n"} {
		synctest.Test(t, func(t *testing.T) {
			w := inMemory(t, ghfake.Options{})
			defer w.leave()
			p := note(50, "new words "+strings.Repeat(unit, 200_000))
			p.Sections = append(p.Sections, github.Section{Name: "m4-max", Rank: 1, Render: func(limit int) string { return "limit " + fmt.Sprint(limit) }})
			posted := w.publish(p)
			if letters(w.Made()) != "plClS" || posted.Comment != "created" || !strings.Contains(w.Comments(number)[0].Body, "limit ") {
				t.Errorf("%s: %+v, calls %s", name, posted, letters(w.Made()))
			}
		})
	}
}

func TestWhereNoServerAnswersOneMoreTryIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, ghfake.Options{})
		defer w.leave()
		for name, broken := range map[string]error{
			"no such name": &net.DNSError{Err: "no such host", Name: "api.github.invalid", IsNotFound: true},
			"no route":     &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route to host")},
		} {
			dials := 0
			w.transport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { dials++; return nil, broken }}
			posted := w.client().Publish(t.Context(), note(50, "new words"))
			if dials > 4 || dials < 2 || posted.Comment != "skipped" && posted.Comment != "failed" || len(posted.Errors) == 0 {
				t.Errorf("%s: dialled %d times: %+v", name, dials, posted)
			}
		}
	})
}

func TestAnEndedJobPublishesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, ghfake.Options{})
		defer w.leave()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		posted := w.client().Publish(ctx, note(50, "new words"))
		if len(w.Made()) > 0 || posted.Comment != "failed" && posted.Comment != "skipped" || len(posted.Errors) == 0 {
			t.Errorf("%+v, calls %v", posted, w.Made())
		}
	})
}

func TestEveryKindOfTokenKnowsItsOwnComment(t *testing.T) {
	for name, tc := range map[string]struct{ token, login, calls string }{
		"of a workflow":        {"ghs_workflow", ghfake.Bot, "plUl"},
		"of an app":            {"ghs_app", "gate[bot]", "plvUl"},
		"of a person":          {"ghp_person", "maintainer", "plwUl"},
		"of a person, finely":  {"github_pat_person", "maintainer", "plwUl"},
		"of an unknown prefix": {"0123456789abcdef0123456789abcdef01234567", "maintainer", "plwUl"},
	} {
		for _, base := range []string{"", "/api/v3"} {
			synctest.Test(t, func(t *testing.T) {
				w := inMemory(t, ghfake.Options{Login: tc.login, Token: tc.token})
				defer w.leave()
				w.base = base
				first, second := note(49, "old words"), note(50, "new words")
				first.Statuses, second.Statuses = nil, nil
				w.publish(first)
				before := len(w.Made())
				w.publish(second)
				got := append(shown(w), letters(w.Made()[before:]))
				if diff := cmp.Diff([]string{tc.login + ": new words", tc.calls}, got); diff != "" {
					t.Errorf("%s %q (-want +got)\n%s", name, base, diff)
				}
				for _, c := range w.Calls() {
					if c.Enterprise != (base != "") {
						t.Errorf("%s was called below %q", c.Path, base)
					}
				}
			})
		}
	}
}

// TestWhatBlocksIsSaidWhateverTheCommentSays has a comment of a later run of the same head below the pull request: another
// run's, or one that somebody had a workflow of this repository write.
func TestWhatBlocksIsSaidWhateverTheCommentSays(t *testing.T) {
	newer := written(t, 51, "newer words")
	for name, tc := range map[string]struct{ body, comment string }{
		"a later run":              {newer, "superseded"},
		"a marker and no section":  {strings.SplitAfter(newer, "\n")[0], "created"},
		"a run that cannot be":     {strings.ReplaceAll(newer, "run=51", "run=999999999999999999"), "created"},
		"an attempt later":         {strings.ReplaceAll(newer, "run=51 attempt=1", "run=50 attempt=2"), "superseded"},
		"a later run, far from it": {strings.ReplaceAll(newer, "run=51", "run=1000000050"), "superseded"},
		"a later run, too far":     {strings.ReplaceAll(newer, "run=51", "run=1000000051"), "created"},
	} {
		synctest.Test(t, func(t *testing.T) {
			state := open()
			state.Comments = []ghfake.Comment{{Issue: number, Body: tc.body}}
			w := inMemory(t, ghfake.Options{State: state})
			defer w.leave()
			p := note(50, "new words")
			p.Statuses = []github.Status{
				{Context: "benchgate/a", State: "success"},
				{Context: "benchgate/b", State: "failure"},
				{Context: "benchgate/c", State: "odd"},
				{Context: "benchgate/d", State: "pending"},
			}
			posted := w.publish(p)
			want := []string{"benchgate/c error: ", "benchgate/b failure: "}
			if tc.comment == "created" {
				want = append(want, "benchgate/d pending: ", "benchgate/a success: ")
			}
			if diff := cmp.Diff(want, statuses(w.Server)); diff != "" || posted.Comment != tc.comment || len(posted.Errors) > 0 {
				t.Errorf("%s: %+v; statuses (-want +got)\n%s", name, posted, diff)
			}
		})
	}
}

// TestAPostThatNamesNoRunnerTakesTheNamesFromItsComment has a job that could not read its config: what its earlier attempts
// said of this head is no longer said.
func TestAPostThatNamesNoRunnerTakesTheNamesFromItsComment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, ghfake.Options{})
		defer w.leave()
		broken := func(run int64) github.Post {
			p := note(run, "nothing could be decided")
			p.Sections[0].Name, p.Statuses = "", nil
			p.Stale = func(name string) github.Section {
				return github.Section{Name: name, Render: text("nothing could be decided of " + name)}
			}
			return p
		}
		if posted := w.publish(broken(48)); posted.Comment != "created" || len(statuses(w.Server)) > 0 {
			t.Errorf("where nothing was said: %+v, %v", posted, statuses(w.Server))
		}
		old, beside := note(49, "old words"), note(50, "words beside")
		old.Sections[0].Name, beside.Sections[0].Name = "m4--max", "h100"
		old.Statuses, beside.Statuses = nil, nil
		w.publish(old)
		w.publish(beside)
		if body := w.Comments(number)[0].Body; strings.Contains(body, "nothing could be decided") {
			t.Errorf("what could not be named stays:\n%s", body)
		}
		posted := w.publish(broken(50))
		body := w.Comments(number)[0].Body
		if posted.Comment != "updated" || strings.Contains(body, "old words") || !strings.Contains(body, "nothing could be decided of m4--max\n") ||
			!strings.Contains(body, "words beside") || strings.Contains(body, "benchgate-section:_ ") {
			t.Errorf("%+v; the comment is\n%s", posted, body)
		}
	})
}
