package github_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/google/go-cmp/cmp"
)

// refusing is a GitHub that refuses each write with one answer, and has nothing to list.
type refusing struct {
	status int
	header http.Header
	body   string
	writes *int
}

func (f refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	switch {
	case r.Method != http.MethodGet:
		*f.writes++
		for k, v := range f.header {
			w.Header()[k] = v
		}
		w.WriteHeader(f.status)
		fmt.Fprint(w, f.body)
	case strings.HasSuffix(r.URL.Path, "/comments"):
		fmt.Fprint(w, "[]")
	default:
		fmt.Fprintf(w, `{"number": %d, "head": {"sha": %q}, "base": {"sha": %q}}`, number, headSHA, olderSHA)
	}
	return w.Result(), nil
}

func TestAWriteWaitsAsLongAsGitHubAsksFor(t *testing.T) {
	const often = `{"message": "You have exceeded a secondary rate limit."}`
	for name, c := range map[string]struct {
		status int
		after  string
		body   string
		writes int
		took   time.Duration // 0: no wait at all
	}{
		"seconds":                     {429, "13", often, 2, 13 * time.Second},
		"a date":                      {429, "Sat, 01 Jan 2000 00:00:20 GMT", often, 2, 20 * time.Second},
		"a date that is over":         {429, "Fri, 31 Dec 1999 00:00:00 GMT", often, 2, 0},
		"less than nothing":           {429, "-5", often, 2, 0},
		"nothing said":                {429, "", often, 2, time.Minute},
		"no time":                     {403, "soon", often, 2, time.Minute},
		"no number":                   {429, "NaN", often, 2, time.Minute},
		"more than there is":          {429, "91", often, 1, 0},
		"more than fits":              {429, "99999999999999999999", often, 1, 0},
		"forever":                     {403, "inf", often, 1, 0},
		"too quickly after the other": {422, "", `{"message": "Validation Failed", "errors": [{"message": "was submitted too quickly"}]}`, 2, time.Minute},
		"by an old page of its docs": {
			403, "", `{"message": "no", "documentation_url": "https://docs.github.com/rest/overview/#abuse-rate-limits"}`,
			2, time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				writes := 0
				f := refusing{status: c.status, body: c.body, writes: &writes}
				if c.after != "" {
					f.header = http.Header{"Retry-After": {c.after}}
				}
				client, err := github.NewClient(github.ClientOptions{API: "http://127.0.0.1:1", Token: token, Repository: repository, Transport: f})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				posted := publish(client, post(github.Section{Name: "h100", Render: text("red")}))
				// A second between two writes comes on top where the wait is shorter.
				if took := time.Since(start); took < c.took || took > c.took+time.Second {
					t.Errorf("took %v, want %v", took, c.took)
				}
				if writes != c.writes || posted.Comment != "failed" || len(posted.Errors) != 1 {
					t.Errorf("%d writes, want %d: %+v", writes, c.writes, posted)
				}
			})
		})
	}
}

// unwell answers every read with 503.
type unwell struct {
	after string
	reads *int
}

func (u unwell) RoundTrip(*http.Request) (*http.Response, error) {
	*u.reads++
	w := httptest.NewRecorder()
	if u.after != "" {
		w.Header().Set("Retry-After", u.after)
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	return w.Result(), nil
}

func TestAReadIsRepeatedAfterTheWaitThatIsAskedForUpToTwentySeconds(t *testing.T) {
	for _, c := range []struct {
		after string
		reads int
		least time.Duration
		most  time.Duration
	}{
		{"", 4, 3500 * time.Millisecond, 4375 * time.Millisecond}, // 0.5 + 1 + 2 s, and up to a quarter more
		{"0", 4, 0, 0},
		{"15", 4, 45 * time.Second, 45 * time.Second},
		{"20", 4, 60 * time.Second, 60 * time.Second},
		{"21", 1, 0, 0},
		{"99999999999999999999", 1, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			reads := 0
			client, err := github.NewClient(github.ClientOptions{
				API: "http://127.0.0.1:1", Token: token, Repository: repository, Transport: unwell{c.after, &reads},
			})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if _, err := client.Pull(t.Context(), number); err == nil || !strings.Contains(err.Error(), "503") {
				t.Errorf("Retry-After %q: error %v", c.after, err)
			}
			if took := time.Since(start); reads != c.reads || took < c.least || took > c.most {
				t.Errorf("Retry-After %q: %d reads in %v", c.after, reads, took)
			}
		})
	}
}

func TestAJobThatIsEndedSaysSoAndCallsNobodyElse(t *testing.T) {
	for name, cause := range map[string]error{"no cause": nil, "a cause": errors.New("interrupted")} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, ghfake.Options{Faults: []ghfake.Fault{{Name: "hang", On: "list"}}}, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(3*time.Second, func() { cancel(cause) })
				p := post(github.Section{Name: "h100", Render: text("red")})
				p.Statuses = []github.Status{{Context: "benchgate/h100", State: "failure"}}
				start := time.Now()
				posted := client.Publish(ctx, p)
				if diff := cmp.Diff([]string{"pull", "list"}, fake.Made()); diff != "" || posted.Comment != "failed" {
					t.Errorf("%+v; calls (-want +got):\n%s", posted, diff)
				}
				if len(posted.Errors) != 1 || !strings.Contains(posted.Errors[0], "the job is being ended") || time.Since(start) > 4*time.Second {
					t.Errorf("after %v: %q", time.Since(start), posted.Errors)
				}
			})
		})
	}
}

func TestAGitHubThatHangsTakesNinetySecondsAndSaysSo(t *testing.T) {
	inVirtualTime(t, ghfake.Options{Faults: []ghfake.Fault{{Name: "hang"}}}, func(t *testing.T, fake *ghfake.Server, client *github.Client) {
		p := post(github.Section{Name: "h100", Render: text("red")})
		p.Statuses = []github.Status{{Context: "benchgate/h100", State: "failure"}, {Context: "benchgate/m4", State: "failure"}}
		start := time.Now()
		posted := publish(client, p)
		want := []string{
			"read the pull request before its comment is written: no usable answer; re-run the job to publish again (no answer within 10 s)",
			`write status "benchgate/h100", "benchgate/m4": the time for publishing is over; re-run the job to publish again`,
		}
		if diff := cmp.Diff(want, posted.Errors); diff != "" || posted.Comment != "skipped" || time.Since(start) != 90*time.Second {
			t.Errorf("%s after %v; errors (-want +got):\n%s", posted.Comment, time.Since(start), diff)
		}
	})
}

func TestAProxyThatCannotBeReadIsNotRepeated(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, address := range []string{"http://me:sesame@[bad", "http://me:sesame@127.0.0.1:1", "ftp://me:sesame@127.0.0.1:1"} {
		posted, out := inChild(t, "https://"+enterprise+"/api/v3", "HTTPS_PROXY="+address)
		if posted.Comment != "skipped" || !strings.Contains(out, "HTTPS_PROXY") || strings.Contains(out, "sesame") {
			t.Errorf("%s: %s", address, out)
		}
	}
}
