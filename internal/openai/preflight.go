package openai

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// probeTokens is how many tokens a probe asks for: more than the answer to its question needs.
const probeTokens = 16

// probeQuestion has a short answer, so that a server which stops by itself does so before the limit.
const probeQuestion = "Answer with one word, yes or no: is the sea wet?"

// Preflight asks the server who it is, and for up to five short answers, to learn what it obeys. It changes nothing: see Apply.
// An error is an *Error unless the context is over.
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
	if err := p.tokens(ctx); err != nil {
		return Capabilities{}, err
	}
	p.warn()
	p.caps.Address = c.Address()
	return p.caps, nil
}

// Apply makes the client use what Preflight found. It must not run beside Do.
func (c *Client) Apply(caps Capabilities) {
	if caps.LimitField != "" {
		c.limit = caps.LimitField
	}
}

// FirstToken asks for one short answer and reports why not one token of it came.
func (c *Client) FirstToken(ctx context.Context) error {
	p := &probe{c: c, start: time.Now()}
	a := p.ask(ctx, c.limit, false)
	if a.req.FirstToken > 0 && a.failed == nil || a.req.Class == bench.OK || a.req.Class == bench.TooLong {
		return nil
	}
	return p.error(ctx, "ask for a first token", a)
}

// probe is a preflight under way.
type probe struct {
	c     *Client
	start time.Time
	caps  Capabilities
	bare  bool // the server refuses ignore_eos and min_tokens
	mute  bool // a question about the server itself was not answered at all: no more are asked
}

func (p *probe) since() float64 { return time.Since(p.start).Seconds() }

// ask asks the question under a limit field.
func (p *probe) ask(ctx context.Context, field string, exact bool) *answer {
	return p.send(ctx, field, Call{Prompt: Prompt{Text: probeQuestion}, MaxTokens: probeTokens, Exact: exact})
}

func (p *probe) send(ctx context.Context, field string, call Call) *answer {
	p.caps.Requests++
	return p.c.with(field).exchange(ctx, call, p.since)
}

// with is the client under another limit field; it shares the connections.
func (c *Client) with(field string) *Client {
	return &Client{options: c.options, base: c.base, limit: field, fixed: c.fixed, wire: c.wire, redact: c.redact, buffers: c.buffers}
}

// limit finds the limit field that the server obeys and returns the answer under it.
func (p *probe) limit(ctx context.Context) (*answer, error) {
	fields := []string{MaxTokens, MaxCompletionTokens}
	switch {
	case p.c.options.LimitField != Auto:
		fields = []string{p.c.options.LimitField}
	case p.c.options.API == Completions:
		fields = fields[:1] // the endpoint never knew another
	}
	var first *answer
	for _, field := range fields {
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
		return nil, &Error{
			"ask for a short answer", bench.TooLong, first.req.Error,
			"the server obeys none of " + strings.Join(fields, ", ") + ": set target.limit_field, or measure another server; answers without bound are another workload each time",
		}
	}
	return nil, p.error(ctx, "ask for a short answer", first)
}

// asked asks for an exact length, and without it when the server refuses that.
func (p *probe) asked(ctx context.Context, field string) *answer {
	if !p.bare {
		a := p.ask(ctx, field, true)
		if a.req.Class != bench.HTTP4xx || a.req.Status == 404 || a.req.Status == 401 || a.req.Status == 403 {
			return a
		}
	}
	a := p.ask(ctx, field, false)
	p.bare = p.bare || a.req.Class != bench.HTTP4xx
	return a
}

// note takes down what an answer shows.
func (p *probe) note(a *answer) {
	p.caps.Usage = a.usage.known && a.usage.out > 0
	p.caps.CachedTokens = a.usage.cached >= 0 && a.usage.known
	p.caps.Reasoning = a.reasoning
	p.caps.TTFT = max(0, a.req.FirstToken-a.req.Sent)
	p.caps.Buffered = buffered(a.req)
}

// buffered reports whether tokens that took a while came together. No model writes 5,000 tokens a second in one answer, and
// an answer that took no time at all says nothing.
func buffered(r bench.Request) bool {
	return r.Chunks >= 4 && r.FirstToken-r.Sent >= 0.02 && r.LastToken-r.FirstToken < 0.0002*float64(r.Chunks-1)
}

// obeying are engines known to write on until min_tokens, whatever the model wants.
var obeying = []string{"vllm", "sglang", "llama.cpp", "tensorrt_llm", "benchgate-sim"}

// exact finds whether the server goes on after the model would have stopped. It does when the same question got a shorter
// answer without ignore_eos. When both answers fill the limit the question says nothing, and the engine's name decides.
func (p *probe) exact(ctx context.Context, a *answer) error {
	n, _ := a.tokens()
	if p.bare || a.req.Class != bench.OK || n != probeTokens {
		return nil
	}
	if slices.Contains(obeying, p.caps.Facts[bench.KeyEngine]) {
		p.caps.Exact = true
		return nil
	}
	b := p.ask(ctx, p.caps.LimitField, false)
	switch b.req.Class {
	case bench.OK, bench.Empty:
		m, _ := b.tokens()
		p.caps.Exact = m < n
		return nil
	}
	return p.error(ctx, "ask for an answer of any length", b)
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
	if !p.caps.Usage {
		say("the server does not count tokens: chunks are counted instead, and one may hold several")
	}
	if p.caps.Buffered {
		say("the whole answer came at once: a proxy buffers the stream, ttft and tpot are its own")
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
