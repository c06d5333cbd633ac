package ghfake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A comment may have so many characters: a rule that the description lacks.
const longestComment = 65536

func listComments(v visit) answer {
	issue, ok := v.issue()
	if !ok {
		return notFound()
	}
	all := []any{}
	since, _ := time.Parse(time.RFC3339, v.Request.URL.Query().Get("since"))
	for _, c := range v.Comments {
		if c.Issue == issue.Number && !c.Updated.Before(since) {
			all = append(all, v.showComment(c))
		}
	}
	return page(v.base, v.Request, all)
}

func createComment(v visit) answer {
	issue, ok := v.issue()
	if !ok {
		return notFound()
	}
	if issue.Locked {
		return refuse(http.StatusForbidden, "Unable to create comment because issue is locked.")
	}
	body, wrong := v.commentBody()
	if wrong != nil {
		return *wrong
	}
	id := v.AddComment(Comment{Issue: issue.Number, Author: v.login, Body: body})
	c := *v.comment(id)
	a := reply(http.StatusCreated, v.showComment(c))
	return a.with("Location", v.commentURL(c))
}

func getComment(v visit) answer {
	c := v.comment(v.id("comment_id"))
	if c == nil {
		return notFound()
	}
	return reply(http.StatusOK, v.showComment(*c))
}

func updateComment(v visit) answer {
	c := v.comment(v.id("comment_id"))
	if c == nil {
		return notFound()
	}
	if p := v.pull(c.Issue); p != nil && p.Locked {
		return refuse(http.StatusForbidden, "Unable to update comment because issue is locked.")
	}
	body, wrong := v.commentBody()
	if wrong != nil {
		return *wrong
	}
	c.Body, c.Updated = body, time.Now().UTC().Truncate(time.Second)
	return reply(http.StatusOK, v.showComment(*c))
}

func deleteComment(v visit) answer {
	if !v.DeleteComment(v.id("comment_id")) {
		return notFound()
	}
	return answer{http.StatusNoContent, http.Header{}, nil}
}

// commentBody reads the text of a comment, or says what is wrong with it.
func (v visit) commentBody() (string, *answer) {
	var in struct{ Body string }
	if err := json.Unmarshal(v.body, &in); err != nil {
		a := refuse(http.StatusBadRequest, "Problems parsing JSON")
		return "", &a
	}
	if strings.TrimSpace(in.Body) == "" {
		a := invalid("IssueComment", "body", "missing_field", "")
		return "", &a
	}
	if utf8.RuneCountInString(in.Body) > longestComment {
		a := tooLong()
		return "", &a
	}
	return in.Body, nil
}

func tooLong() answer {
	return invalid("IssueComment", "data", "unprocessable", fmt.Sprintf("Body is too long (maximum is %d characters)", longestComment))
}

func (v visit) commentURL(c Comment) string {
	return v.repositoryURL() + "/issues/comments/" + strconv.FormatInt(c.ID, 10)
}

func (v visit) showComment(c Comment) map[string]any {
	m := v.spec.skeleton("issue-comment")
	m["id"], m["body"], m["user"] = c.ID, c.Body, v.showUser(c.Author)
	m["url"], m["issue_url"] = v.commentURL(c), v.issueURL(c.Issue)
	m["html_url"] = fmt.Sprintf("%s/pull/%d#issuecomment-%d", v.pageURL(), c.Issue, c.ID)
	m["created_at"], m["updated_at"] = c.Created.Format(time.RFC3339), c.Updated.Format(time.RFC3339)
	m["author_association"] = "NONE"
	return m
}

// addLabels answers with the labels and forgets them.
func addLabels(v visit) answer {
	if _, ok := v.issue(); !ok {
		return notFound()
	}
	var in struct{ Labels []string }
	if err := json.Unmarshal(v.body, &in); err != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	all := []any{}
	for i, name := range slices.Compact(in.Labels) {
		m := v.spec.skeleton("label")
		m["id"], m["name"] = i+1, name
		all = append(all, m)
	}
	return reply(http.StatusOK, all)
}
