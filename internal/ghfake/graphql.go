package ghfake

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// viewer is the one question that GitHub's other API is asked here: who the token is. An app has no other place to ask.
const viewer = "graphql/viewer"

// graphql answers who the token is, and nothing else. The REST description knows nothing of it: it is held to the one
// question.
func (s *Server) graphql(v visit, r *http.Request, body []byte, c *Call) (answer, *fault) {
	v.request = request{&openapi3filter.RequestValidationInput{Request: r}, body}
	c.Operation = viewer
	var in struct{ Query string }
	if err := json.Unmarshal(body, &in); err != nil || strings.Join(strings.Fields(in.Query), "") != "{viewer{login}}" {
		c.Problem = "the only query that is known is {viewer{login}}"
		return refuse(http.StatusBadRequest, "Problems parsing JSON"), nil
	}
	return s.meet(v, c)
}

func getViewer(v visit) answer {
	return reply(http.StatusOK, map[string]any{"data": map[string]any{"viewer": map[string]any{"login": v.login}}})
}
