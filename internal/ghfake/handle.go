package ghfake

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// largest is how many bytes of a request are read.
const largest = 8 << 20

// visit is one call in progress. The state is locked for as long as it lasts.
type visit struct {
	*State
	request
	spec       *spec
	login      string
	repository string // "owner/name" of the path
	site       string // "http://host", where people look
	base       string // the base of the API, as the caller knows it
	moved      bool   // it came to where a redirect of GitHub's leads
}

var handlers = map[string]func(visit) answer{
	"issues/list-comments": listComments, "issues/create-comment": createComment, "issues/get-comment": getComment,
	"issues/update-comment": updateComment, "issues/delete-comment": deleteComment, "issues/add-labels": addLabels,
	"issues/list-for-repo": listIssues, "issues/get": getIssue,
	"repos/create-commit-status": createStatus, "repos/list-commit-statuses-for-ref": listStatuses,
	"pulls/list": listPulls, "pulls/get": getPull, "pulls/create": createPull, "pulls/update": updatePull,
	"repos/list-pull-requests-associated-with-commit": pullsOfCommit,
	"users/get-authenticated":                         getUser, "rate-limit/get": getRateLimit, viewer: getViewer,
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, largest))
	if err != nil {
		return // the caller left
	}
	c := Call{
		At: time.Now(), Method: r.Method, Path: r.URL.RequestURI(), Host: r.Host, Body: string(body),
		Token: r.Header.Get("Authorization") != "", Foreign: "http://"+r.Host == s.Elsewhere,
	}
	var f *fault
	var a answer
	if c.Foreign {
		a = s.elsewhere(&c)
	} else {
		a, f = s.answer(r, body, &c)
	}
	c.Status = a.status
	if f != nil && f.kind.breaks != nil {
		c.Status = 0
	}
	s.keep(c)
	if f != nil && f.kind.breaks != nil {
		f.kind.breaks(w, r, a)
		return
	}
	a.write(w)
}

func (a answer) write(w http.ResponseWriter) {
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// keep notes a call, and complains of what was wrong with it.
func (s *Server) keep(c Call) {
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	if c.Problem != "" {
		s.problem(fmt.Sprintf("%s %s: %s", c.Method, c.Path, c.Problem))
	}
	if s.options.Record != nil {
		s.options.Record(c)
	}
}

// elsewhere is a host that is not GitHub and would like the token.
func (s *Server) elsewhere(c *Call) answer {
	if c.Token {
		c.Problem = "the token went to another host"
	}
	m := s.spec.skeleton("issue-comment")
	m["id"], m["body"] = 1, "not GitHub"
	return reply(http.StatusCreated, m)
}

// answer finds out what GitHub says, and which fault it meets. It fills in what the call is.
func (s *Server) answer(r *http.Request, body []byte, c *Call) (answer, *fault) {
	v := visit{spec: s.spec, login: s.options.Login, site: "http://" + r.Host}
	if r.TLS != nil {
		v.site = "https://" + r.Host
	}
	v.base = v.site
	if rest, ok := strings.CutPrefix(r.URL.Path, "/api/v3"); ok {
		c.Enterprise, v.base, r.URL.Path, r.URL.RawPath = true, v.site+"/api/v3", rest, ""
	}
	if rest, ok := strings.CutPrefix(r.URL.Path, moved); ok {
		v.moved, r.URL.Path = true, "/repos/"+cmp.Or(s.options.Repository, "example/server")+rest
	}
	if r.Method == http.MethodPost && (r.URL.Path == "/api/graphql" || r.URL.Path == "/graphql" && !c.Enterprise) {
		c.Enterprise = r.URL.Path == "/api/graphql"
		return s.graphql(v, r, body, c)
	}
	q, err := s.spec.find(r, body)
	if err != nil {
		c.Problem = "GitHub's description has no such call: " + err.Error()
		return notFound(), nil
	}
	v.request, v.repository, c.Operation = q, in(r.URL.Path), q.operation()
	if err := q.check(); err != nil {
		c.Problem = "the request is not as GitHub describes it: " + err.Error()
		return refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n"+err.Error()), nil
	}
	return s.meet(v, c)
}

// meet gives the call to the handler of its operation, unless a fault or a rule stands before it.
func (s *Server) meet(v visit, c *Call) (answer, *fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.State = &s.state
	f := s.next(v, c.Operation)
	if f != nil {
		c.Fault = f.name
		if f.kind.before {
			return s.faulty(f, v, answer{}), f
		}
	}
	a, refused := s.rules(v)
	if !refused {
		a = handlers[c.Operation](v)
	}
	if v.Route == nil {
		// The description is of REST alone.
	} else if err := s.spec.checkAnswer(v.request, a); err != nil {
		c.Problem = fmt.Sprintf("the fake's own answer %d is not as GitHub describes it: %v", a.status, err)
	}
	if f != nil {
		a = s.faulty(f, v, a)
	}
	a.header.Set("X-GitHub-Request-Id", "ghfake:"+strconv.Itoa(len(s.calls)+1))
	return a, f
}

// rules are those that hold for every call, whatever the description says.
func (s *Server) rules(v visit) (answer, bool) {
	token := strings.TrimPrefix(strings.TrimPrefix(v.Request.Header.Get("Authorization"), "Bearer "), "token ")
	switch {
	case v.Request.Header.Get("User-Agent") == "":
		return refuse(http.StatusForbidden, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header"), true
	case token == "":
		return refuse(http.StatusUnauthorized, "Requires authentication"), true
	case s.options.Token != "" && token != s.options.Token:
		return refuse(http.StatusUnauthorized, "Bad credentials"), true
	case v.repository != "" && s.options.Repository != "" && !strings.EqualFold(v.repository, s.options.Repository):
		return notFound(), true
	case s.options.ReadOnly && write(v.Request.Method):
		return refuse(http.StatusForbidden, "Resource not accessible by integration"), true
	}
	return answer{}, false
}

// id is a number of the path.
func (v visit) id(name string) int64 {
	n, _ := strconv.ParseInt(v.PathParams[name], 10, 64)
	return n
}

// issue is the pull request that the path names: there are no other issues.
func (v visit) issue() (Pull, bool) {
	p := v.pull(int(v.id("issue_number")))
	if p == nil {
		return Pull{}, false
	}
	return *p, true
}

func (v visit) repositoryURL() string { return v.base + "/repos/" + v.repository }
func (v visit) pageURL() string       { return v.site + "/" + v.repository }
func (v visit) issueURL(issue int) string {
	return fmt.Sprintf("%s/issues/%d", v.repositoryURL(), issue)
}
