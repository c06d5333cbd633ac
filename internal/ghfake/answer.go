package ghfake

import (
	"encoding/json"
	"net/http"
	"strings"
)

// answer is what goes back, whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

const docs = "https://docs.github.com/rest"

// reply is an answer of JSON.
func reply(status int, v any) answer {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return answer{status, http.Header{"Content-Type": {"application/json; charset=utf-8"}}, b}
}

// refuse is an error in GitHub's words.
func refuse(status int, message string) answer {
	return reply(status, map[string]any{"message": message, "documentation_url": docs, "status": statusText(status)})
}

// invalid is GitHub's 422: what is wrong with which field.
func invalid(resource, field, code, message string) answer {
	e := map[string]any{"resource": resource, "code": code, "field": field}
	if message != "" {
		e["message"] = message
	}
	return reply(http.StatusUnprocessableEntity, map[string]any{
		"message": "Validation Failed", "errors": []any{e},
		"documentation_url": docs, "status": statusText(http.StatusUnprocessableEntity),
	})
}

func statusText(status int) string {
	b, _ := json.Marshal(status)
	return string(b)
}

func notFound() answer { return refuse(http.StatusNotFound, "Not Found") }

func (a answer) with(pairs ...string) answer {
	for i := 0; i < len(pairs); i += 2 {
		a.header.Set(pairs[i], pairs[i+1])
	}
	return a
}

// in says of which repository a path speaks: "" for none.
func in(path string) string {
	rest, ok := strings.CutPrefix(path, "/repos/")
	if !ok {
		return ""
	}
	part := strings.SplitN(rest, "/", 3)
	if len(part) < 2 {
		return ""
	}
	return part[0] + "/" + part[1]
}
