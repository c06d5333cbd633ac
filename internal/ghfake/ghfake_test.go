package ghfake_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/google/go-cmp/cmp"
)

var head = strings.Repeat("a", 40)

func seed() ghfake.State {
	return ghfake.State{Pulls: []ghfake.Pull{{Number: 7, HeadSHA: head, HeadRef: "change", HeadRepository: "example/server", BaseSHA: strings.Repeat("b", 40)}}}
}

// said is an answer as a caller sees it.
type said struct {
	status int
	header http.Header
	body   string
}

// caller calls one server with a token.
type caller struct {
	t      *testing.T
	base   string
	token  string
	client *http.Client
}

func (c caller) call(method, path, body string) (said, error) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	a, err := c.client.Do(r)
	if err != nil {
		return said{}, err
	}
	defer a.Body.Close()
	b, err := io.ReadAll(io.LimitReader(a.Body, 4<<20))
	return said{a.StatusCode, a.Header, string(b)}, err
}

func (c caller) must(method, path, body string) said {
	c.t.Helper()
	a, err := c.call(method, path, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

const repo = "/repos/example/server"

func comment(text string) string {
	b, _ := json.Marshal(map[string]string{"body": text})
	return string(b)
}

func TestEveryCallIsAnsweredAsGitHubDescribesIt(t *testing.T) {
	for _, prefix := range []string{"", "/api/v3"} {
		s := ghfake.New(t, ghfake.Options{Login: "somebody", State: seed()})
		c := caller{t, s.URL + prefix, "secret", http.DefaultClient}
		for _, call := range []struct {
			method, path, body string
			want               int
		}{
			{"POST", repo + "/issues/7/comments", comment("one"), 201},
			{"GET", repo + "/issues/7/comments?per_page=100", "", 200},
			{"GET", repo + "/issues/comments/1001", "", 200},
			{"PATCH", repo + "/issues/comments/1001", comment("two"), 200},
			{"DELETE", repo + "/issues/comments/1001", "", 204},
			{"PATCH", repo + "/issues/comments/1001", comment("three"), 404},
			{"DELETE", repo + "/issues/comments/1001", "", 404},
			{"GET", repo + "/issues/comments/1001", "", 404},
			{"GET", repo + "/issues/8/comments", "", 404},
			{"POST", repo + "/issues/8/comments", comment("one"), 404},
			{"GET", repo + "/issues/7", "", 200},
			{"GET", repo + "/issues", "", 200},
			{"POST", repo + "/issues/7/labels", `{"labels":["nightly"]}`, 200},
			{"POST", repo + "/statuses/" + head, `{"state":"success","context":"benchgate","description":"at most 3 % slower"}`, 201},
			{"GET", repo + "/commits/" + head + "/statuses", "", 200},
			{"POST", repo + "/pulls", `{"title":"Baselines","head":"nightly","base":"main"}`, 201},
			{"POST", repo + "/pulls", `{"title":"Baselines","head":"nightly","base":"main"}`, 422},
			{"PATCH", repo + "/pulls/8", `{"body":"new"}`, 200},
			{"GET", repo + "/pulls/8", "", 200},
			{"GET", repo + "/pulls?head=example:nightly", "", 200},
			{"GET", repo + "/pulls/9", "", 404},
			{"GET", repo + "/commits/" + head + "/pulls", "", 200},
			{"GET", "/user", "", 200},
			{"GET", "/rate_limit", "", 200},
		} {
			if a := c.must(call.method, call.path, call.body); a.status != call.want {
				t.Errorf("%s %s: %d, want %d: %s", call.method, call.path, a.status, call.want, a.body)
			}
		}
		// The other API of an Enterprise Server is beside /api/v3.
		c.base = s.URL + strings.TrimSuffix(prefix, "/v3")
		if a := c.must("POST", "/graphql", `{"query":"{viewer{login}}"}`); a.status != 200 || !strings.Contains(a.body, "somebody") {
			t.Errorf("%s/graphql: %d %s", prefix, a.status, a.body)
		}
		for _, call := range s.Calls() {
			if call.Enterprise != (prefix != "") {
				t.Errorf("%s %s: enterprise %v under %q", call.Method, call.Path, call.Enterprise, prefix)
			}
		}
	}
}

func TestWhatGitHubDoesNotKnowIsTold(t *testing.T) {
	for name, call := range map[string][3]string{
		"unknown path":         {"GET", "/repos/example/server/verdicts", ""},
		"unknown method":       {"PUT", repo + "/issues/7/comments", comment("x")},
		"no body":              {"POST", repo + "/issues/7/comments", ""},
		"wrong type":           {"POST", repo + "/issues/7/comments", `{"body":7}`},
		"no number":            {"GET", repo + "/issues/seven/comments", ""},
		"state of no status":   {"POST", repo + "/statuses/" + head, `{"state":"sucess"}`},
		"state of no pull":     {"PATCH", repo + "/pulls/7", `{"state":"merged"}`},
		"another query":        {"POST", "/graphql", `{"query":"{viewer{email}}"}`},
		"graphql below v3":     {"POST", "/api/v3/graphql", `{"query":"{viewer{login}}"}`},
		"body where none goes": {"GET", repo + "/pulls/7", "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			s, err := ghfake.Start(ghfake.Options{State: seed()}, func(p string) { told = append(told, p) })
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			a := caller{t, s.URL, "secret", http.DefaultClient}.must(call[0], call[1], call[2])
			if a.status < 400 || len(told) != 1 {
				t.Errorf("%v: answered %d, told %q", call, a.status, told)
			}
			if n := len(s.State().Comments) + len(s.State().Statuses); n > 0 {
				t.Errorf("%d things were written all the same", n)
			}
		})
	}
}

func TestRulesThatTheDescriptionLacks(t *testing.T) {
	locked := seed()
	locked.Pulls[0].Locked = true
	create, status := repo+"/issues/7/comments", repo+"/statuses/"+head
	describe := func(n int) string {
		return fmt.Sprintf(`{"state":"success","description":%q}`, strings.Repeat("é", n))
	}
	for name, tc := range map[string]struct {
		o                 ghfake.Options
		token, path, body string // the token is "secret" unless said, "-" is none
		want              int
		because           string
	}{
		"a comment as long as can be":  {path: create, body: comment(strings.Repeat("é", 65536)), want: 201},
		"a longer comment":             {path: create, body: comment(strings.Repeat("é", 65537)), want: 422, because: "Body is too long (maximum is 65536 characters)"},
		"a comment of nothing":         {path: create, body: comment(" \n"), want: 422, because: "missing_field"},
		"a description as long":        {path: status, body: describe(140), want: 201},
		"a longer description":         {path: status, body: describe(141), want: 422, because: "maximum is 140 characters"},
		"a status of half a commit":    {path: repo + "/statuses/abcdef", body: describe(1), want: 422, because: "No commit found for SHA"},
		"a link that is no web page":   {path: status, body: `{"state":"success","target_url":"file:///x"}`, want: 422, because: "http(s)"},
		"no token":                     {token: "-", path: create, body: comment("x"), want: 401, because: "Requires authentication"},
		"another token":                {o: ghfake.Options{Token: "right"}, token: "wrong", path: create, body: comment("x"), want: 401, because: "Bad credentials"},
		"a token that may only read":   {o: ghfake.Options{ReadOnly: true}, path: create, body: comment("x"), want: 403, because: "Resource not accessible by integration"},
		"another repository":           {o: ghfake.Options{Repository: "example/client"}, path: create, body: comment("x"), want: 404, because: "Not Found"},
		"a locked conversation":        {o: ghfake.Options{State: locked}, path: create, body: comment("x"), want: 403, because: "issue is locked"},
		"the token of a workflow asks": {path: "/user", want: 403, because: "Resource not accessible by integration"},
	} {
		t.Run(name, func(t *testing.T) {
			if len(tc.o.State.Pulls) == 0 {
				tc.o.State = seed()
			}
			s := ghfake.New(t, tc.o)
			method := map[bool]string{true: "GET", false: "POST"}[tc.body == ""]
			token := strings.TrimPrefix(map[bool]string{true: "secret", false: tc.token}[tc.token == ""], "-")
			a := caller{t, s.URL, token, http.DefaultClient}.must(method, tc.path, tc.body)
			if a.status != tc.want || !strings.Contains(a.body, tc.because) {
				t.Errorf("answered %d %.300s, want %d %s", a.status, a.body, tc.want, tc.because)
			}
		})
	}
}

func TestListsComeInPagesOfAHundredAtMost(t *testing.T) {
	state := seed()
	for i := range 250 {
		state.Comments = append(state.Comments, ghfake.Comment{Issue: 7, Body: fmt.Sprint(i)})
	}
	s := ghfake.New(t, ghfake.Options{State: state})
	c := caller{t, s.URL, "secret", http.DefaultClient}
	for _, tc := range []struct {
		query, rels string
		items       int
	}{
		{"", "next last", 30},
		{"?per_page=100", "next last", 100},
		{"?per_page=1000", "next last", 100},
		{"?per_page=100&page=2", "prev next last first", 100},
		{"?per_page=100&page=3", "prev first", 50},
		{"?per_page=100&page=4", "prev first", 0},
	} {
		a := c.must("GET", repo+"/issues/7/comments"+tc.query, "")
		var items []any
		if err := json.Unmarshal([]byte(a.body), &items); err != nil {
			t.Fatal(err)
		}
		var rels []string
		for _, part := range strings.Split(a.header.Get("Link"), ", ") {
			_, rel, _ := strings.Cut(part, "rel=")
			rels = append(rels, strings.Trim(rel, `"`))
		}
		if diff := cmp.Diff(fmt.Sprint(tc.items, " ", tc.rels), fmt.Sprint(len(items), " ", strings.Join(rels, " "))); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tc.query, diff)
		}
	}
}

func TestTheTokenIsNeverKept(t *testing.T) {
	s := ghfake.New(t, ghfake.Options{State: seed()})
	caller{t, s.URL, "ghs_secret", http.DefaultClient}.must("GET", repo+"/pulls/7", "")
	b, err := json.Marshal(s.Calls())
	if err != nil {
		t.Fatal(err)
	}
	if calls := s.Calls(); !calls[0].Token || strings.Contains(string(b), "ghs_secret") {
		t.Errorf("the call is kept as %s", b)
	}
}

func TestATokenThatFollowsARedirectIsTold(t *testing.T) {
	var told []string
	s, err := ghfake.Start(ghfake.Options{State: seed()}, func(p string) { told = append(told, p) })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, token := range []string{"", "secret"} {
		caller{t, s.Elsewhere, token, http.DefaultClient}.must("POST", repo+"/issues/7/comments", comment("x"))
	}
	if len(told) != 1 || len(s.State().Comments) > 0 {
		t.Errorf("told %q; kept %v", told, s.State().Comments)
	}
	if diff := cmp.Diff([]string{"elsewhere", "elsewhere"}, s.Made()); diff != "" {
		t.Error(diff)
	}
}

func TestPullRequestsAreIssues(t *testing.T) {
	s := ghfake.New(t, ghfake.Options{State: seed()})
	a := caller{t, s.URL, "secret", http.DefaultClient}.must("GET", repo+"/issues", "")
	var all []struct {
		Number int
		Pull   *struct{} `json:"pull_request"`
	}
	if err := json.Unmarshal([]byte(a.body), &all); err != nil || len(all) != 1 || all[0].Number != 7 || all[0].Pull == nil {
		t.Errorf("listed %+v (%v)", all, err)
	}
}

func TestOthersMayChangeWhatIsKeptInBetween(t *testing.T) {
	s := ghfake.New(t, ghfake.Options{State: seed(), Faults: []ghfake.Fault{
		{On: "update", Do: func(s *ghfake.State) { s.DeleteComment(1001) }},
	}})
	c := caller{t, s.URL, "secret", http.DefaultClient}
	c.must("POST", repo+"/issues/7/comments", comment("x"))
	if a := c.must("PATCH", repo+"/issues/comments/1001", comment("y")); a.status != 404 {
		t.Errorf("answered %d", a.status)
	}
}

func TestFaultsCountTheCallsTheyAreFor(t *testing.T) {
	s := ghfake.New(t, ghfake.Options{State: seed(), Faults: []ghfake.Fault{{Name: "503", On: "create", Skip: 1, Times: 2}}})
	c := caller{t, s.URL, "secret", http.DefaultClient}
	var got []int
	for range 4 {
		got = append(got, c.must("POST", repo+"/issues/7/comments", comment("x")).status, c.must("GET", repo+"/issues/7/comments", "").status)
	}
	if diff := cmp.Diff([]int{201, 200, 503, 200, 503, 200, 201, 200}, got); diff != "" {
		t.Error(diff)
	}
	for _, f := range []ghfake.Fault{{Name: "no such"}, {Name: "503", On: "no such"}} {
		if s.Fail(f) == nil {
			t.Errorf("%+v was accepted", f)
		}
	}
	s.Heal()
	if err := s.Fail(ghfake.Fault{Name: "forbidden"}); err != nil || c.must("GET", "/user", "").status != 403 {
		t.Errorf("a healed server does not fail anew: %v", err)
	}
}
