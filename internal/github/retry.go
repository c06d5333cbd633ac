package github

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

const (
	attemptTime = 10 * time.Second // for one attempt, from its start to the end of its answer
	retriesMost = 3
	retryFirst  = 500 * time.Millisecond
	retryLast   = 20 * time.Second // a server that asks for a longer wait is not waited for here
)

// retrying is a client that asks again what may be asked again without a second effect: reads, and writes that set a
// thing to what it then is. A POST goes out once.
func retrying(w *wire) *http.Client {
	inner := &retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: w, Timeout: attemptTime, CheckRedirect: checkRedirect},
		RetryWaitMin: retryFirst,
		RetryWaitMax: retryLast,
		RetryMax:     retriesMost,
		CheckRetry:   checkRetry,
		Backoff:      backoff,
		ErrorHandler: lastAnswer,
	}
	return &http.Client{
		Transport:     &tagged{next: &retryablehttp.RoundTripper{Client: inner}},
		CheckRedirect: checkRedirect,
	}
}

// tagged puts into the context what the policy for retries needs and is not told: the method, which a failed call has no
// answer to read from.
type tagged struct{ next http.RoundTripper }

type tag struct {
	method string
	unmet  int // attempts that reached no server
}

type tagKey struct{}

func (t *tagged) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r.WithContext(context.WithValue(r.Context(), tagKey{}, &tag{method: r.Method})))
	if err != nil {
		return nil, err
	}
	// The body is in memory. Closing it here ends the timer of its attempt, which go-github leaves running after a refusal.
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, err
}

// checkRetry returns the error of the call itself, never one of its own: the caller tells failures apart.
func checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	t, ok := ctx.Value(tagKey{}).(*tag)
	if !ok || t.method == http.MethodPost || ctx.Err() != nil {
		return false, nil
	}
	switch {
	case err == nil:
		return again(ctx, resp), nil
	case final(err):
		return false, nil
	case unreached(err):
		t.unmet++
		return t.unmet == 1, nil
	}
	return true, nil
}

// lastAnswer is what is left when no attempt is: an answer with its status, or an error, and never both.
func lastAnswer(resp *http.Response, err error, _ int) (*http.Response, error) {
	if err != nil {
		if resp != nil {
			resp.Body.Close()
		}
		return nil, err
	}
	return resp, nil
}

func again(ctx context.Context, resp *http.Response) bool {
	if resp.StatusCode < 500 || resp.StatusCode == http.StatusNotImplemented {
		return false
	}
	d, asked := retryAfter(resp)
	if !asked {
		return true
	}
	end, ok := ctx.Deadline()
	return d <= retryLast && (!ok || time.Until(end) > d)
}

// backoff is half a second, one, two, with a quarter of chance in it, or what the server asks for.
func backoff(first, last time.Duration, attempt int, resp *http.Response) time.Duration {
	if resp != nil {
		if d, ok := retryAfter(resp); ok {
			return min(d, last)
		}
	}
	d := min(first<<min(attempt, 16), last)
	return d + time.Duration(rand.Int64N(int64(d)/4+1))
}

// retryAfter is the wait that an answer asks for, in seconds or by a date, and a day at most.
func retryAfter(resp *http.Response) (time.Duration, bool) {
	s := strings.TrimSpace(resp.Header.Get("Retry-After"))
	if s == "" {
		return 0, false
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(n) {
		return time.Duration(min(max(0, n), 86400) * float64(time.Second)), true
	}
	if at, err := http.ParseTime(s); err == nil {
		return min(max(0, time.Until(at)), 24*time.Hour), true
	}
	return 0, false
}

// final tells the failures that another attempt would meet again.
func final(err error) bool {
	var refused *redirectError
	var certificate *tls.CertificateVerificationError
	return errors.Is(err, errCalls) || errors.Is(err, errBudget) || errors.Is(err, errEnded) || errors.Is(err, errProxy) || errors.As(err, &refused) || errors.As(err, &certificate)
}

// unreached tells the failures in which no server heard the call.
func unreached(err error) bool {
	var dns *net.DNSError
	var op *net.OpError
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &dns) || errors.As(err, &record) || errors.As(err, &certificate) ||
		errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect")
}

// redirectError is a redirect that was not followed.
type redirectError struct{ why string }

func (e *redirectError) Error() string { return e.why }

// checkRedirect follows a redirect only to the same host, and a write only where it stays that write (307 and 308): of one
// that is answered by 301, 302 or 303 the standard library would make a GET, whose success looks like that of the write.
func checkRedirect(next *http.Request, before []*http.Request) error {
	first := before[0]
	var status int
	if next.Response != nil {
		status = next.Response.StatusCode
	}
	switch {
	case len(before) > 3:
		return &redirectError{"the API redirects on and on"}
	case !sameOrigin(next.URL, first.URL):
		return &redirectError{fmt.Sprintf("the API redirects to another host, %q: not followed with a token", cut(next.URL.Host, 80))}
	case next.Method != first.Method:
		return &redirectError{fmt.Sprintf("the API answers a write with a redirect (%d) that would turn it into a read", status)}
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}
