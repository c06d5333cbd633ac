package campaign

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
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
	if d.connections(ctx, c, caps, s.LastWords) {
		d.beside(ctx, s)
	}
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
		Metrics: d.target.Metrics, Connections: tryAtOnce, Dial: d.Dial,
	}
	if d.Plan != nil {
		o.Temperature, o.ExtraBody = &d.Plan.Config.Sampling.Temperature, d.Plan.Config.Sampling.ExtraBody
	}
	return o
}

// preflight asks until the server has loaded its model. A silent server is waited for as long as run waits before it
// measures: what is slow there is as slow here, and what ends the wait would end a run.
func (d *doctor) preflight(ctx context.Context, c *openai.Client) (openai.Capabilities, error) {
	d.Say(fmt.Sprintf("preflight: a few short answers, with up to %v for the first token, as run does", openai.ProbeLimits().FirstToken))
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
	c.Found += lastWords(e.LastWords)
	if c.Next == "" {
		c.Next = "see the server's log, and target in the config"
	}
	d.add(c)
}

// lastWords are what a server of ours wrote last, to be told behind what is wrong with it.
func lastWords(words string) string {
	if words == "" {
		return ""
	}
	return "; its last words: " + strings.ReplaceAll(words, "\n", "\n  ")
}
