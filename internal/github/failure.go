package github

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	api "github.com/google/go-github/v66/github"
)

// kind is what a failed call means for the calls after it.
type kind int

const (
	worked   kind = iota
	denied        // the token may not do this
	bad           // the token is none
	limited       // no more calls before a time that is far away
	slow          // too many calls in a short time: one wait may help
	locked        // the conversation takes no comments
	gone          // no such thing, or none that the token may see
	tooLong       // the text is over what GitHub takes
	invalid       // GitHub does not take what was sent
	redirect      // an answer that leads elsewhere
	unmet         // no server heard the call
	unknown       // nobody knows what the call did
	spent         // the calls are used up
	over          // the time is used up, or the caller has given up
	crowded       // more comments or statuses than are searched
)

// failure is a failed call, taken apart.
type failure struct {
	kind   kind
	status int           // 0: no answer
	said   string        // what GitHub says of it, on one line; foreign text
	until  time.Time     // limited: when calls are taken again; zero unknown
	after  time.Duration // slow, unknown: the wait that GitHub asks for; 0 none
}

// slowWait is what GitHub asks for where it names no time.
const slowWait = time.Minute

// failure takes an error apart, and the token out of it.
func (c *Client) failure(err error) failure {
	f := failureOf(err)
	f.said = cut(c.redact(f.said), 200)
	return f
}

func failureOf(err error) failure {
	var rate *api.RateLimitError
	var abuse *api.AbuseRateLimitError
	var answer *api.ErrorResponse
	var refused *redirectError
	switch {
	case err == nil:
		return failure{}
	case errors.As(err, &rate):
		return failure{kind: limited, status: statusOf(rate.Response), said: rate.Message, until: rate.Rate.Reset.Time}
	case errors.As(err, &abuse):
		f := failure{kind: slow, status: statusOf(abuse.Response), said: abuse.Message, after: slowWait}
		if d, ok := retryAfter(abuse.Response); ok {
			f.after = d
		} else if abuse.RetryAfter != nil { // the library refuses calls until then, without an answer of GitHub's
			f.after = max(0, *abuse.RetryAfter)
		}
		return f
	case errors.As(err, &answer):
		return failureOfAnswer(answer)
	case errors.As(err, &refused):
		return failure{kind: redirect, said: refused.why}
	case errors.Is(err, errEnded):
		return failure{kind: over, said: errEnded.Error()}
	case errors.Is(err, errBudget):
		return failure{kind: over, said: errBudget.Error()}
	case errors.Is(err, errProxy):
		return failure{kind: unmet, said: errProxy.Error()}
	case errors.Is(err, errCalls):
		return failure{kind: spent, said: errCalls.Error()}
	case errors.Is(err, errTooMany), errors.Is(err, errManyStatuses):
		return failure{kind: crowded, said: err.Error()}
	case unreached(err):
		return failure{kind: unmet, said: cause(err)}
	}
	return failure{kind: unknown, said: cause(err)}
}

// cause is what an error says without the address that was called.
func cause(err error) string {
	var call *url.Error
	switch {
	case !errors.As(err, &call):
		return err.Error()
	case call.Timeout():
		return fmt.Sprintf("no answer within %.0f s", attemptTime.Seconds())
	}
	return call.Err.Error()
}

func statusOf(r *http.Response) int {
	if r == nil {
		return 0
	}
	return r.StatusCode
}

func failureOfAnswer(e *api.ErrorResponse) failure {
	f := failure{status: statusOf(e.Response), said: said(e)}
	low := strings.ToLower(f.said)
	_, asked := retryAfter(e.Response)
	switch {
	case f.status == http.StatusUnauthorized:
		f.kind = bad
	case f.status == http.StatusTooManyRequests && e.Response.Header.Get("X-Ratelimit-Remaining") == "0":
		f.kind, f.until = limited, resetOf(e.Response)
	case f.status == http.StatusTooManyRequests,
		f.status == http.StatusForbidden && (asked || strings.Contains(low, "secondary rate limit")),
		f.status == http.StatusUnprocessableEntity && strings.Contains(low, "submitted too quickly"):
		f.kind, f.after = slow, slowWait
		if d, ok := retryAfter(e.Response); ok {
			f.after = d
		}
	case f.status == http.StatusGone, f.status == http.StatusForbidden && strings.Contains(low, "locked"):
		f.kind = locked
	case f.status == http.StatusForbidden:
		f.kind = denied
	case f.status == http.StatusNotFound:
		f.kind = gone
	case f.status == http.StatusUnprocessableEntity && strings.Contains(low, "too long"):
		f.kind = tooLong
	case f.status >= 300 && f.status < 400:
		f.kind = redirect
	case f.status >= 400 && f.status < 500:
		f.kind = invalid
	default:
		f.kind = unknown
		f.after, _ = retryAfter(e.Response)
	}
	return f
}

// said is the message of an answer with what it says of single fields.
func said(e *api.ErrorResponse) string {
	parts := []string{e.Message}
	for _, one := range e.Errors {
		if s := strings.TrimSpace(strings.Join([]string{one.Field, one.Code, one.Message}, " ")); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

func resetOf(r *http.Response) time.Time {
	var seconds int64
	if _, err := fmt.Sscan(r.Header.Get("X-Ratelimit-Reset"), &seconds); err != nil || seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// stops tells the failures after which no other call can succeed, or should be made.
func (f failure) stops() bool {
	return f.kind == bad || f.kind == limited || f.kind == slow || f.kind == over
}

// sentence says what could not be done, why, and what to do. It holds foreign text, on one line, and never the token.
func (c *Client) sentence(what, permission string, err error) string {
	f := c.failure(err)
	why := f.why(permission)
	if f.said != "" && !strings.HasPrefix(why, f.said) {
		why += fmt.Sprintf(" (%s)", f.said)
	}
	if f.status > 0 {
		why = fmt.Sprintf("%d: %s", f.status, why)
	}
	return c.redact(what + ": " + why)
}

func (f failure) why(permission string) string {
	switch f.kind {
	case denied:
		return "the token may not do this; give the job the line \"permissions: {" + permission + "}\". A fork's pull request gets a token that only reads"
	case bad:
		return `the token is invalid or expired; give the action "token: ${{ github.token }}"`
	case limited:
		if f.until.IsZero() {
			return "the limit of calls an hour is used up; re-run the job in an hour"
		}
		return "the limit of calls an hour is used up; re-run the job after " + f.until.UTC().Format("15:04:05 UTC")
	case slow:
		return fmt.Sprintf("GitHub asks to wait %.0f s, which is more than publishing may take; re-run the job later", f.after.Seconds())
	case locked:
		return "the conversation takes no comments; unlock it, or turn issues on, to have one"
	case gone:
		return "there is no such thing, or the token may not see it; check the repository, and the line \"permissions: {" + permission + "}\""
	case tooLong:
		return "GitHub finds the text too long"
	case invalid:
		return "GitHub does not take it"
	case redirect:
		return f.said + "; check api-url"
	case unmet:
		return "no connection; check the network, HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE of the runner"
	case crowded:
		return f.said + "; the summary of this job has the result"
	case over, spent:
		return f.said + "; re-run the job to publish again"
	}
	return "no usable answer; re-run the job to publish again"
}

// redact takes the token out of a text, and puts it on one line.
func (c *Client) redact(s string) string {
	return cut(strings.ReplaceAll(oneLineOf(s, len(s)), c.token, "***"), 1000)
}
