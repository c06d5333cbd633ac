package ghfake

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

//go:embed testdata/github.json
var githubJSON []byte

// spec is GitHub's own description of the calls that this fake answers.
type spec struct {
	doc    *openapi3.T
	router routers.Router
}

// description is read once: that takes longer than all the calls of a test.
var description = sync.OnceValues(func() (*spec, error) {
	doc, err := openapi3.NewLoader().LoadFromData(githubJSON)
	if err != nil {
		return nil, fmt.Errorf("read the description of GitHub's API: %w", err)
	}
	doc.Servers = nil // the description names api.github.com: the fake is somewhere else
	router, err := legacy.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("read the paths of GitHub's API: %w", err)
	}
	return &spec{doc, router}, nil
})

// request is one call as the description sees it.
type request struct {
	*openapi3filter.RequestValidationInput
	body []byte
}

// find says which call of the description r is.
func (s *spec) find(r *http.Request, body []byte) (request, error) {
	route, params, err := s.router.FindRoute(r)
	if err != nil {
		return request{}, err
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{SkipSettingDefaults: true, MultiError: true},
	}
	return request{in, body}, nil
}

func (q request) operation() string { return q.Route.Operation.OperationID }

// check holds the request against the description.
func (q request) check() error {
	q.Request.Body = io.NopCloser(bytes.NewReader(q.body))
	// GitHub reads a body as JSON whatever it is called: curl -d calls it a form.
	q.Request.Header.Set("Content-Type", "application/json")
	err := openapi3filter.ValidateRequest(context.Background(), q.RequestValidationInput)
	if err != nil {
		return err
	}
	if len(q.body) > 0 && q.Route.Operation.RequestBody == nil {
		return fmt.Errorf("a body of %d bytes, where the description has none", len(q.body))
	}
	return nil
}

// checkAnswer holds the fake's own answer against the description. A status that the description does not list is an
// error of GitHub's common shape.
func (s *spec) checkAnswer(q request, a answer) error {
	in := &openapi3filter.ResponseValidationInput{RequestValidationInput: q.RequestValidationInput, Status: a.status, Header: a.header}
	in.SetBodyBytes(a.body)
	if q.Route.Operation.Responses.Status(a.status) != nil {
		return openapi3filter.ValidateResponse(context.Background(), in)
	}
	if a.status < 400 {
		return fmt.Errorf("status %d is not one of this call", a.status)
	}
	var v any
	if err := json.Unmarshal(a.body, &v); err != nil {
		return err
	}
	if a.status == http.StatusUnprocessableEntity {
		return s.schema("validation-error").VisitJSON(v)
	}
	return s.schema("basic-error").VisitJSON(v)
}

func (s *spec) schema(name string) *openapi3.Schema { return s.doc.Components.Schemas[name].Value }

// skeleton is the least that the description allows for a schema: every required field with an empty value. The fake
// fills in what it knows, so that no answer lacks a field that GitHub promises.
func (s *spec) skeleton(name string) map[string]any {
	m, ok := least(s.schema(name)).(map[string]any)
	if !ok {
		panic("schema " + name + " is no object")
	}
	return m
}

func least(s *openapi3.Schema) any {
	switch {
	case s.Nullable:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AllOf) > 0:
		return least(s.AllOf[0].Value)
	case len(s.OneOf) > 0:
		return least(s.OneOf[0].Value)
	case len(s.AnyOf) > 0:
		return least(s.AnyOf[0].Value)
	case s.Type.Is("array"):
		return []any{}
	case s.Type.Is("boolean"):
		return false
	case s.Type.Is("integer"), s.Type.Is("number"):
		return 0
	case s.Type.Is("string"):
		return text(s.Format)
	}
	m := map[string]any{}
	for _, k := range s.Required {
		m[k] = least(s.Properties[k].Value)
	}
	return m
}

func text(format string) string {
	switch {
	case strings.HasPrefix(format, "uri"):
		return "https://api.github.com/"
	case format == "date-time":
		return "2026-01-02T03:04:05Z"
	}
	return ""
}
