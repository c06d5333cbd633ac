package github_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/google/go-cmp/cmp"
)

// statuses are those beside the head, as "context state: description".
func statuses(fake *ghfake.Server) []string {
	var all []string
	for _, s := range fake.State().Statuses {
		all = append(all, fmt.Sprintf("%s %s: %s", s.Context, s.State, s.Description))
	}
	return all
}

func TestStatusesStandBesideTheHeadThoseThatBlockFirst(t *testing.T) {
	inVirtualTime(t, ghfake.Options{}, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
		p := post()
		p.Statuses = []github.Status{
			{Context: "benchgate/a", State: "success", Description: "at most 3 % slower"},
			{Context: "benchgate/b", State: "failure", Description: strings.Repeat("ü", 141)},
			{Context: "benchgate/c", State: "odd", Description: "two\nlines\x1b"},
			{Context: "benchgate/d", State: "pending", Description: strings.Repeat("ü", 140)},
		}
		posted := publish(client, p)
		want := []string{
			"benchgate/c error: twolines", "benchgate/b failure: " + strings.Repeat("ü", 139) + "…",
			"benchgate/d pending: " + strings.Repeat("ü", 140), "benchgate/a success: at most 3 % slower",
		}
		if diff := cmp.Diff(want, statuses(fake)); diff != "" {
			t.Errorf("statuses (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(github.Posted{Comment: "skipped", Calls: 4}, posted); diff != "" {
			t.Errorf("posted (-want +got):\n%s", diff)
		}
		for _, s := range fake.State().Statuses {
			if s.SHA != headSHA || s.TargetURL != "https://github.com/example/server/actions/runs/42/attempts/1" {
				t.Errorf("status of %s leads to %s", s.SHA, s.TargetURL)
			}
		}
	})
}

func TestASectionForEachOfFiftyRunnersTakesNoMoreCallsThanOne(t *testing.T) {
	for _, c := range []struct{ runners, calls, written int }{{1, 5, 1}, {8, 12, 8}, {50, 12, 8}} {
		inVirtualTime(t, ghfake.Options{}, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
			p := post()
			for i := range c.runners {
				name := fmt.Sprintf("runner-%02d", i)
				p.Sections = append(p.Sections, github.Section{Name: name, Render: text("words of " + name)})
				p.Statuses = append(p.Statuses, github.Status{Context: "benchgate/" + name, State: "success"})
			}
			p.Statuses[c.runners-1].State = "failure"
			posted := publish(client, p)
			if posted.Calls != c.calls || len(fake.Calls()) != c.calls || len(fake.State().Statuses) != c.written {
				t.Errorf("%d runners: %d calls told, %d made, %d statuses", c.runners, posted.Calls, len(fake.Calls()), len(fake.State().Statuses))
			}
			if fake.State().Statuses[0].State != "failure" {
				t.Errorf("%d runners: the one that blocks is not written first", c.runners)
			}
			if n := strings.Count(fake.Comments(number)[0].Body, "words of "); n != c.runners {
				t.Errorf("%d runners: %d sections", c.runners, n)
			}
			if left := c.runners > c.written; left != (len(posted.Errors) == 1 && strings.Contains(posted.Errors[0], "calls for publishing are used up")) {
				t.Errorf("%d runners: errors %q", c.runners, posted.Errors)
			}
		})
	}
}

func TestWritesComeASecondApart(t *testing.T) {
	inVirtualTime(t, ghfake.Options{}, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
		p := post(github.Section{Name: "h100", Render: text("red")})
		p.Statuses = []github.Status{{Context: "a", State: "success"}, {Context: "b", State: "success"}}
		publish(client, p)
		var last time.Time
		writes := 0
		for _, c := range fake.Calls() {
			if c.Method == http.MethodGet {
				continue
			}
			if writes++; writes > 1 && c.At.Sub(last) < time.Second {
				t.Errorf("%s %s came %v after the write before it", c.Method, c.Path, c.At.Sub(last))
			}
			last = c.At
		}
		if writes != 3 {
			t.Errorf("%d writes", writes)
		}
	})
}

func TestAMergeGroupHasAStatusAndNoComment(t *testing.T) {
	inVirtualTime(t, ghfake.Options{}, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
		p := post(github.Section{Name: "h100", Render: text("red")})
		p.Job.Pull, p.Job.Group = nil, &github.Group{HeadSHA: olderSHA}
		p.Statuses = []github.Status{{Context: "benchgate/h100", State: "failure", Description: "12 % slower"}}
		posted := publish(client, p)
		if posted.Comment != "skipped" || len(posted.Errors) > 0 || posted.Calls != 1 || fake.State().Statuses[0].SHA != olderSHA {
			t.Errorf("%+v, statuses %+v", posted, fake.State().Statuses)
		}
	})
}

func TestAPostWithoutACommitCallsNobody(t *testing.T) {
	inVirtualTime(t, ghfake.Options{}, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
		p := post()
		p.Job.Pull.HeadSHA = "../../user"
		p.Statuses = []github.Status{{Context: "x", State: "success"}}
		if posted := publish(client, p); posted.Comment != "skipped" || len(posted.Errors) != 1 || len(fake.Calls()) > 0 {
			t.Errorf("%+v, calls %v", posted, fake.Made())
		}
	})
}

// conversation is a state with so many comments of others.
func conversation(n int) ghfake.State {
	s := ghfake.State{Pulls: []ghfake.Pull{{Number: number, HeadSHA: headSHA, HeadRepository: repository, BaseSHA: olderSHA}}}
	for i := range n {
		s.AddComment(ghfake.Comment{Issue: number, Author: "somebody", Body: fmt.Sprint("remark ", i)})
	}
	return s
}

// earlier is a comment as an earlier run wrote it.
func earlier(head string, run int, words string) string {
	mark := fmt.Sprintf("head=%s run=%d attempt=1", head, run)
	return "<!-- benchgate:gate " + mark + " -->\n<!-- benchgate-section:h100 " + mark + " rank=0 -->\n" + words + "\n<!-- benchgate-end:h100 -->\n"
}

func TestAConversationIsSearchedToItsEnd(t *testing.T) {
	state := conversation(150)
	state.AddComment(ghfake.Comment{Issue: number, Body: earlier(headSHA, 41, "old words")})
	for i := range 200 {
		state.AddComment(ghfake.Comment{Issue: number, Author: "somebody", Body: fmt.Sprint("later remark ", i)})
	}
	inVirtualTime(t, ghfake.Options{State: state}, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
		posted := publish(client, post(github.Section{Name: "h100", Render: text("new words")}))
		want := []string{"pull", "list", "list", "list", "list", "update", "list", "list", "list"}
		if diff := cmp.Diff(want, fake.Made()); diff != "" || posted.Comment != "updated" || posted.Calls != len(want) {
			t.Errorf("%+v; calls (-want +got):\n%s", posted, diff)
		}
	})
}

// onAndOn is a GitHub whose lists have always one more page.
type onAndOn struct{}

func (onAndOn) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if strings.HasSuffix(r.URL.Path, "/comments") {
		q := r.URL.Query()
		page, _ := strconv.Atoi(q.Get("page"))
		q.Set("page", strconv.Itoa(page+1))
		w.Header().Set("Link", "<"+r.URL.Scheme+"://"+r.URL.Host+r.URL.Path+"?"+q.Encode()+`>; rel="next"`)
		fmt.Fprint(w, "[]")
	} else {
		fmt.Fprintf(w, `{"number": %d, "head": {"sha": %q}, "base": {"sha": %q}}`, number, headSHA, olderSHA)
	}
	return w.Result(), nil
}

func TestAConversationWithoutAnEndIsLeftAlone(t *testing.T) {
	client, err := github.NewClient(github.ClientOptions{API: "http://127.0.0.1:1", Token: token, Repository: repository, Transport: onAndOn{}})
	if err != nil {
		t.Fatal(err)
	}
	got := publish(client, post(github.Section{Name: "h100", Render: text("red")}))
	want := github.Posted{Comment: "skipped", Calls: 51, Errors: []string{
		"look for the comment among those there are: the conversation is too long to be searched: it has more than 5000 comments; the summary of this job has the result",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("posted (-want +got):\n%s", diff)
	}
}

func TestSectionsOfThisHeadAreKeptAndOthersDropped(t *testing.T) {
	section := func(name, head string, run int, words string) string {
		return fmt.Sprintf("<!-- benchgate-section:%s head=%s run=%d attempt=1 rank=0 -->\n%s\n<!-- benchgate-end:%s -->\n\n", name, head, run, words, name)
	}
	body := "<!-- benchgate:gate head=" + headSHA + " run=41 attempt=1 -->\n" +
		section("a100", headSHA, 41, "of this head") + section("b200", olderSHA, 40, "of an older head") + section("h100", headSHA, 41, "our last words")
	twin := "<!-- benchgate:gate head=" + headSHA + " run=40 attempt=1 -->\n" +
		section("a100", headSHA, 40, "older words of a100") + section("m4", headSHA, 40, "only here")
	state := conversation(0)
	state.AddComment(ghfake.Comment{Issue: number, Body: twin})
	state.AddComment(ghfake.Comment{Issue: number, Body: body})
	inVirtualTime(t, ghfake.Options{State: state}, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
		posted := publish(client, post(github.Section{Name: "h100", Render: text("new words")}))
		all := fake.Comments(number)
		if posted.Comment != "updated" || len(all) != 1 || all[0].ID != 1002 {
			t.Fatalf("%+v: %d comments", posted, len(all))
		}
		for words, want := range map[string]bool{
			"of this head": true, "of an older head": false, "our last words": false, "older words of a100": false, "only here": true, "new words": true,
		} {
			if strings.Contains(all[0].Body, words) != want {
				t.Errorf("%q is there: %v\n%s", words, !want, all[0].Body)
			}
		}
	})
}

func TestTheLoginThatNobodyTellsIsLearntFromTheFirstComment(t *testing.T) {
	state := conversation(0)
	for _, run := range []int{40, 41} {
		state.AddComment(ghfake.Comment{
			Issue: number, Author: "maintainer", Body: earlier(olderSHA, run, "old words"),
		})
	}
	state.AddComment(ghfake.Comment{Issue: number, Author: "somebody", Body: earlier(headSHA, 99, "copied")})
	o := ghfake.Options{State: state, Token: "ghp_person", Login: "maintainer", Faults: []ghfake.Fault{{Name: "forbidden", On: "user"}, {Name: "forbidden", On: "viewer"}}}
	inVirtualTime(t, o, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
		posted := publish(client, post(github.Section{Name: "h100", Render: text("new words")}))
		var left []string
		for _, c := range fake.Comments(number) {
			left = append(left, c.Author+fmt.Sprint(strings.Contains(c.Body, "new words")))
		}
		if diff := cmp.Diff([]string{"somebodyfalse", "maintainertrue"}, left); diff != "" || posted.Comment != "created" {
			t.Errorf("%+v; comments (-want +got):\n%s\ncalls %v", posted, diff, fake.Made())
		}
	})
}

func TestALostCommentIsNotTakenForFoundBecauseAnotherSaysTheSame(t *testing.T) {
	for _, c := range []struct{ token, login, calls string }{
		{token, ghfake.Bot, "pull list create list viewer create list"},
		{"ghs_ofAnApp", "gate[bot]", "pull list create list viewer create list"},
		{"ghp_person", "maintainer", "pull list create list user create list"},
	} {
		copied := ""
		fault := ghfake.Fault{Name: "500", On: "create", Times: 1, Do: func(s *ghfake.State) {
			for _, author := range []string{"somebody", "reviewer[bot]"} {
				s.AddComment(ghfake.Comment{Issue: number, Author: author, Body: copied})
			}
		}}
		o := ghfake.Options{State: conversation(0), Token: c.token, Login: c.login, Faults: []ghfake.Fault{fault}}
		copied = "<!-- benchgate:gate head=" + headSHA + " run=42 attempt=1 -->\n" +
			"<!-- benchgate-section:h100 head=" + headSHA + " run=42 attempt=1 rank=0 -->\nred\n<!-- benchgate-end:h100 -->\n"
		inVirtualTime(t, o, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
			posted := publish(client, post(github.Section{Name: "h100", Render: text("red")}))
			all := fake.Comments(number)
			if last := all[len(all)-1]; len(all) != 3 || last.Author != c.login || last.Body != copied || posted.Comment != "created" {
				t.Errorf("%s: %+v, %d comments, the last by %s", c.login, posted, len(all), last.Author)
			}
			if diff := cmp.Diff(c.calls, strings.Join(fake.Made(), " ")); diff != "" {
				t.Errorf("%s: calls (-want +got):\n%s", c.login, diff)
			}
		})
	}
}

func TestAPullRequestIsReadByItsNumber(t *testing.T) {
	state := conversation(0)
	state.AddPull(ghfake.Pull{Number: 8, HeadSHA: olderSHA, HeadRef: "$(id)", HeadRepository: "somebody/server", BaseRef: "main", BaseSHA: headSHA, Draft: true})
	inVirtualTime(t, ghfake.Options{State: state}, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
		got, err := client.Pull(t.Context(), 8)
		if err != nil {
			t.Fatal(err)
		}
		want := github.Pull{Number: 8, HeadSHA: olderSHA, HeadRef: "$(id)", HeadRepository: "somebody/server", BaseSHA: headSHA, BaseRef: "main", Fork: true, Draft: true}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pull request (-want +got):\n%s", diff)
		}
		for _, n := range []int{0, -1, 9} {
			if _, err := client.Pull(t.Context(), n); err == nil || !strings.Contains(err.Error(), fmt.Sprint("read pull request ", n)) {
				t.Errorf("pull request %d: %v", n, err)
			}
		}
	})
}

func TestAPullRequestWhoseForkIsDeletedIsAFork(t *testing.T) {
	client, err := github.NewClient(github.ClientOptions{API: "http://127.0.0.1:1", Token: token, Repository: repository, Transport: onAndOn{}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Pull(t.Context(), number)
	if diff := cmp.Diff(github.Pull{Number: number, HeadSHA: headSHA, BaseSHA: olderSHA, Fork: true}, got); diff != "" || err != nil {
		t.Errorf("error %v; pull request (-want +got):\n%s", err, diff)
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	for want, o := range map[string]github.ClientOptions{
		"no token":                     {Repository: repository},
		"is not owner/name":            {Token: token, Repository: "server"},
		"characters that no token has": {Token: "ghs_a\nX-Evil: b", Repository: repository},
		"must be https":                {Token: token, Repository: repository, API: "http://api.github.com"},
		"holds a name or a password":   {Token: token, Repository: repository, API: "https://me:word@host"},
	} {
		_, err := github.NewClient(o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "word@") {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestEachFailureIsASentenceThatNamesWhatToDo has a golden file: what a post says where every call meets one fault.
func TestEachFailureIsASentenceThatNamesWhatToDo(t *testing.T) {
	var b strings.Builder
	for _, on := range []string{"read", "create", "update", "status", "list-statuses"} {
		for _, fault := range []string{
			"unauthorized", "forbidden", "locked", "not-found", "gone", "too-long", "invalid", "primary-403", "secondary-403-long",
			"500", "hang", "html", "redirect-301", "redirect-307-away",
		} {
			state := conversation(0)
			if on == "update" {
				state.AddComment(ghfake.Comment{Issue: number, Body: earlier(olderSHA, 41, "old")})
			}
			o := ghfake.Options{State: state, Faults: []ghfake.Fault{{Name: fault, On: on}}}
			inVirtualTime(t, o, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
				p := post(github.Section{Name: "h100", Render: text("red")})
				if on == "status" {
					p = post()
				}
				if on == "list-statuses" {
					p = judged(42, map[string]string{"benchgate/h100": "failure"})
				}
				if on == "read" || on == "status" {
					p.Statuses = []github.Status{{Context: "benchgate/h100", State: "failure"}, {Context: "benchgate/m4", State: "failure"}}
				}
				posted := publish(client, p)
				fmt.Fprintf(&b, "%s %s: %s\n", on, fault, posted.Comment)
				for _, s := range posted.Errors {
					fmt.Fprintf(&b, "    %s\n", s)
					if strings.Contains(s, token) || !utf8.ValidString(s) {
						t.Errorf("%q", s)
					}
				}
			})
		}
	}
	got := b.String()
	const file = "testdata/sentences.txt"
	if *update {
		write(t, file, got)
	}
	if diff := cmp.Diff(strings.Split(read(t, file), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("sentences (-want +got):\n%s", diff)
	}
}
