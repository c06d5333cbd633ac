package campaign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/load"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/server"
)

// visit is what happens between one start of a server and its stop.
type visit struct {
	part
	p       *protocol
	o       Options
	j       *journal
	target  config.Target
	apiKey  string
	again   bool // an earlier start was for this visit too
	order   int  // of the latest run
	files   int  // that may be open; 0 unknown
	server  *server.Server
	client  *openai.Client
	caps    openai.Capabilities
	counts  counting
	logName string
}

func newVisit(p *protocol, of part) *visit {
	v := &visit{part: of, p: p, o: p.o, j: p.j, order: p.j.lastOrder(), target: p.plan.Config.Target, apiKey: p.o.APIKey}
	v.logName = fmt.Sprintf("server-%d.log", v.number)
	if v.side == reference {
		v.target, v.apiKey = *p.plan.Config.Reference, p.o.ReferenceKey
		v.logName = fmt.Sprintf("server-%d-reference.log", v.number)
	}
	for _, known := range p.j.log.Visits {
		v.again = v.again || known.Number == v.number
	}
	return v
}

// run starts the server, measures what is missing and stops the server again.
func (v *visit) run(ctx context.Context) (err error) {
	files, err := host.RaiseFileLimit()
	if err != nil {
		v.o.say("warning: raise the limit of open files: %v", err)
	}
	v.files = int(min(files, math.MaxInt32))
	if err := v.start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.stop()) }()
	if err := v.connect(); err != nil {
		return err
	}
	defer v.client.Close()
	if err := v.prepare(ctx); err != nil {
		return v.explain(err)
	}
	return v.explain(v.measure(ctx))
}

func (v *visit) start(ctx context.Context) error {
	s, err := server.Start(ctx, server.Options{
		Target: v.target, Folder: v.p.plan.folder, Log: filepath.Join(v.o.State, v.o.Key, v.logName),
		Progress: func(msg string) { v.o.say("%s", msg) },
		APIKey:   v.apiKey,
		Dial:     v.o.Dial,
	})
	if err != nil {
		return serverError("start "+v.who(), err)
	}
	v.server = s
	v.counts = counting{look: s.Counters}
	return nil
}

func (v *visit) connect() (err error) {
	v.client, err = openai.New(v.clientOptions(v.server.BaseURL(), v.connections()))
	if err != nil {
		return fmt.Errorf("connect to %q: %w", v.server.BaseURL(), err)
	}
	return nil
}

// stop ends the server even when the campaign's context is over.
func (v *visit) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), v.target.StopIn+30*time.Second)
	defer cancel()
	if err := v.server.Stop(ctx); err != nil {
		v.p.unstopped = serverError("stop "+v.who(), err)
		return v.p.unstopped
	}
	return nil
}

func (v *visit) connections() int {
	n := 1
	for _, s := range v.scenarios {
		n = max(n, connections(s))
	}
	return n
}

func (v *visit) clientOptions(baseURL string, connections int) openai.Options {
	c := v.p.plan.Config
	return openai.Options{
		BaseURL: baseURL, Model: v.target.Model, API: v.target.API, APIKey: v.apiKey, LimitField: v.target.LimitField,
		Temperature: &c.Sampling.Temperature, ExtraBody: c.Sampling.ExtraBody,
		Metrics: v.target.Metrics, Connections: connections, KeepText: v.o.KeepText, Dial: v.o.Dial,
	}
}

// prepare asks the server what it can do, fixes the workloads, and writes the header of a new campaign.
func (v *visit) prepare(ctx context.Context) error {
	caps, err := v.client.Preflight(ctx)
	if err != nil {
		return serverError("preflight of "+v.who(), err)
	}
	began := v.j.log.Header.Schema != ""
	for _, line := range caps.Summary() {
		switch {
		case v.slot == 0:
			v.o.say("preflight: %s", line)
		case v.first(): // of twenty visits, twenty times the same
			v.o.say("preflight of the %s: %s", v.side, line)
		}
	}
	v.client.Apply(caps)
	v.caps = caps
	texts := v.j.log.Header.Texts
	if texts == nil {
		texts = map[string]bench.Calibration{}
	}
	for _, s := range v.p.plan.Scenarios {
		if err := v.workload(ctx, s, texts); err != nil {
			return err
		}
	}
	if err := v.known(); err != nil {
		return err
	}
	if err := v.header(texts); err != nil {
		return err
	}
	return v.record(began)
}

// first reports whether no visit of this side is on record yet.
func (v *visit) first() bool {
	return !slices.ContainsFunc(v.j.log.Visits, func(known bench.VisitRecord) bool { return known.Side == v.side })
}

// record writes that the visit has begun, and what is to be minded about its server.
func (v *visit) record(began bool) error {
	first := v.first()
	err := v.write(bench.Record{Visit: &bench.VisitRecord{
		Number: v.number, Side: v.side, Started: v.o.Now().UTC(), Log: v.logName, Stage: v.stage,
		MustMatch: v.mustMatch(), UnderTest: v.underTest(),
	}})
	if !began {
		for _, note := range v.p.plan.Notes {
			err = errors.Join(err, v.p.warn("plan", note))
		}
	}
	if v.slot > 0 && !first {
		return err
	}
	for _, w := range v.caps.Warnings {
		if v.slot > 0 {
			w = v.side + ": " + w
		}
		err = errors.Join(err, v.p.warn("preflight", w))
	}
	return err
}

// workload makes the prompts of a scenario: how long words become is learnt once, and both sides send the same text.
func (v *visit) workload(ctx context.Context, s config.Scenario, texts map[string]bench.Calibration) error {
	if _, ok := v.p.workloads[s.Name]; ok {
		return nil
	}
	text, ok := texts[s.Name]
	if !ok {
		text, ok = v.o.Texts[s.Name]
	}
	if !ok && load.Calibrated(s.Dataset) {
		var err error
		ids := load.MadeUp(s.Dataset) && v.caps.TokenPrompts && !v.simulated()
		if text, err = load.Calibrate(ctx, v.client, ids); err != nil {
			return serverError("measure how long prompts become", err)
		}
	}
	texts[s.Name] = text
	w, err := load.Prompts(s, v.p.plan.folder, text, v.target.API)
	if err != nil {
		return fmt.Errorf("scenario %q: %w", s.Name, err)
	}
	v.p.workloads[s.Name] = w
	return nil
}

// explain adds the server's last words when it died under the campaign.
func (v *visit) explain(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-v.server.Died():
		return &ServerError{
			Doing: v.who() + " died", Err: err, LastWords: v.server.LastWords(),
			Hint: "everything measured so far is on disk; " + v.afterwards(),
		}
	default:
		return err
	}
}

// simulated reports whether the server only plays one. It tells runs apart by the salt, which token ids would hide.
func (v *visit) simulated() bool {
	return strings.Contains(v.target.Model, simulatedMark)
}

// afterwards says what to do about a server that misbehaved: in a judged run that stays on record, before one it does not.
func (v *visit) afterwards() string {
	if v.p.misbehaved(func(bench.VisitRecord) bool { return true }) != nil {
		return hintRecord
	}
	return "mend " + v.who() + " and run the same command again: it measures what is missing"
}

func (v *visit) write(r bench.Record) error { return v.j.write(r) }

// serverError carries what the packages below know of a failure: a hint, and the last words of a server of ours.
func serverError(doing string, err error) *ServerError {
	e := &ServerError{Doing: doing, Err: err}
	var probe *openai.Error
	if errors.As(err, &probe) {
		e.Hint = probe.Hint
	}
	var ours *server.Error
	if errors.As(err, &ours) {
		e.LastWords, e.Hint = ours.LastWords(), ours.Hint()
	}
	return e
}
