package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// probeTokens is how many tokens a probe asks for: more than the answer to its question needs.
const probeTokens = 16

// probeQuestion has a short answer, so that a server which stops by itself does so before the limit.
const probeQuestion = "Answer with one word, yes or no: is the sea wet?"

// probeLimits bound each probe, whatever the limits of a measured request are: a server that writes on under every limit is
// cut off by its tokens, and one that writes them slowly by these.
var probeLimits = Timeouts{FirstToken: 2 * time.Minute, Idle: 30 * time.Second, Total: 3 * time.Minute}

// ProbeLimits bound each answer of Preflight, in a client whose own limits are not lower.
func ProbeLimits() Timeouts { return probeLimits }

// Preflight asks the server who it is, and for one to three short answers, to learn what it obeys. Where the server refuses
// a member of the body without naming it, or sends a whole answer at once, there are up to two answers more. It changes
// nothing: see Apply. An error is an *Error unless the context is over.
func (c *Client) Preflight(ctx context.Context) (Capabilities, error) {
	p := &probe{c: c, start: time.Now(), caps: Capabilities{Facts: map[string]string{}}}
	p.identify(ctx)
	a, err := p.limit(ctx)
	if err != nil {
		return Capabilities{}, err
	}
	p.note(a)
	if err := p.exact(ctx, a); err != nil {
		return Capabilities{}, err
	}
	if err := p.again(ctx); err != nil {
		return Capabilities{}, err
	}
	if err := p.tokens(ctx); err != nil {
		return Capabilities{}, err
	}
	p.scrape(ctx)
	p.warn()
	p.caps.Address = c.Address()
	return p.caps, nil
}

// Apply makes the client send what Preflight found the server to take. It must not run beside Do.
func (c *Client) Apply(caps Capabilities) {
	if caps.LimitField != "" {
		c.limit = caps.LimitField
	}
	if caps.UsageRefused {
		c.fixed = c.withoutUsage()
	}
}

// withoutUsage are the members that every request shares, for a server that refuses to be asked for usage.
func (c *Client) withoutUsage() []byte {
	fixed, err := fixedBody(c.options, false)
	if err != nil {
		panic(err) // New made them from the same options
	}
	return fixed
}

// FirstToken asks for one short answer and reports why not one token of it came.
func (c *Client) FirstToken(ctx context.Context) error {
	p := &probe{c: c, start: time.Now(), caps: Capabilities{Facts: map[string]string{}}}
	a := p.ask(ctx, c.limit, false)
	if a.req.FirstToken > 0 && a.failed == nil || a.req.Class == bench.OK || a.req.Class == bench.TooLong {
		return nil
	}
	if a.req.Status == http.StatusNotFound {
		p.models(ctx) // to name those that there are
	}
	return p.error(ctx, "ask for a first token", a)
}

// probe is a preflight under way.
type probe struct {
	c       *Client
	start   time.Time
	caps    Capabilities
	bare    bool // the server refuses ignore_eos and min_tokens
	noUsage bool // the server refuses stream_options
	mute    bool // a question about the server itself was not answered at all: no more are asked
}

func (p *probe) since() float64 { return time.Since(p.start).Seconds() }

// ask asks the question under a limit field.
func (p *probe) ask(ctx context.Context, field string, exact bool) *answer {
	return p.send(ctx, field, Call{Prompt: Prompt{Text: probeQuestion}, MaxTokens: probeTokens, Exact: exact})
}

func (p *probe) send(ctx context.Context, field string, call Call) *answer {
	p.caps.Requests++
	c := p.c.with(field)
	if p.noUsage {
		c.fixed = c.withoutUsage()
	}
	a := c.exchange(ctx, call, p.since)
	p.caps.Reconnects += a.req.Reconnects
	return a
}

// with is the client under another limit field and the limits of a probe; it shares the connections.
func (c *Client) with(field string) *Client {
	o := c.options
	o.Timeouts.FirstToken = min(o.Timeouts.FirstToken, probeLimits.FirstToken)
	o.Timeouts.Idle = min(o.Timeouts.Idle, probeLimits.Idle)
	o.Timeouts.Total = min(o.Timeouts.Total, probeLimits.Total)
	other := *c
	other.options, other.limit = o, field
	return &other
}

// fields are the limit fields that may be tried, in their order.
func (p *probe) fields() []string {
	switch {
	case p.c.options.LimitField != Auto:
		return []string{p.c.options.LimitField}
	case p.c.options.API == Completions:
		return []string{MaxTokens} // the endpoint never knew another
	}
	return []string{MaxTokens, MaxCompletionTokens}
}

// limit finds the limit field that the server obeys and returns the answer under it.
func (p *probe) limit(ctx context.Context) (*answer, error) {
	var first *answer
	for _, field := range p.fields() {
		a := p.asked(ctx, field)
		p.caps.LimitField = field
		switch a.req.Class {
		case bench.OK, bench.TooShort:
			return a, nil
		case bench.TooLong, bench.HTTP4xx:
			if first == nil {
				first = a
			}
		default:
			return nil, p.error(ctx, "ask for a short answer", a)
		}
	}
	if first.req.Class == bench.TooLong {
		return nil, &Error{"ask for a short answer", bench.TooLong, first.req.Error, p.unbounded(first)}
	}
	return nil, p.error(ctx, "ask for a short answer", first)
}

// unbounded is what to do about a server that obeys no limit.
func (p *probe) unbounded(a *answer) string {
	switch {
	case a.usage.known && a.usage.out > probeTokens && a.req.Chunks <= probeTokens:
		return "compare the text of one answer with its usage: a server that writes several tokens a chunk and more than it is asked for cannot be measured, nor one that counts wrongly"
	case p.c.options.LimitField != Auto:
		return "the server does not obey target.limit_field: " + p.c.options.LimitField + "; leave the key out, and the field that is obeyed is found"
	}
	return "the server obeys none of " + strings.Join(p.fields(), ", ") + ": measure another server; answers without bound are another workload each time"
}

// asked asks for an exact length, and without what the server says that it does not take. Where it does not say, the exact
// length is what most servers do not know.
func (p *probe) asked(ctx context.Context, field string) *answer {
	for {
		a := p.ask(ctx, field, !p.bare)
		if a.req.Class != bench.HTTP4xx || a.req.Status == 404 || a.req.Status == 401 || a.req.Status == 403 {
			return a
		}
		said := a.req.Error
		switch {
		case !p.noUsage && strings.Contains(said, "stream_options"):
			p.noUsage = true
		case !p.bare && (strings.Contains(said, "ignore_eos") || strings.Contains(said, "min_tokens")):
			p.bare = true
		case p.bare || strings.Contains(said, field):
			return a
		default:
			a = p.ask(ctx, field, false)
			p.bare = a.req.Class != bench.HTTP4xx
			return a
		}
	}
}

// note takes down what an answer shows.
func (p *probe) note(a *answer) {
	p.caps.Usage = a.usage.known && a.usage.out > 0
	p.caps.UsageRefused = p.noUsage
	p.caps.KeepAlive = shorten(p.c.redact.clean(a.kept), 100)
	p.caps.CachedTokens = a.usage.cached >= 0 && a.usage.known
	p.caps.PromptTokens = a.req.InputTokens
	p.caps.Reasoning = a.reasoning
	p.caps.TTFT = max(0, a.req.FirstToken-a.req.Sent)
	p.caps.Buffered = buffered(a.req)
}

// buffered reports whether an answer came all at once, also one that was shorter than asked.
func buffered(r bench.Request) bool {
	r.Class = bench.OK
	at, _ := r.AtOnce()
	return at
}

// obeying are engines known to write on until min_tokens, whatever the model wants; ignoring are those known not to.
var (
	obeying  = []string{"vllm", "sglang", "llama.cpp", "tensorrt_llm", "benchgate-sim"}
	ignoring = []string{"ollama"}
)

// exact finds whether the server goes on after the model would have stopped. It does when the same question got a shorter
// answer without ignore_eos. When both answers fill the limit the question says nothing, and the engine's name decides.
func (p *probe) exact(ctx context.Context, a *answer) error {
	n, _ := a.tokens()
	engine := p.caps.Facts[bench.KeyEngine]
	switch {
	case p.bare:
		p.caps.IgnoreEOS = "refused"
	case a.req.Class != bench.OK || n != probeTokens || slices.Contains(ignoring, engine):
		p.caps.IgnoreEOS = "ignored"
	case slices.Contains(obeying, engine):
		p.caps.IgnoreEOS, p.caps.Exact = "obeyed", true
	default:
		return p.compare(ctx, n)
	}
	return nil
}

// compare asks without ignore_eos what gave n tokens with it.
func (p *probe) compare(ctx context.Context, n int) error {
	a := p.ask(ctx, p.caps.LimitField, false)
	switch a.req.Class {
	case bench.OK, bench.Empty:
		m, _ := a.tokens()
		p.caps.IgnoreEOS, p.caps.Exact = "not shown", false
		if m < n {
			p.caps.IgnoreEOS, p.caps.Exact = "obeyed", true
		}
		return nil
	}
	return p.error(ctx, "ask for an answer of any length", a)
}

// again asks once more where a whole answer came at once: a client that was held up for a moment sees the same.
func (p *probe) again(ctx context.Context) error {
	if !p.caps.Buffered {
		return nil
	}
	a := p.ask(ctx, p.caps.LimitField, p.caps.Exact)
	if a.req.Class != bench.OK && a.req.Class != bench.TooShort {
		return p.error(ctx, "ask for a short answer again", a)
	}
	p.caps.Buffered = buffered(a.req)
	return nil
}

// tokens finds whether prompts can be made of tokens.
func (p *probe) tokens(ctx context.Context) error {
	ids, ok, err := p.c.Tokenize(ctx, probeQuestion)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	p.caps.Tokenize = ok && err == nil
	if !p.caps.Tokenize || p.c.options.API != Completions {
		return nil
	}
	a := p.send(ctx, p.caps.LimitField, Call{Prompt: Prompt{Tokens: ids}, MaxTokens: 1})
	extra := a.usage.in - len(ids) // a server may put a beginning-of-text token before them
	p.caps.TokenPrompts = a.req.Status == 200 && a.usage.known && extra >= 0 && extra <= 1
	return nil
}

func (p *probe) warn() {
	say := func(format string, args ...any) {
		p.caps.Warnings = append(p.caps.Warnings, fmt.Sprintf(format, args...))
	}
	if len(p.caps.Models) > 0 && !p.caps.ModelListed {
		say("the server does not list a model %q, but %s: is it the right server?", p.c.options.Model, p.listed())
	}
	switch {
	case p.caps.UsageRefused:
		say("the server refuses stream_options, by which usage is asked for: chunks are counted instead, and one may hold several tokens")
	case !p.caps.Usage:
		say("the server does not count tokens: chunks are counted instead, and one may hold several")
	}
	if p.caps.Buffered {
		say("the whole answer came at once: a proxy buffers the stream, ttft and tpot are its own")
	}
	if p.caps.Reconnects > 0 {
		say("the server closed a kept connection as the next request came: each such request goes out again, and its time includes that")
	}
}

func (p *probe) listed() string {
	names := p.caps.Models
	more := ""
	if len(names) > 5 {
		names, more = names[:5], fmt.Sprintf(" and %d more", len(names)-5)
	}
	return strings.Join(names, ", ") + more
}

// CountPrompt asks how many tokens the server counts in a prompt of this text, template and all.
func (c *Client) CountPrompt(ctx context.Context, text string) (int, error) {
	p := &probe{c: c, start: time.Now()}
	a := p.send(ctx, c.limit, Call{Prompt: Prompt{Text: text}, MaxTokens: 1})
	switch {
	case a.usage.known && a.usage.in > 0:
		return a.usage.in, nil
	case a.req.Class == bench.OK || a.req.Class == bench.Empty:
		return 0, errors.New("count the tokens of a prompt: the server gives no usage, so the length of a prompt cannot be known")
	}
	return 0, p.error(ctx, "count the tokens of a prompt", a)
}
