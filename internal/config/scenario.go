package config

import (
	"fmt"
	"math"

	"github.com/goccy/go-yaml/ast"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// Greatest sizes of one request.
const (
	maxTokenCount  = 10_000_000
	maxConcurrency = 65_535
)

// scenarios reads them in the order of the file; n is the mapping under "scenarios".
func (r *reader) scenarios(n ast.Node, all map[string]block[scenario]) []Scenario {
	m, ok := n.(*ast.MappingNode)
	if !ok || len(m.Values) == 0 {
		r.fail(n, "no scenario", "name at least one: what is asked (dataset), how (load), and how long the answers are (output_tokens)")
		return nil
	}
	var out []Scenario
	for _, e := range m.Values {
		key := e.Key.GetToken()
		if !goodName.MatchString(key.Value) {
			r.failKey(key, "scenarios", quote(key.Value)+" is no name", nameHint)
		}
		if key.Value == "verdict" {
			r.failKey(key, "scenarios", quote(key.Value)+" is the name of the verdict's file", "name what is asked of the server, such as chat")
		}
		s := r.scenario(all[key.Value])
		s.Name = key.Value
		s.At = gate.Place{File: r.place, Line: key.Position.Line}
		out = append(out, s)
	}
	return out
}

func (r *reader) scenario(b block[scenario]) Scenario {
	s := b.v
	r.need(b.node, s.Dataset.given(), "dataset", "say what is asked: dataset: {kind: random, input_tokens: 512}")
	r.need(b.node, s.OutputTokens.given(), "output_tokens", "say how long an answer is: output_tokens: 128")
	r.need(b.node, s.Load.given(), "load", "say how it is asked: load: {rate: 8, requests: 160}, or load: {concurrency: 64, requests: 256}")
	out := Scenario{OutputTokens: r.count(s.OutputTokens, 0, 1, maxTokenCount), SLO: r.slo(s.SLO)}
	if s.Dataset.given() {
		out.Dataset = r.dataset(s.Dataset)
	}
	if s.Load.given() {
		out.Load = r.load(s.Load)
	}
	if d := out.Dataset; out.Load.Requests > 0 && d.Groups >= out.Load.Requests {
		r.fail(s.Dataset.v.Groups.node, fmt.Sprintf("%d groups, and a run has %d requests: hardly two would share a prefix", d.Groups, out.Load.Requests),
			"write fewer groups, such as a tenth of load.requests")
	}
	return out
}

func (r *reader) need(at ast.Node, there bool, key, hint string) {
	if !there {
		r.fail(at, key+" is missing", hint)
	}
}

// odd refuses a key that has no meaning beside another.
func (r *reader) odd(s scalar, why, hint string) {
	if s.given() {
		r.fail(s.node, why, hint)
	}
}

func (r *reader) load(b block[load]) Load {
	l := b.v
	r.need(b.node, l.Requests.given(), "requests", "say how many requests a run has: requests: 160")
	out := Load{
		Requests: r.count(l.Requests, 0, 1, maxRequests), Seed: uint32(r.count(l.Seed, 42, 0, math.MaxUint32)),
		ReusePrompts: r.flag(l.ReusePrompts, false), Burstiness: 1,
	}
	r.minDuration(l.MinDuration, &out)
	switch {
	case l.Rate.given() && l.Concurrency.given():
		r.fail(l.Concurrency.node, "rate and concurrency exclude each other", "keep rate for latency at a given load, or concurrency for throughput; a ceiling beside a rate is max_concurrency")
	case l.Rate.given():
		out.Rate = r.rate(l.Rate)
		out.Burstiness = r.burstiness(l.Burstiness)
		out.MaxConcurrency = r.count(l.MaxConcurrency, 0, 1, maxConcurrency)
		r.lengthen(l.MinDuration, &out)
	case l.Concurrency.given():
		out.Concurrency = r.count(l.Concurrency, 1, 1, maxConcurrency)
		r.odd(l.Burstiness.scalar, "burstiness shapes the arrivals of a rate; a concurrency has none", "delete it, or write rate")
		r.odd(l.MaxConcurrency.scalar, "max_concurrency is a ceiling beside a rate; concurrency is one by itself", "delete it, or write rate")
		if 0 < out.Requests && out.Requests < out.Concurrency {
			r.fail(l.Requests.node, fmt.Sprintf("%d requests never keep %d in flight", out.Requests, out.Concurrency), fmt.Sprintf("write %d or more", 4*out.Concurrency))
		}
	default:
		r.fail(b.node, "neither rate nor concurrency", "write rate: 8 for latency at a given load, or concurrency: 64 for throughput")
	}
	return out
}

// longestRun bounds min_duration, in seconds: beyond it is a slip of the finger.
const longestRun = 24 * 3600

func (r *reader) minDuration(d duration, out *Load) {
	if out.MinDuration = r.seconds(d, 0); out.MinDuration > longestRun {
		r.fail(d.node, quote(d.written())+" is too long for one run", "write 24h or less; more runs tell more than longer ones")
		out.MinDuration = 0
	}
}

// lengthen turns the time of an open loop into the number of requests that its schedule has by then.
func (r *reader) lengthen(d duration, out *Load) {
	const hair = 1e-9 // 0.1 × 30 is a hair above 3
	n := math.Ceil(out.Rate*out.MinDuration - hair)
	if n > maxRequests {
		r.fail(d.node, fmt.Sprintf("%g requests a second for %s are more than %d requests", out.Rate, d.written(), maxRequests), "write a shorter time, or a smaller rate")
		n = 0
	}
	out.Requests, out.MinDuration = max(out.Requests, int(n)), 0
}

func (r *reader) rate(n number) float64 {
	if isInfinite(n.written()) {
		r.fail(n.node, "an infinite rate sends everything at t = 0: the numbers would measure the queue", "write concurrency: 64 to keep so many in flight, or a finite rate")
		return 1
	}
	return r.positive(n, 1)
}

func (r *reader) burstiness(s shape) float64 {
	if w := s.written(); w == "inf" || w == ".inf" {
		return math.Inf(1)
	}
	return r.positive(number(s), 1)
}

func (r *reader) slo(b block[slo]) bench.SLO {
	if !b.given() {
		return bench.SLO{}
	}
	out := bench.SLO{TTFT: r.limitOf(b.v.TTFT), TPOT: r.limitOf(b.v.TPOT), E2EL: r.limitOf(b.v.E2EL)}
	if out.IsZero() {
		r.fail(b.node, "no limit", "write at least one: slo: {ttft: 500ms, tpot: 30ms}")
	}
	return out
}

func (r *reader) limitOf(d duration) *float64 {
	if !d.given() {
		return nil
	}
	v := r.seconds(d, 1)
	return &v
}
