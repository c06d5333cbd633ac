package ghfake

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

// listIssues lists the pull requests: to this list of GitHub's a pull request is an issue.
func listIssues(v visit) answer {
	state := cmp.Or(v.Request.URL.Query().Get("state"), "open")
	all := []any{}
	for _, p := range v.Pulls {
		if state == "all" || state == p.State {
			all = append(all, v.showIssue(p))
		}
	}
	return page(v.base, v.Request, all)
}

func getIssue(v visit) answer {
	p, ok := v.issue()
	if !ok {
		return notFound()
	}
	return reply(http.StatusOK, v.showIssue(p))
}

func (v visit) showIssue(p Pull) map[string]any {
	m := v.spec.skeleton("issue")
	url := fmt.Sprintf("%s/pulls/%d", v.repositoryURL(), p.Number)
	m["id"], m["number"], m["state"], m["title"], m["body"] = 500+p.Number, p.Number, p.State, p.Title, orNull(p.Body)
	m["locked"], m["user"], m["url"] = p.Locked, v.showUser(p.Author), v.issueURL(p.Number)
	m["pull_request"] = map[string]any{"url": url, "html_url": url, "diff_url": url, "patch_url": url}
	return m
}

// showUser shows a login: an app's ends in "[bot]".
func (v visit) showUser(login string) map[string]any {
	m := v.spec.skeleton("simple-user")
	m["login"], m["id"], m["type"] = login, 1, "User"
	if strings.HasSuffix(login, "[bot]") {
		m["type"] = "Bot"
	}
	m["url"], m["html_url"] = v.base+"/users/"+login, v.site+"/"+login
	return m
}

// getUser answers who the token is. The token of a workflow is an app's and may not ask.
func getUser(v visit) answer {
	if strings.HasSuffix(v.login, "[bot]") {
		return refuse(http.StatusForbidden, "Resource not accessible by integration")
	}
	m := v.spec.skeleton("public-user")
	for k, x := range v.showUser(v.login) {
		m[k] = x
	}
	m["user_view_type"] = "public"
	return reply(http.StatusOK, m)
}

func getRateLimit(v visit) answer {
	m := v.spec.skeleton("rate-limit-overview")
	return reply(http.StatusOK, m)
}
