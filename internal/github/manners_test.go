package github_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
)

func TestWhatWentWrongIsSaidAndWhatToDo(t *testing.T) {
	for name, want := range map[string][]string{
		"unauthorized":       {"401", "invalid or expired", "token: ${{ github.token }}"},
		"forbidden":          {"403", "Resource not accessible by integration", "permissions: {pull-requests: write}", "fork"},
		"forbidden-sso":      {"403", "SAML"},
		"locked":             {"403", "unlock"},
		"not-found":          {"404", "permissions: {pull-requests: write}"},
		"gone":               {"410"},
		"invalid":            {"422", "body is not to GitHub's taste"},
		"too-long":           {"422", "too long"},
		"primary-403":        {"403", "limit of calls an hour", "re-run the job after", "UTC"},
		"primary-429":        {"429", "limit of calls an hour", "re-run the job after", "UTC"},
		"secondary-403-long": {"403", "3600 s", "re-run the job later"},
		"500":                {"500", "re-run"},
		"502":                {"502", "re-run"},
		"html":               {"not JSON", "re-run"},
		"hang":               {"re-run"},
		"reset":              {"re-run"},
		"redirect-301":       {"301", "api-url"},
		"redirect-307-away":  {"another host", "127.0.0.2", "api-url"},
		"echo":               {"403", "***"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := inMemory(t, ghfake.Options{Faults: []ghfake.Fault{{Name: name, On: "create"}}})
			defer w.leave()
			posted := w.publish(note(50, "new words"))
			said := strings.Join(posted.Errors, "; ")
			for _, part := range append(want, "comment") {
				if !strings.Contains(said, part) {
					t.Errorf("%s: %q lacks %q", name, said, part)
				}
			}
			if len(posted.Errors) != 1 {
				t.Errorf("%s: %d errors: %q", name, len(posted.Errors), posted.Errors)
			}
		})
	}
}

// TestWaitsAreThoseThatGitHubAsksFor looks at the pauses before the second call of a kind: how long they are at least and
// at most.
func TestWaitsAreThoseThatGitHubAsksFor(t *testing.T) {
	for name, tc := range map[string]struct {
		fault, on   string
		least, most time.Duration
	}{
		"a read is asked for again after half a second": {"500", "list", 500 * time.Millisecond, time.Second},
		"an update too":                            {"500", "update", time.Second, 2 * time.Second},
		"the wait that GitHub names, of a read":    {"secondary-403", "list", 7 * time.Second, 8 * time.Second},
		"the wait that GitHub names, of a POST":    {"secondary-429", "create", 7 * time.Second, 9 * time.Second},
		"the wait that GitHub names, of an update": {"secondary-403-old", "update", 7 * time.Second, 9 * time.Second},
		"a minute where it names none":             {"secondary-403-bare", "create", time.Minute, 62 * time.Second},
		"two seconds to see what a POST did":       {"500", "create", 2 * time.Second, 4 * time.Second},
		"ten seconds for an answer, and then two":  {"hang", "create", 12 * time.Second, 14 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := inMemory(t, ghfake.Options{})
				defer w.leave()
				w.publish(note(49, "old words"))
				if tc.on == "create" {
					w.Change(func(s *ghfake.State) { s.Comments = nil })
				}
				before := len(w.Calls())
				if err := w.Fail(ghfake.Fault{Name: tc.fault, On: tc.on, Times: 1}); err != nil {
					t.Fatal(err)
				}
				w.publish(note(50, "new words"))
				var at []time.Time
				for _, c := range w.Calls()[before:] {
					if c.Short() == tc.on {
						at = append(at, c.At)
					}
				}
				if len(at) < 2 {
					t.Fatalf("%d calls: %s", len(at), letters(w.Made()))
				}
				if d := at[1].Sub(at[0]); d < tc.least || d > tc.most {
					t.Errorf("the second call is %v after the first", d)
				}
			})
		})
	}
}

// TestWritesAreASecondApart holds the client to what GitHub asks of everybody.
func TestWritesAreASecondApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, ghfake.Options{})
		defer w.leave()
		p := note(50, "new words")
		for _, name := range []string{"benchgate/a", "benchgate/b", "benchgate/c"} {
			p.Statuses = append(p.Statuses, github.Status{Context: name, State: "failure"})
		}
		w.publish(p)
		var last time.Time
		for _, c := range w.Calls() {
			if c.Method == "GET" {
				continue
			}
			if d := c.At.Sub(last); d < time.Second {
				t.Errorf("%s comes %v after the write before it", c.Short(), d)
			}
			last = c.At
		}
		if n := len(w.State().Statuses); n != 4 {
			t.Errorf("%d statuses", n)
		}
	})
}

// TestManyRunnersAskLittle: the number of calls does not grow with what there is to say.
func TestManyRunnersAskLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, ghfake.Options{})
		defer w.leave()
		p := note(50, "new words")
		for range 49 {
			p.Sections = append(p.Sections, p.Sections[0])
			p.Sections[len(p.Sections)-1].Name += strings.Repeat("x", len(p.Sections))
		}
		posted := w.publish(p)
		if posted.Comment != "created" || posted.Calls > 5 {
			t.Errorf("%+v", posted)
		}
		body := w.Comments(number)[0].Body
		if n := strings.Count(body, "new words"); n != 50 {
			t.Errorf("%d of 50 runners are in the comment of %d bytes", n, len(body))
		}
	})
}

// TestAStatusIsWhatGitHubTakes: a description of any length, a name of any kind.
func TestAStatusIsWhatGitHubTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, ghfake.Options{})
		defer w.leave()
		p := note(50, "new words")
		p.Statuses = []github.Status{
			{Context: strings.Repeat("é", 300), State: "success", Description: strings.Repeat("😀", 300)},
			{Context: "a\nb", State: "no such state", Description: "a\x00b\r\nc"},
		}
		posted := w.publish(p)
		kept := w.State().Statuses
		if len(posted.Errors) > 0 || len(kept) != 2 {
			t.Fatalf("%q, %d statuses", posted.Errors, len(kept))
		}
		for _, s := range kept {
			if s.SHA != headSHA || !strings.HasSuffix(s.TargetURL, "/example/server/actions/runs/50/attempts/1") {
				t.Errorf("%+v", s)
			}
			if strings.ContainsAny(s.Context+s.Description, "\n\r\x00") {
				t.Errorf("%q %q is not on one line", s.Context, s.Description)
			}
		}
		if kept[0].State != "error" { // the worst comes first
			t.Errorf("the states are %s, %s", kept[0].State, kept[1].State)
		}
	})
}
