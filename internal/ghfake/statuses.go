package ghfake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

var sha = regexp.MustCompile(`^[0-9a-f]{40}$`)

func createStatus(v visit) answer {
	commit := v.PathParams["sha"]
	if !sha.MatchString(commit) {
		return reply(http.StatusUnprocessableEntity, map[string]any{"message": "No commit found for SHA: " + commit, "documentation_url": docs})
	}
	var in struct {
		State, Description, Context string
		TargetURL                   string `json:"target_url"`
	}
	if err := json.Unmarshal(v.body, &in); err != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	in.Context = cmp.Or(in.Context, "default")
	switch {
	case utf8.RuneCountInString(in.Description) > 140:
		return invalid("Status", "description", "custom", "description is too long (maximum is 140 characters)")
	case utf8.RuneCountInString(in.Context) > 255:
		return invalid("Status", "context", "custom", "context is too long (maximum is 255 characters)")
	case in.TargetURL != "" && !strings.HasPrefix(in.TargetURL, "http://") && !strings.HasPrefix(in.TargetURL, "https://"):
		return invalid("Status", "target_url", "custom", "target_url must use http(s) scheme")
	}
	s := Status{commit, in.Context, in.State, in.Description, in.TargetURL, v.login}
	v.Statuses = append(v.Statuses, s)
	return reply(http.StatusCreated, v.showStatus(len(v.Statuses), s))
}

func listStatuses(v visit) answer {
	all := []any{}
	for i := len(v.Statuses) - 1; i >= 0; i-- { // newest first
		if s := v.Statuses[i]; s.SHA == v.PathParams["ref"] {
			all = append(all, v.showStatus(i+1, s))
		}
	}
	return page(v.base, v.Request, all)
}

func (v visit) showStatus(id int, s Status) map[string]any {
	m := v.spec.skeleton("status")
	m["id"], m["state"], m["context"], m["creator"] = id, s.State, s.Context, v.showUser(s.Creator)
	m["description"], m["target_url"] = orNull(s.Description), orNull(s.TargetURL)
	m["url"] = fmt.Sprintf("%s/statuses/%s", v.repositoryURL(), s.SHA)
	m["created_at"], m["updated_at"] = now(), now()
	return m
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
