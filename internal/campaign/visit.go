package campaign

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/load"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/server"
)

// visit is what happens between one start of the server and its stop.
type visit struct {
	o         Options
	j         *journal
	number    int
	order     int // of the latest run
	server    *server.Server
	client    *openai.Client
	caps      openai.Capabilities
	workloads map[string]load.Workload
	selfTests map[string]float64
	logName   string
}

func newVisit(j *journal, o Options) *visit {
	n := len(j.log.Visits) + 1
	if began := j.log.Header.Campaign; began != "" {
		o.ID = began
	}
	return &visit{
		o: o, j: j, number: n, order: j.lastOrder(),
		workloads: map[string]load.Workload{}, selfTests: map[string]float64{},
		logName: fmt.Sprintf("server-%d.log", n),
	}
}

// errBudget is the cause when campaign.budget is over.
var errBudget = errors.New("campaign.budget is over")

// within runs the visit as long as the budget lasts. Waiting for the device does not count.
func (v *visit) within(ctx context.Context) error {
	unlock, err := host.Lock(ctx, v.o.Host.Device(), func(msg string) { v.o.say("%s", msg) })
	if err != nil {
		return fmt.Errorf("lock device: %w", err)
	}
	defer unlock()
	limited := ctx
	if b := v.o.Plan.Config.Campaign.Budget; b > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, b, errBudget)
		defer cancel()
	}
	err = v.run(limited)
	if errors.Is(err, errBudget) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &ServerError{Doing: "measure", Err: errBudget, Hint: "what was measured is on disk: run the same command again to measure the rest"}
	}
	return err
}

// run starts the server, measures what is missing and stops the server again.
func (v *visit) run(ctx context.Context) (err error) {
	if _, err := host.RaiseFileLimit(); err != nil {
		v.o.say("warning: raise the limit of open files: %v", err)
	}
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
	t := v.o.Plan.Config.Target
	s, err := server.Start(ctx, server.Options{
		Target: t, Folder: v.o.Plan.folder, Log: filepath.Join(v.o.State, v.o.Key, v.logName),
		Progress: func(msg string) { v.o.say("%s", msg) },
		APIKey:   v.o.APIKey,
		Dial:     v.o.Dial,
	})
	if err != nil {
		return serverError("start the server under test", err)
	}
	v.server = s
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
	ctx, cancel := context.WithTimeout(context.Background(), v.o.Plan.Config.Target.StopIn+30*time.Second)
	defer cancel()
	if err := v.server.Stop(ctx); err != nil {
		return serverError("stop the server under test", err)
	}
	return nil
}

func (v *visit) connections() int {
	n := 1
	for _, s := range v.o.Plan.Scenarios {
		n = max(n, connections(s))
	}
	return n
}

func (v *visit) clientOptions(baseURL string, connections int) openai.Options {
	c := v.o.Plan.Config
	return openai.Options{
		BaseURL: baseURL, Model: c.Target.Model, API: c.Target.API, APIKey: v.o.APIKey, LimitField: c.Target.LimitField,
		Temperature: &c.Sampling.Temperature, ExtraBody: c.Sampling.ExtraBody,
		Connections: connections, KeepText: v.o.KeepText, Dial: v.o.Dial,
	}
}

// prepare asks the server what it can do, fixes the workloads, and writes the header of a new campaign.
func (v *visit) prepare(ctx context.Context) error {
	caps, err := v.client.Preflight(ctx)
	if err != nil {
		return serverError("preflight", err)
	}
	for _, line := range caps.Summary() {
		v.o.say("preflight: %s", line)
	}
	v.client.Apply(caps)
	v.caps = caps
	texts := v.j.log.Header.Texts
	if texts == nil {
		texts = map[string]bench.Calibration{}
	}
	for _, s := range v.o.Plan.Scenarios {
		if err := v.workload(ctx, s, texts); err != nil {
			return err
		}
	}
	if err := v.header(texts); err != nil {
		return err
	}
	err = v.write(bench.Record{Visit: &bench.VisitRecord{
		Number: v.number, Side: "candidate", Started: v.o.Now().UTC(), Log: v.logName,
	}})
	for _, w := range caps.Warnings {
		err = errors.Join(err, v.warn("preflight", w))
	}
	return err
}

func (v *visit) workload(ctx context.Context, s config.Scenario, texts map[string]bench.Calibration) error {
	text, ok := texts[s.Name]
	if !ok {
		text, ok = v.o.Texts[s.Name]
	}
	if !ok && s.Dataset.Kind == "random" {
		var err error
		if text, err = load.Calibrate(ctx, v.client, v.caps.TokenPrompts && !v.simulated()); err != nil {
			return serverError("measure how long prompts become", err)
		}
	}
	texts[s.Name] = text
	w, err := load.Prompts(s, v.o.Plan.folder, text, v.o.Plan.Config.Target.API)
	if err != nil {
		return fmt.Errorf("scenario %q: %w", s.Name, err)
	}
	v.workloads[s.Name] = w
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
			Doing: "the server under test died", Err: err, LastWords: v.server.LastWords(),
			Hint: "everything measured so far is on disk; " + v.afterwards(),
		}
	default:
		return err
	}
}

// simulated reports whether the server only plays one. It tells runs apart by the salt, which token ids would hide.
func (v *visit) simulated() bool {
	return strings.Contains(v.o.Plan.Config.Target.Model, simulatedMark)
}

// afterwards says what to do about a server that misbehaved: in a judged run that stays on record, before one it does not.
func (v *visit) afterwards() string {
	for _, r := range v.j.log.Runs {
		if r.Invalid != "" && !r.WarmUp {
			return hintRecord
		}
	}
	return "mend the server and run the same command again: it measures what is missing"
}

func (v *visit) write(r bench.Record) error { return v.j.write(r) }

func (v *visit) warn(code, message string) error {
	v.o.say("warning: %s", message)
	return v.write(bench.Record{Warning: &bench.Warning{At: v.o.Now().UTC(), Code: code, Message: message}})
}

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
