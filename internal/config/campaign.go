package config

import (
	"fmt"
	"math"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/benchgate/benchgate/internal/bench"
)

// Greatest sizes of a campaign: beyond them is a slip of the finger, not a benchmark.
const (
	maxRequests = 1_000_000
	maxRuns     = 1000
)

func (r *reader) campaign(b block[campaign], reference bool) Campaign {
	c := b.v
	out := Campaign{
		Runs: r.count(c.Runs, 5, 1, maxRuns), Looks: r.looks(c.Looks, entry(b.node, "looks")), VisitRuns: r.count(c.VisitRuns, 1, 1, maxRuns),
		WarmUp: r.count(c.WarmUp.v.Requests, 16, 0, maxRequests), CoolDown: r.pause(c.CoolDown, 5*time.Second),
		Budget:      r.duration(c.Budget, 0),
		AbortErrors: r.percent(c.Abort.v.Errors, 0.05, bounds{greatest: 1, above: true}),
		AbortInRow:  r.count(c.Abort.v.Consecutive, 10, 1, maxRequests),
		Client:      r.client(c.Client.v),
	}
	fallback := "committed"
	if reference {
		fallback = "confirm"
	}
	out.Design = r.word(c.Design, fallback, "committed", "interleaved", "confirm")
	if out.Design != "committed" && !reference {
		r.fail(c.Design.node, out.Design+" compares with a second build, and there is no reference", "say where it is, such as reference: {dir: base}; or design: committed, which compares with a baseline file")
	}
	return out
}

func (r *reader) client(c client) Client {
	d := DefaultClient()
	share := bounds{greatest: 1, above: true}
	return Client{
		Lateness: r.seconds(c.Lateness, d.Lateness), LatenessShare: r.percent(c.LatenessShare, d.LatenessShare, share),
		Timer: r.ceiling(c.Timer, d.Timer), Sched: r.ceiling(c.Sched, d.Sched), GCPause: r.ceiling(c.GCPause, d.GCPause),
		CPU: r.portion(c.CPU, d.CPU), HostCPU: r.portion(c.HostCPU, d.HostCPU), Throttled: r.portion(c.Throttled, d.Throttled),
	}
}

// ceiling and portion read a limit that may be off, which is 0.
func (r *reader) ceiling(c ceiling, fallback float64) float64 {
	if c.given() && c.written() == "off" {
		return 0
	}
	return r.seconds(duration(c), fallback)
}

func (r *reader) portion(p portion, fallback float64) float64 {
	if p.given() && p.written() == "off" {
		return 0
	}
	return r.percent(percent(p), fallback, bounds{greatest: 1, above: true})
}

func (r *reader) looks(list []count, at ast.Node) []int {
	if list == nil {
		return []int{6, 8, 10}
	}
	if len(list) == 0 {
		r.fail(at, "no look: nothing could ever be decided", "write even numbers that go up, such as [6, 8, 10]; or delete the line")
	}
	if len(list) > bench.MostLooks {
		r.fail(at, fmt.Sprintf("%d looks, and %d is the most", len(list), bench.MostLooks), "three are enough, such as [6, 8, 10]")
	}
	var out []int
	for _, c := range list {
		v := r.count(c, 2, 2, bench.MostVisits)
		switch {
		case v%2 != 0:
			r.fail(c.node, fmt.Sprintf("%d is odd", v), "the two builds change places in pairs of visits: write even numbers, such as [6, 8, 10]")
		case len(out) > 0 && v <= out[len(out)-1]:
			r.fail(c.node, fmt.Sprintf("%d comes after %d", v, out[len(out)-1]), "looks go up, such as [6, 8, 10]")
		}
		out = append(out, v)
	}
	return out
}

func (r *reader) sampling(b block[sampling]) Sampling {
	return Sampling{Temperature: r.atLeast(b.v.Temperature, 0, 0), ExtraBody: r.extraBody(b.v.ExtraBody)}
}

// ours are fields of a request that benchgate itself decides, with the key that does.
var ours = map[string]string{
	"model": "target.model says which model", "messages": "the scenario's dataset makes the prompts",
	"prompt": "the scenario's dataset makes the prompts", "stream": "every answer is streamed, or nothing could be timed",
	"stream_options": "the token count is always asked for", "max_tokens": "output_tokens says how long an answer is",
	"max_completion_tokens": "output_tokens says how long an answer is", "temperature": "sampling.temperature says that",
	"n": "one request is one answer",
}

func (r *reader) extraBody(b body) map[string]any {
	m, ok := b.node.(*ast.MappingNode)
	if !ok {
		return nil
	}
	out := map[string]any{}
	for _, e := range m.Values {
		name := e.Key.GetToken().Value
		switch why, taken := ours[name]; {
		case taken:
			r.failKey(e.Key.GetToken(), "sampling.extra_body", name+" is not for extra_body to change", why)
		case secretKey(name):
			r.failKey(e.Key.GetToken(), "sampling.extra_body", "a key or password is never written in a file", "put it into an environment variable and name that: target.api_key_env")
		default:
			out[name] = r.plain(e.Value)
		}
	}
	return out
}

// plain turns a value of the file into what encoding/json understands.
func (r *reader) plain(n ast.Node) any {
	switch v := n.(type) {
	case *ast.MappingNode:
		out := map[string]any{}
		r.each(v, func(name string, _ *token.Token, e ast.Node) { out[name] = r.plain(e) })
		return out
	case *ast.SequenceNode:
		out := make([]any, 0, len(v.Values))
		for _, e := range v.Values {
			out = append(out, r.plain(e))
		}
		return out
	case *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return v.Value
	case *ast.InfinityNode, *ast.NanNode:
		r.fail(n, "JSON has no such number", "write a finite number")
		return nil
	}
	s := scalar{n}
	if !s.quoted() {
		if i, f := s.parseCount(); f == nil {
			return i
		}
		if x, f := s.parseNumber(); f == nil && !math.IsInf(x, 0) {
			return x
		}
	}
	return s.written()
}
