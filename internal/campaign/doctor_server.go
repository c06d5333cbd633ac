package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/server"
)

// Bounds of a look at a server that is there already. One with a command has as long for its start as the config gives it.
const (
	lookReady  = 10 * time.Second // for its ready path
	lookLoad   = 30 * time.Second // for its model to be loaded
	lookTrial  = 30 * time.Second // for all answers of the trial; what is not done by then is slow, not wrong
	lookIdle   = 4 * time.Second  // that a connection lies idle: as long as this program keeps one
	tryAnswers = 8
	tryAtOnce  = 4
	tryTokens  = 16
)

// lookLimits bound one answer while a doctor looks.
var lookLimits = openai.Timeouts{FirstToken: 20 * time.Second, Idle: 10 * time.Second, Total: 40 * time.Second}

// server starts or reaches the server and looks at how it answers.
func (d *doctor) server(ctx context.Context) {
	if d.name != "" {
		d.Say("looking at the server of the " + d.name)
	}
	s, err := d.reach(ctx)
	if err != nil {
		d.broken("start", err, "nothing can be measured")
		return
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.target.StopIn+30*time.Second)
		defer cancel()
		if err := s.Stop(stop); err != nil {
			d.broken("stop", err, "a server that outlives its visit is in the numbers of the next one")
		}
	}()
	c, err := openai.New(d.clientOptions(s.BaseURL()))
	if err != nil {
		d.broken("target", err, "nothing can be measured")
		return
	}
	defer c.Close()
	caps, err := d.preflight(ctx, c)
	if err != nil {
		d.broken("preflight", err, "nothing is started against a server that cannot answer as it is asked")
		return
	}
	c.Apply(caps)
	d.found.Simulated = d.found.Simulated || strings.Contains(d.target.Model, simulatedMark)
	d.identity(caps)
	d.manners(caps)
	d.answers(ctx, c, caps, counting{look: s.Counters})
	d.connections(ctx, c, caps)
	d.beside(ctx, s)
}

// reach starts the server, or awaits the ready path of one that is there.
func (d *doctor) reach(ctx context.Context) (*server.Server, error) {
	o := server.Options{Target: *d.target, Folder: d.Folder, Log: d.log, APIKey: d.apiKey, Progress: d.Say, Dial: d.Dial}
	if len(d.target.Command) == 0 {
		o.Target.ReadyIn = min(o.Target.ReadyIn, lookReady)
		if o.Target.ReadyIn <= 0 {
			o.Target.ReadyIn = lookReady
		}
		o.FirstToken = func(context.Context, string) error { return nil } // preflight asks, and says more
	}
	return server.Start(ctx, o)
}

func (d *doctor) clientOptions(base string) openai.Options {
	o := openai.Options{
		BaseURL: base, Model: d.target.Model, API: d.target.API, APIKey: d.apiKey, LimitField: d.target.LimitField,
		Metrics: d.target.Metrics, Timeouts: lookLimits, Connections: tryAtOnce, Dial: d.Dial,
	}
	if d.Plan != nil {
		o.Temperature, o.ExtraBody = &d.Plan.Config.Sampling.Temperature, d.Plan.Config.Sampling.ExtraBody
	}
	return o
}

// preflight asks until the server has loaded its model.
func (d *doctor) preflight(ctx context.Context, c *openai.Client) (openai.Capabilities, error) {
	for begun := time.Now(); ; {
		caps, err := c.Preflight(ctx)
		var e *openai.Error
		if !errors.As(err, &e) || e.Class != bench.Overloaded || time.Since(begun) > lookLoad {
			return caps, err
		}
		d.Say("waiting for the server to be ready: " + e.Said)
		if err := rest(ctx, time.Second); err != nil {
			return caps, err
		}
	}
}

// broken notes what stops the look at the server.
func (d *doctor) broken(name string, err error, why string) {
	c := Check{Section: "server", Name: name, State: Fail, Found: err.Error(), Why: why}
	e := serverError("", err)
	c.Next = e.Hint
	var probe *openai.Error
	if errors.As(err, &probe) {
		c.Class = string(probe.Class)
	}
	if e.LastWords != "" {
		c.Found += "; its last words: " + strings.ReplaceAll(e.LastWords, "\n", "\n  ")
	}
	if c.Next == "" {
		c.Next = "see the server's log, and target in the config"
	}
	d.add(c)
}

// identity says who answered, and where.
func (d *doctor) identity(caps openai.Capabilities) {
	c := Check{Section: "server", Name: "identity", State: Good, Found: caps.Server()}
	for _, k := range []string{"quantisation", "slots", "context"} {
		if v := caps.Facts[k]; v != "" {
			c.Found += fmt.Sprintf(", %s %s", k, v)
		}
	}
	if caps.Facts[bench.KeyVersion] == "" {
		c.State, c.Why = Warn, "a report cannot say which version was measured"
		c.Next = "note the version in the commit, or in the name of the model"
	}
	d.add(c)
	if len(caps.Models) > 0 && !caps.ModelListed {
		d.add(Check{
			Section: "server", Name: "model", State: Warn, Found: fmt.Sprintf("%q answers, and is not among the models that the server lists: %s", d.target.Model, strings.Join(caps.Models, ", ")),
			Why: "it may be another server, or another model, than you mean", Next: "set target.model to a name that the server lists",
		})
	} else {
		d.good("server", "model", "%s", d.target.Model)
	}
	if host.Local(caps.Address) {
		d.good("server", "host", "%s, this machine: client and server share its cores", caps.Address)
	} else {
		d.good("server", "host", "%s, another machine: the network between is in the numbers", caps.Address)
	}
}

// manners says what preflight found.
func (d *doctor) manners(caps openai.Capabilities) {
	length := Check{Section: "server", Name: "length", State: Good, Found: caps.Length()}
	if !caps.Exact {
		length.State = Warn
		length.Why = "each answer is another workload: ttft and tpot are judged, e2el, output.rate and goodput only while mean lengths agree within 2 %"
		length.Next = "nothing, if ttft and tpot are what you gate; else a server that obeys ignore_eos"
	}
	d.add(length)
	counts := Check{Section: "server", Name: "token counts", State: Good, Found: "by the server's usage"}
	if !caps.Usage {
		counts.State, counts.Found = Warn, "by chunks: the server's usage gives no count"
		if caps.UsageRefused {
			counts.Found = "by chunks: the server refuses stream_options, by which usage is asked for"
		}
		counts.Why = "a chunk may hold several tokens, so tpot and output.rate may be off by that, and are compared with their like alone"
		counts.Next = "let the server send usage in its streams (stream_options.include_usage)"
	}
	d.add(counts)
	stream := Check{Section: "server", Name: "stream", State: Good, Found: "token by token"}
	if caps.Buffered {
		stream.State, stream.Found = Warn, "buffered: a whole answer comes at once"
		stream.Why = "ttft and tpot would be those of whatever holds the stream back, and the gate refuses them"
		stream.Next = "switch off buffering in the proxy before the server (nginx: proxy_buffering off), or measure the server itself"
	}
	d.add(stream)
	reasoning := "none came"
	if caps.Reasoning != "" {
		reasoning = "in " + caps.Reasoning + ": its tokens count for ttft, and ttfot is the first of the answer"
	}
	d.good("server", "reasoning", "%s", reasoning)
	cached := Check{Section: "server", Name: "cached tokens", State: Good, Found: "told"}
	if !caps.CachedTokens {
		cached.Found = "not told: that prompts met no cache rests on their being new to the server"
	}
	d.add(cached)
	d.good("server", "tokenizer", "%s", map[bool]string{true: "/tokenize answers", false: "no /tokenize: the length of prompts comes from usage"}[caps.Tokenize])
}

// answers tries a few short answers, some at a time.
func (d *doctor) answers(ctx context.Context, c *openai.Client, caps openai.Capabilities, counts counting) {
	d.Say(fmt.Sprintf("trial: %d short answers, %d at a time", tryAnswers, tryAtOnce))
	before, _ := counts.begin(ctx) // the look at the paths says what is wrong with them
	limited, cancel := context.WithTimeout(ctx, lookTrial)
	defer cancel()
	begun := time.Now()
	since := func() float64 { return time.Since(begun).Seconds() }
	answers := make([]bench.Request, tryAnswers)
	var all sync.WaitGroup
	for first := range tryAtOnce {
		all.Go(func() {
			for i := first; i < tryAnswers; i += tryAtOnce {
				answers[i] = c.Do(limited, openai.Call{
					Index: i, Prompt: openai.Prompt{Text: fmt.Sprintf("#%08x Write a few words about the sea.", uint32(begun.UnixMicro())+uint32(i))}, MaxTokens: tryTokens, Exact: caps.Exact,
				}, since)
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return
	}
	d.add(d.tried(answers))
	if run := bench.Condense(answers, lookTrial.Seconds(), bench.SLO{}); run.OK == run.Sent {
		counted, _ := counts.since(ctx, before, holds(run))
		d.add(ownAccount(accountOf(answers, counted)))
	}
}

// tried judges the trial. The middle of its times is what the client's error is held against.
func (d *doctor) tried(answers []bench.Request) Check {
	run := bench.Condense(answers, lookTrial.Seconds(), bench.SLO{})
	ttft, e2el := run.Metrics["ttft.p50"], run.Metrics["e2el.p50"]
	d.ttft, d.e2el = faster(d.ttft, ttft), faster(d.e2el, e2el)
	c := Check{Section: "server", Name: "trial", State: Good, Figures: map[string]float64{"sent": float64(len(answers)), "ok": float64(run.OK)}}
	c.Found = fmt.Sprintf("%d of %d short answers came, %d at a time", run.OK, len(answers), tryAtOnce)
	if ttft > 0 {
		c.Found += "; TTFT p50 " + brief(ttft)
		c.Figures["ttft_p50"] = ttft
	}
	mind := func(state, why, next, format string, args ...any) {
		c.State, c.Why, c.Next = state, why, next
		c.Found += "; " + fmt.Sprintf(format, args...)
	}
	if n := run.Client.Reconnects; n > 0 && run.OK == len(answers) {
		mind(Warn, "the time that this takes is in their ttft", "let the server, or the proxy before it, keep connections between requests",
			"%d met a kept connection that the server had closed, and went out again", n)
	}
	if share := run.CachedTokens; share != nil && *share > cacheShare {
		mind(Warn, "prompts that a cache serves make ttft look better than it is: such runs are invalid", "switch the server's prompt cache off, or name its reset in target.reset",
			"%s of the prompt tokens came from a cache although all prompts were new", portion(*share))
	}
	slow := func(a bench.Request) bool { return a.Class == bench.Canceled }
	if n := count(answers, slow); n > 0 {
		mind(Warn, "a run takes long on such a server, and fewer runs see less", "look at the minutes of run --plan; ask for fewer requests or tokens, or for less at a time",
			"%d were not done within %s", n, lookTrial)
	}
	wrong := func(a bench.Request) bool { return a.Class != bench.OK && !slow(a) }
	if i := slices.IndexFunc(answers, wrong); i >= 0 {
		c.Class = string(answers[i].Class)
		mind(Fail, "failed answers are in every figure, and a run with many of them is broken off (campaign.abort)", "the server's log says why",
			"the first that failed: %s (%s)", answers[i].Error, c.Class)
	}
	return c
}

// faster is the smaller of two times of which either may be unknown.
func faster(a, b float64) float64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

func count(answers []bench.Request, is func(bench.Request) bool) (n int) {
	for _, a := range answers {
		if is(a) {
			n++
		}
	}
	return n
}

// connections looks at what the server does with a connection after an answer.
func (d *doctor) connections(ctx context.Context, c *openai.Client, caps openai.Capabilities) {
	check := Check{Section: "server", Name: "connections", State: Good, Found: caps.KeepAlive}
	d.Say(fmt.Sprintf("watching an idle connection for %s", lookIdle))
	after, closed, err := c.Idle(ctx, lookIdle)
	switch {
	case err != nil:
		check.Found += "; an idle one could not be watched: " + err.Error()
	case closed && after < 100*time.Millisecond:
		check.State, check.Found = Warn, "closed after each answer"
		check.Why, check.Next = "each request opens one, and that time is in its ttft", "let the server, or the proxy before it, keep connections (HTTP/1.1 keep-alive)"
	case closed:
		check.State, check.Found = Warn, fmt.Sprintf("an idle one is closed after %s", brief(after.Seconds()))
		check.Why = fmt.Sprintf("this program keeps one for %s: a request may meet it closing, and goes out again on another", lookIdle)
		check.Next = "nothing; reconnects are counted in every run. A longer keep-alive of the server avoids them"
	default:
		check.Found += fmt.Sprintf("; an idle one is still open after %s", lookIdle)
	}
	d.add(check)
}

// beside looks at the paths beside the API that the config names.
func (d *doctor) beside(ctx context.Context, s *server.Server) {
	if path := d.target.Metrics; path != "" {
		switch _, known, err := s.Counters(ctx); {
		case err != nil:
			d.add(Check{
				Section: "server", Name: "metrics", State: Warn, Found: err.Error(), Why: "the server's own counters cannot be read",
				Next: "set target.metrics to their path, or to off",
			})
		case known:
			d.good("server", "metrics", "%s answers with counters that this program knows", path)
		default:
			d.good("server", "metrics", "%s has no counters that this program knows", path)
		}
	}
	if d.target.ResetPath == "" {
		return
	}
	if err := s.Reset(ctx); err != nil {
		d.broken("reset", err, "run resets the server before every run, and stops when that fails")
		return
	}
	d.good("server", "reset", "POST %s works", d.target.ResetPath)
}
