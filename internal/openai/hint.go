package openai

import (
	"context"
	"fmt"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

// Error is a failed probe. Hint says what to do about it, "" when nothing is known; the message is without it, so that it
// may stand on a line of its own.
type Error struct {
	Doing string
	Class bench.Class
	Said  string
	Hint  string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (%s)", e.Doing, e.Said, e.Class)
}

// error makes the error of a failed probe, with the way out.
func (p *probe) error(ctx context.Context, doing string, a *answer) error {
	if err := ctx.Err(); err != nil && a.req.Class == bench.Canceled {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return &Error{
		Doing: doing + " at " + p.c.redact.clean(p.c.base.Redacted()), Class: a.req.Class, Said: a.req.Error,
		Hint: p.hint(a),
	}
}

var hints = map[bench.Class]string{
	bench.Refused:      "nothing listens there: is the server running, and is the port in target.base_url its own?",
	bench.DNS:          "the name in target.base_url is unknown on this machine",
	bench.ConnTimeout:  "nothing answers there: is a firewall in between, and is target.base_url right?",
	bench.NotStreaming: "benchgate measures streams: ask a server, or a path through the proxy, that streams",
	bench.RateLimited:  "the server limits the rate: a limited server cannot be measured; raise its limit",
	bench.Overloaded:   "the server is not ready, or too busy",
	bench.HTTP5xx:      "the server failed: its log says why",
	bench.InBand:       "the server failed in the middle of an answer: its log says why",
	bench.Reset:        "the server broke off: its log says why; a proxy in between may have done it too",
	bench.Truncated:    "the stream is not that of OpenAI's API, or the server broke off: its log says why",
	bench.Malformed:    "is target.base_url that of an inference server?",
	bench.TLS:          "the certificate must be valid today, for the name in target.base_url, and signed by an authority that this machine knows",
	bench.Redirected:   "a request that is sent on is timed with its detour: set target.base_url to where it leads",
	bench.Empty:        "the model answers nothing to a plain question: is it a chat model, and is target.api right?",
}

// Hint is what to do about a failure of a class, where the class alone says it; else empty.
func Hint(c bench.Class) string { return hints[c] }

func (p *probe) hint(a *answer) string {
	r := a.req
	switch {
	case r.Class == bench.IdleTimeout && len(a.finish) > 0:
		return "the answer came as far as its finish reason, and the stream does not end: its end is stuck in the server, or in a proxy before it"
	case r.Class == bench.FirstTimeout, r.Class == bench.IdleTimeout, r.Class == bench.TooSlow:
		return p.slow()
	case r.Status == 401, r.Status == 403:
		return "the server wants another key: name the variable that holds it in target.api_key_env"
	case r.Status == 404 && len(p.caps.Models) > 0 && !p.caps.ModelListed:
		return "the server lists these models: " + p.listed() + "; set target.model to one of them"
	case r.Status == 404, r.Status == 405:
		return "is the path in target.base_url right (most servers want …/v1), and does the server know the " + p.c.options.API + " endpoint? See target.api"
	case r.Class == bench.Malformed && strings.Contains(r.Error, "compressed"):
		return "switch compression off in the server, or in the proxy before it"
	case r.Class == bench.HTTP4xx:
		return "the server refuses the request: compare target.api, target.model, sampling and extra_body with what it takes"
	}
	return hints[r.Class]
}

// slow is what to do about a server that an answer of preflight waited for in vain.
func (p *probe) slow() string {
	t := p.c.with(p.c.limit).options.Timeouts
	return fmt.Sprintf("the server hangs, and its log says why; or it is slower than preflight waits, in doctor as in run: %v for the first token, %v between tokens, %v for %d tokens", t.FirstToken, t.Idle, t.Total, probeTokens)
}
