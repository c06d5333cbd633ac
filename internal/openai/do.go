package openai

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// Do sends one request and reads its answer to the end. Since is the run's clock: seconds since its start, monotonic. The
// clock of the request starts before a connection is taken, so that waiting for one counts, as in vllm bench serve.
//
// Do never fails: what went wrong is the Request's Class and Error. It returns within the limits of Options.Timeouts.
func (c *Client) Do(ctx context.Context, call Call, since func() float64) bench.Request {
	return c.exchange(ctx, call, since).req
}

// exchange is Do, and keeps what a probe wants to know beside the request.
func (c *Client) exchange(ctx context.Context, call Call, since func() float64) *answer {
	a := &answer{
		call: call, since: since, limits: c.options.Timeouts, keepText: c.options.KeepText, limitField: c.limit,
		completions: c.options.API == Completions,
		silence:     idleTimeout(c.options.Timeouts.Idle),
		lastSilence: idleTimeout(min(c.options.Timeouts.Idle, tail)),
		req:         bench.Request{Index: call.Index, Scheduled: call.Scheduled},
		held:        share{room: c.room},
	}
	defer a.held.free()
	request, err := c.request(call)
	if err != nil {
		a.req.Sent = since()
		return c.ended(a, &failure{bench.Other, err.Error()})
	}
	if call.MaxTokens > 0 {
		a.req.Gaps = make([]float64, 0, min(call.MaxTokens, 1<<12))
	}
	a.watch = newWatch(ctx, since, a.limits.Total)
	defer a.watch.stop()
	a.req.Sent = since()
	conn, resp, err := c.send(ctx, a, request)
	if err != nil {
		return c.ended(a, classify(a.watch.why(), err))
	}
	body := &ending{ReadCloser: resp.Body}
	resp.Body = body
	defer c.leave(a, conn, resp, body)
	a.req.Headers, a.req.Status = conn.dated.at, resp.StatusCode
	a.kept = keepAlive(resp)
	if f := c.refused(resp, a); f != nil {
		return c.ended(a, f)
	}
	buf := c.buffers.Get().(*[]byte)
	defer c.buffers.Put(buf)
	err = a.read(body, &conn.dated, *buf)
	a.compat.ended(err)
	return c.ended(a, a.verdict(err))
}

// leave keeps the connection for the next request if the answer was read to its end, and closes it otherwise.
func (c *Client) leave(a *answer, conn *conn, resp *http.Response, body *ending) {
	if a.watch.stop() && body.over && conn.free(resp) {
		c.wire.spare.put(conn)
		return
	}
	conn.Close()
}

// ended closes the account of a request.
func (c *Client) ended(a *answer, f *failure) *answer {
	a.req.End = a.end
	if a.end == 0 {
		a.req.End = a.since()
	}
	a.req.Class = bench.OK
	if f != nil {
		a.req.Class, a.req.Error = f.class, c.redact.clean(f.message)
	}
	a.req.Finish = shorten(c.redact.clean(string(a.finish)), 40)
	a.req.Text = strings.ToValidUTF8(c.redact.hide(string(a.text)), "\uFFFD")
	a.count()
	a.req.VLLM = a.compat.view(a)
	return a
}

// send sends the request, and once more on a fresh connection when a kept one was closed before any byte of an answer: a
// server may close a kept connection at any moment (llama-server does after 5 s, or 100 requests), and the request that
// meets this is lost through no fault of the build under test. The clock is not restarted.
func (c *Client) send(ctx context.Context, a *answer, request []byte) (*conn, *http.Response, error) {
	settle(ctx)
	if ctx.Err() != nil {
		a.watch.end(context.Cause(ctx))
		return nil, nil, ctx.Err()
	}
	if kept := c.wire.spare.take(); kept != nil {
		resp, err := c.attempt(a, kept, request)
		if err == nil || kept.dated.some || a.watch.why() != nil {
			return kept, resp, err
		}
		a.req.Reconnects++
	}
	fresh, err := c.open(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	resp, err := c.attempt(a, fresh, request)
	return fresh, resp, err
}

// open opens a connection for a request that is waiting for it.
func (c *Client) open(ctx context.Context, a *answer) (*conn, error) {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.watch.on(cancel)
	a.watch.enter(connectTimeout(a.limits.Connect), a.since())
	fresh, err := c.wire.dialer.open(within)
	if ctx.Err() != nil {
		a.watch.end(context.Cause(ctx))
	}
	return fresh, err
}

// attempt is one round trip as far as the head of the answer. When it fails the connection is closed.
func (c *Client) attempt(a *answer, conn *conn, request []byte) (*http.Response, error) {
	a.watch.on(func(error) { conn.cut() })
	a.watch.enter(firstTokenTimeout(a.limits.FirstToken), a.since())
	resp, err := conn.ask(request, a.since)
	if err != nil {
		conn.Close()
	}
	return resp, err
}

func (c *Client) sign(req *http.Request) {
	req.Header.Set("User-Agent", "benchgate")
	if c.options.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.options.APIKey)
	}
}

// under is the URL of a path below the base.
func (c *Client) under(path string) string {
	u := *c.base
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/")+"/"+path, ""
	return u.String()
}

// beside is the URL of a path beside the version: base http://host/v1 and path "tokenize" give http://host/tokenize.
func (c *Client) beside(path string) string {
	u := *c.base
	u.Path, u.RawPath = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/v1")+"/"+path, ""
	return u.String()
}

// refused names an answer that is no stream; nil when it may be one.
func (c *Client) refused(resp *http.Response, a *answer) *failure {
	status := fmt.Sprintf("HTTP %d", resp.StatusCode)
	if text := http.StatusText(resp.StatusCode); text != "" {
		status += " " + text
	}
	kind := strings.ToLower(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode/100 == 3:
		return &failure{bench.Redirected, status + ": redirects are not followed: set target.base_url to where it leads"}
	case resp.StatusCode != http.StatusOK:
		return &failure{statusClass(resp.StatusCode), status + c.reason(resp, a)}
	case encoded(resp):
		return &failure{bench.Malformed, "the answer is compressed although nobody asked for it: arrival times would be those of its blocks"}
	case strings.HasPrefix(kind, "application/json"):
		return unstreamed(c.body64k(resp, a))
	case strings.HasPrefix(kind, "text/html"):
		return &failure{bench.Malformed, "a web page instead of a stream: is target.base_url right? " + said(c.body64k(resp, a))}
	}
	return nil
}

func encoded(resp *http.Response) bool {
	coding := resp.Header.Get("Content-Encoding")
	return coding != "" && !strings.EqualFold(coding, "identity")
}

func statusClass(code int) bench.Class {
	switch {
	case code == http.StatusTooManyRequests:
		return bench.RateLimited
	case code == http.StatusServiceUnavailable:
		return bench.Overloaded
	case code/100 == 4:
		return bench.HTTP4xx
	case code/100 == 5:
		return bench.HTTP5xx
	case code/100 == 2:
		return bench.NotStreaming
	}
	return bench.Malformed
}

// reason is what the server says about its refusal. Of its headers only the number of seconds to wait is told.
func (c *Client) reason(resp *http.Response, a *answer) string {
	text := said(c.body64k(resp, a))
	if c.redact.clean(text) == "" {
		text = "the body is empty"
	}
	if wait, ok := retryAfter(resp.Header); ok {
		text = fmt.Sprintf("(retry after %d s) %s", wait, text)
	}
	return ": " + text
}

// retryAfter is how many seconds a server wants to be left alone, said as such or as a date. The date is held against the
// server's own clock where it tells it.
func retryAfter(h http.Header) (seconds int, ok bool) {
	said := h.Get("Retry-After")
	if n, err := strconv.Atoi(said); err == nil {
		return n, n >= 0
	}
	until, err := http.ParseTime(said)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return int(max(0, until.Sub(now)).Seconds()), true
}

// body64k reads the beginning of a body that is no stream.
func (c *Client) body64k(resp *http.Response, a *answer) []byte {
	a.watch.enter(idleTimeout(a.limits.Idle), a.since())
	body, _ := io.ReadAll(io.LimitReader(resp.Body, mostRead+1)) // what came before an error is still worth telling
	return []byte(c.redact.cut(string(body)))
}
