package ghfake

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	newLimits = docs + "/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"
	oldLimits = "https://docs.github.com/rest/overview/resources-in-the-rest-api#secondary-rate-limits"
	// moved is where GitHub's redirects of a renamed repository lead.
	moved = "/repositories/1296269"
)

// kinds are all faults by name. One that ends in "-after" lets GitHub do what was asked before the answer goes wrong.
var kinds = all(refusals(), limits(), failures(), redirects(), lies())

func all(tables ...map[string]kind) map[string]kind {
	m := map[string]kind{}
	for _, t := range tables {
		maps.Copy(m, t)
	}
	return m
}

// instead answers a instead of doing what was asked.
func instead(a func() answer) kind {
	return kind{before: true, answer: func(*Server, visit, answer) answer { return a() }}
}

// says refuses in GitHub's words.
func says(status int, message string) kind {
	return instead(func() answer { return refuse(status, message) })
}

func refusals() map[string]kind {
	return map[string]kind{
		"unauthorized":     says(http.StatusUnauthorized, "Bad credentials"),
		"forbidden":        says(http.StatusForbidden, "Resource not accessible by integration"),
		"forbidden-author": says(http.StatusForbidden, "Must have admin rights to Repository."),
		"forbidden-sso":    says(http.StatusForbidden, "Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization."),
		"forbidden-pulls":  says(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests."),
		"locked":           says(http.StatusForbidden, "Unable to create comment because issue is locked."),
		"not-found":        instead(notFound),
		"gone":             says(http.StatusGone, "Issues are disabled for this repo"),
		"too-long":         instead(tooLong),
		"invalid":          instead(func() answer { return invalid("IssueComment", "body", "custom", "body is not to GitHub's taste") }),
		"echo": {before: true, answer: func(_ *Server, v visit, _ answer) answer {
			return refuse(http.StatusForbidden, "No: "+v.Request.Header.Get("Authorization"))
		}},
		"legally-unavailable": says(http.StatusUnavailableForLegalReasons, "Repository access blocked"),
	}
}

// limited is an answer to one who asks too often.
func limited(status int, message, url string, pairs ...string) kind {
	return instead(func() answer {
		return reply(status, map[string]any{"message": message, "documentation_url": url, "status": strconv.Itoa(status)}).with(pairs...)
	})
}

// primary is the limit of an hour: nothing is left until the hour is over.
func primary(status int) kind {
	return instead(func() answer {
		reset := strconv.FormatInt(time.Now().Add(37*time.Minute).Unix(), 10)
		return refuse(status, "API rate limit exceeded for installation ID 12345.").with("X-RateLimit-Limit", "1000",
			"X-RateLimit-Remaining", "0", "X-RateLimit-Used", "1000", "X-RateLimit-Reset", reset, "X-RateLimit-Resource", "core")
	})
}

func limits() map[string]kind {
	const often = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
	return map[string]kind{
		"primary-403":        primary(http.StatusForbidden),
		"primary-429":        primary(http.StatusTooManyRequests),
		"secondary-403":      limited(http.StatusForbidden, often, newLimits, "Retry-After", "7"),
		"secondary-403-old":  limited(http.StatusForbidden, often, oldLimits, "Retry-After", "7"),
		"secondary-403-bare": limited(http.StatusForbidden, often, newLimits),
		"secondary-403-long": limited(http.StatusForbidden, often, newLimits, "Retry-After", "3600"),
		"secondary-429":      limited(http.StatusTooManyRequests, often, newLimits, "Retry-After", "7"),
		"secondary-429-bare": limited(http.StatusTooManyRequests, often, oldLimits),
	}
}

// page of a proxy or of a server that is not well: no JSON.
func html(status int, title string) answer {
	body := "<!DOCTYPE html>\n<html><head><title>" + title + "</title></head><body><h1>" + title + "</h1></body></html>\n"
	return answer{status, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, []byte(body)}
}

func failures() map[string]kind {
	m := map[string]kind{
		"500": instead(func() answer { return refuse(http.StatusInternalServerError, "Server Error") }),
		"502": instead(func() answer { return html(http.StatusBadGateway, "Unicorn! &middot; GitHub") }),
		"503": instead(func() answer { return refuse(http.StatusServiceUnavailable, "Service unavailable") }),
		"503-later": instead(func() answer {
			return refuse(http.StatusServiceUnavailable, "Down for maintenance").with("Retry-After", "3600")
		}),
		"504":   instead(func() answer { return html(http.StatusGatewayTimeout, "Gateway Timeout") }),
		"html":  instead(func() answer { return html(http.StatusOK, "Sign in to continue") }),
		"empty": instead(func() answer { return answer{http.StatusOK, http.Header{}, nil} }),
		"null":  instead(func() answer { return reply(http.StatusOK, nil) }),
		"reset": {before: true, breaks: reset},
		"hang":  {before: true, breaks: hang},
	}
	for name, k := range maps.Clone(m) {
		if name != "503-later" {
			k.before = false
			m[name+"-after"] = k
		}
	}
	return m
}

func redirects() map[string]kind {
	m := map[string]kind{"redirect-loop": redirect(http.StatusTemporaryRedirect, func(_ *Server, v visit) string { return v.Request.URL.RequestURI() })}
	for _, status := range []int{301, 302, 303, 307, 308} {
		here := redirect(status, func(_ *Server, v visit) string {
			return v.base + moved + strings.TrimPrefix(v.Request.URL.RequestURI(), "/repos/"+v.repository)
		})
		here.first = true
		m[fmt.Sprintf("redirect-%d", status)] = here
		m[fmt.Sprintf("redirect-%d-away", status)] = redirect(status, func(s *Server, v visit) string {
			return s.Elsewhere + v.Request.URL.RequestURI()
		})
	}
	return m
}

func redirect(status int, to func(*Server, visit) string) kind {
	return kind{before: true, answer: func(s *Server, v visit, _ answer) answer {
		url := to(s, v)
		return reply(status, map[string]any{"message": "Moved Permanently", "url": url, "documentation_url": docs}).with("Location", url)
	}}
}
