package github_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/benchgate/benchgate/internal/sim"
)

// open is a repository with one open pull request.
func open() ghfake.State {
	return ghfake.State{Pulls: []ghfake.Pull{{
		Number: number, HeadSHA: headSHA, HeadRef: "faster-prefill", HeadRepository: repository, BaseRef: "main", BaseSHA: olderSHA,
	}}}
}

// world is a GitHub in memory, for a test in virtual time.
type world struct {
	*ghfake.Server
	t         *testing.T
	transport *http.Transport
	token     string
	base      string // below URL: "/api/v3" of an Enterprise Server
	said      []string
}

// inMemory starts a world with one open pull request, unless the options have another state. It belongs into a bubble of
// synctest; leave ends it there.
func inMemory(t *testing.T, o ghfake.Options) *world {
	t.Helper()
	m := sim.NewMemory()
	if len(o.State.Pulls) == 0 {
		o.State.Pulls = open().Pulls
	}
	o.Listener, o.Repository, o.Token = m, repository, cmp.Or(o.Token, token)
	return &world{Server: ghfake.New(t, o), t: t, token: o.Token, transport: &http.Transport{DialContext: m.Dial}}
}

func (w *world) leave() {
	<-time.After(time.Minute) // in which the last timer of a call ends
	w.transport.CloseIdleConnections()
	w.Close()
}

func (w *world) client() *github.Client {
	w.t.Helper()
	c, err := github.NewClient(github.ClientOptions{
		API: w.URL + w.base, Token: w.token, Repository: repository, Transport: w.transport,
		Say: func(s string) { w.said = append(w.said, s) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// publish publishes by a client of its own, and holds what comes of it against the laws that always hold.
func (w *world) publish(p github.Post) github.Posted {
	w.t.Helper()
	before, start := len(w.Made()), time.Now()
	posted := w.client().Publish(w.t.Context(), p)
	if made, again := len(w.Made())-before, w.resets(before); posted.Calls > made || posted.Calls < made-again || made > 12 {
		w.t.Errorf("%d calls were made, %d are told, 12 are allowed", made, posted.Calls)
	}
	if d := time.Since(start); d > 90*time.Second {
		w.t.Errorf("publishing took %v", d)
	}
	for _, s := range append(slices.Clone(w.said), append(posted.Errors, posted.CommentURL)...) {
		if strings.Contains(s, w.token) || strings.ContainsAny(s, "\r\n\x1b") {
			w.t.Errorf("told with a token or over several lines: %q", s)
		}
	}
	if !slices.Contains([]string{"created", "updated", "unchanged", "superseded", "skipped", "failed"}, posted.Comment) {
		w.t.Errorf("the comment is %q", posted.Comment)
	}
	return posted
}

// resets counts the calls whose connection was reset: a read that met that on a connection that was open already is sent
// again by net/http itself.
func (w *world) resets(from int) (n int) {
	for _, c := range w.Calls()[from:] {
		if strings.HasPrefix(c.Fault, "reset") && c.Method == http.MethodGet {
			n++
		}
	}
	return n
}

// note is the post of one run about one pull request: a comment of one section, and a status.
func note(run int64, words string) github.Post {
	return github.Post{
		Job: github.Job{
			Event: "pull_request", Repository: repository, Server: "https://github.com", RunID: run, RunAttempt: 1,
			Pull: &github.Pull{Number: number, HeadSHA: headSHA, BaseSHA: olderSHA, HeadRepository: repository},
		},
		Key:      "benchgate",
		Sections: []github.Section{{Name: "h100-1x", Render: func(int) string { return words }}},
		Statuses: []github.Status{{Context: "benchgate", State: "success", Description: "at most 3 % slower"}},
	}
}

// letters writes calls as one letter each.
func letters(made []string) string {
	short := map[string]string{
		"pull": "p", "list": "l", "create": "C", "update": "U", "delete": "D", "status": "S", "list-statuses": "s",
		"user": "w", "viewer": "v", "elsewhere": "!",
	}
	var b strings.Builder
	for _, m := range made {
		if short[m] == "" {
			b.WriteString("(" + m + ")")
		}
		b.WriteString(short[m])
	}
	return b.String()
}

// left is what stands below the pull request and beside its head in the end.
func (w *world) left() string {
	all := w.Comments(number)
	text := "none"
	switch {
	case len(all) > 1:
		text = fmt.Sprint(len(all), "!")
	case len(all) == 1 && strings.Contains(all[0].Body, "new words"):
		text = "new"
	case len(all) == 1:
		text = "old"
	}
	return fmt.Sprintf("%s+%d", text, len(w.State().Statuses))
}
