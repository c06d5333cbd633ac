package ghfake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

func listPulls(v visit) answer {
	q := v.Request.URL.Query()
	state := cmp.Or(q.Get("state"), "open")
	all := []any{}
	for _, p := range v.Pulls {
		owner, _, _ := strings.Cut(p.HeadRepository, "/")
		if (state == "all" || state == p.State) && (q.Get("base") == "" || q.Get("base") == p.BaseRef) &&
			(q.Get("head") == "" || q.Get("head") == owner+":"+p.HeadRef) {
			all = append(all, v.showPull(p, "pull-request-simple"))
		}
	}
	return page(v.base, v.Request, all)
}

func pullsOfCommit(v visit) answer {
	all := []any{}
	for _, p := range v.Pulls {
		if p.HeadSHA == v.PathParams["commit_sha"] {
			all = append(all, v.showPull(p, "pull-request-simple"))
		}
	}
	return page(v.base, v.Request, all)
}

func getPull(v visit) answer {
	p := v.pull(int(v.id("pull_number")))
	if p == nil {
		return notFound()
	}
	return reply(http.StatusOK, v.showPull(*p, "pull-request"))
}

func createPull(v visit) answer {
	var in struct {
		Title, Head, Base, Body string
		Draft                   bool
	}
	if err := json.Unmarshal(v.body, &in); err != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	owner, _, _ := strings.Cut(v.repository, "/")
	ref := strings.TrimPrefix(in.Head, owner+":")
	if in.Title == "" {
		return invalid("PullRequest", "title", "missing_field", "")
	}
	for _, p := range v.Pulls {
		if p.State == "open" && p.HeadRepository == v.repository && p.HeadRef == ref && p.BaseRef == in.Base {
			return invalid("PullRequest", "", "custom", "A pull request already exists for "+owner+":"+ref+".")
		}
	}
	n := v.AddPull(Pull{
		Title: in.Title, Body: in.Body, Author: v.login, Draft: in.Draft, HeadRef: ref, HeadRepository: v.repository,
		HeadSHA: strings.Repeat("c", 40), BaseRef: in.Base, BaseSHA: strings.Repeat("b", 40),
	})
	a := reply(http.StatusCreated, v.showPull(*v.pull(n), "pull-request"))
	return a.with("Location", fmt.Sprintf("%s/pulls/%d", v.repositoryURL(), n))
}

func updatePull(v visit) answer {
	p := v.pull(int(v.id("pull_number")))
	if p == nil {
		return notFound()
	}
	var in struct{ Title, Body, State, Base *string }
	if err := json.Unmarshal(v.body, &in); err != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	set(&p.Title, in.Title)
	set(&p.Body, in.Body)
	set(&p.State, in.State)
	set(&p.BaseRef, in.Base)
	return reply(http.StatusOK, v.showPull(*p, "pull-request"))
}

func set(at, to *string) {
	if to != nil {
		*at = *to
	}
}

func (v visit) showPull(p Pull, schema string) map[string]any {
	m := v.spec.skeleton(schema)
	url := fmt.Sprintf("%s/pulls/%d", v.repositoryURL(), p.Number)
	m["id"], m["number"], m["state"], m["title"], m["body"] = 500+p.Number, p.Number, p.State, p.Title, orNull(p.Body)
	m["draft"], m["locked"], m["user"] = p.Draft, p.Locked, v.showUser(p.Author)
	m["url"], m["html_url"] = url, fmt.Sprintf("%s/pull/%d", v.pageURL(), p.Number)
	m["issue_url"], m["comments_url"] = v.issueURL(p.Number), v.issueURL(p.Number)+"/comments"
	m["statuses_url"] = v.repositoryURL() + "/statuses/" + p.HeadSHA
	m["head"] = v.showSide(p.HeadRepository, p.HeadRef, p.HeadSHA)
	m["base"] = v.showSide(v.repository, p.BaseRef, p.BaseSHA)
	return m
}

// showSide shows one side of a pull request. The repository of a head is null where the fork was deleted.
func (v visit) showSide(repository, ref, sha string) map[string]any {
	owner, _, _ := strings.Cut(cmp.Or(repository, "unknown/repository"), "/")
	m := map[string]any{"ref": ref, "sha": sha, "label": owner + ":" + ref, "user": nil, "repo": nil}
	m["user"] = v.showUser(owner)
	if repository == "" {
		return m
	}
	r := v.spec.skeleton("repository")
	_, name, _ := strings.Cut(repository, "/")
	r["id"], r["name"], r["full_name"], r["owner"] = 1296269, name, repository, v.showUser(owner)
	r["url"], r["html_url"] = v.base+"/repos/"+repository, v.site+"/"+repository
	r["fork"], r["default_branch"] = repository != v.repository, "main"
	m["repo"] = r
	return m
}
