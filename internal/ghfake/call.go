package ghfake

import (
	"net/http"
	"time"
)

// Call is one request as it came, without its token.
type Call struct {
	At         time.Time `json:"at"`
	Operation  string    `json:"operation"` // as the description names it: "issues/create-comment"; "" for an unknown path
	Method     string    `json:"method"`
	Path       string    `json:"path"` // with the query
	Host       string    `json:"host"`
	Enterprise bool      `json:"enterprise,omitempty"` // it came under /api/v3
	Foreign    bool      `json:"foreign,omitempty"`    // it came to the other host, where a redirect had sent it
	Token      bool      `json:"token"`                // it carried an Authorization
	Body       string    `json:"body,omitempty"`
	Status     int       `json:"status"`            // 0 where no answer was given
	Fault      string    `json:"fault,omitempty"`   // the name of the fault that it met
	Problem    string    `json:"problem,omitempty"` // what was wrong with the request or with the fake's own answer
}

// short names an operation in a few letters, for faults and for tables of tests.
var short = map[string]string{
	"list":          "issues/list-comments",
	"create":        "issues/create-comment",
	"get":           "issues/get-comment",
	"update":        "issues/update-comment",
	"delete":        "issues/delete-comment",
	"status":        "repos/create-commit-status",
	"pull":          "pulls/get",
	"pulls":         "pulls/list",
	"create-pull":   "pulls/create",
	"update-pull":   "pulls/update",
	"user":          "users/get-authenticated",
	"issue":         "issues/get",
	"issues":        "issues/list-for-repo",
	"labels":        "issues/add-labels",
	"commit-pulls":  "repos/list-pull-requests-associated-with-commit",
	"list-statuses": "repos/list-commit-statuses-for-ref",
	"rate":          "rate-limit/get",
	"viewer":        viewer,
}

// Short is the short name of the call's operation: "create" for "issues/create-comment". "" for an unknown path.
func (c Call) Short() string {
	for s, long := range short {
		if long == c.Operation {
			return s
		}
	}
	return ""
}

func write(method string) bool { return method != http.MethodGet && method != http.MethodHead }
