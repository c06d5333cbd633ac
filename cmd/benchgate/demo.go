package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/report"
	"github.com/benchgate/benchgate/internal/sim"
)

//go:embed demo.yaml
var demoConfig []byte

// demoSlow is the slower build of the demo: everything takes 30 % longer.
const demoSlow = 0.30

// demoSeed is fixed: the demo shows the draw that it gets, lucky or not.
const demoSeed = 20260901

type demoCmd struct {
	Output string `short:"o" default:"benchgate-demo" placeholder:"DIR" help:"Where everything goes."`
}

// Run measures a simulated server three times and tells what the gate makes of it: exit 0 when the equal build is not
// red and the slower one is.
func (c demoCmd) Run(sh *shell) error {
	conf, err := config.Parse("demo.yaml", demoConfig)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(c.Output, "demo-state")); err != nil {
		return err
	}
	began := sh.now()
	p := func(format string, args ...any) { fmt.Fprintf(sh.stdout, format+"\n", args...) }
	p("benchgate demo: a simulated server, measured three times. No number below comes from a real machine.\n")
	base, err := c.session(sh, conf, "baseline", 0, nil)
	if err != nil {
		return err
	}
	baselines := filepath.Join(c.Output, "demo-baselines")
	if err := c.accept(sh, baselines, base); err != nil {
		return err
	}
	same, err := c.compare(sh, conf, "same-build", 0, baselines)
	if err != nil {
		return err
	}
	slower, err := c.compare(sh, conf, "slower-build", demoSlow, baselines)
	if err != nil {
		return err
	}
	c.explain(p, sh.now().Sub(began))
	if isRed(same) || !isRed(slower) {
		fmt.Fprintln(sh.stderr, "benchgate: the demo did not come out as it should: see the two verdicts above")
		return verdictError(1)
	}
	return nil
}

func isRed(v gate.Verdict) bool { return v.ExitCode == 1 }

// session measures one build of the simulated server.
func (c demoCmd) session(sh *shell, conf config.Config, name string, slow float64, base []bench.Digest) ([]bench.Digest, error) {
	o := sim.Defaults()
	o.Seed, o.Slow, o.Model = demoSeed, slow, conf.Target.Model
	s, dial, err := sh.simulate(o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	conf.Target.BaseURL = s.BaseURL()
	plan, err := campaign.NewPlan(conf, c.Output, nil, 0, nil)
	if err != nil {
		return nil, err
	}
	texts := map[string]bench.Calibration{}
	for _, d := range base {
		texts[d.Scenario] = d.Text
	}
	sh.talk.say("measuring %s: 1 warm-up run and %d runs", name, plan.Runs)
	res, err := campaign.Run(sh.ctx, campaign.Options{
		Plan: plan, State: filepath.Join(c.Output, "demo-state"), Key: name, Commit: name, Tool: "benchgate " + programVersion(),
		ID: "demo-" + name, Host: host.Describe(sh.ctx), Texts: texts, Dial: dial,
		Progress: sh.talk.progress, Say: func(s string) { sh.talk.detail("%s", s) }, Now: sh.now,
	})
	if err != nil {
		return nil, err
	}
	if err := discard(filepath.Join(c.Output, name), conf.Runner); err != nil {
		return nil, err
	}
	if err := writeResults(res, plan, filepath.Join(c.Output, name), nil); err != nil {
		return nil, err
	}
	return campaign.Digests(res.Log), nil
}

// accept makes the first session the baseline, replacing that of an earlier demo.
func (c demoCmd) accept(sh *shell, folder string, head []bench.Digest) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	_, err := baseline.Accept(folder, head, baseline.Acceptance{
		Who: "benchgate demo", Why: "first session of the demo", Commit: "baseline", Engine: engine(head), At: sh.now().UTC(), Differs: gate.Differs,
	})
	return err
}

// compare measures a build, holds it against the baseline and prints the verdict as it came out.
func (c demoCmd) compare(sh *shell, conf config.Config, name string, slow float64, baselines string) (gate.Verdict, error) {
	base, source, err := baseline.Read(baselines, conf.Runner)
	if err != nil {
		return gate.Verdict{}, err
	}
	head, err := c.session(sh, conf, name, slow, base)
	if err != nil {
		return gate.Verdict{}, err
	}
	v := gate.Decide(conf.Policy, base, head)
	if v.Baseline != nil {
		v.Baseline.Ref = source.Ref
	}
	if err := writeVerdict(filepath.Join(c.Output, name, "verdict.json"), v); err != nil {
		return gate.Verdict{}, err
	}
	title := "the same build again"
	if slow > 0 {
		title = fmt.Sprintf("a build that is %.0f %% slower", 100*slow)
	}
	fmt.Fprintf(sh.stdout, "── %s ──\n", title)
	return v, report.Write(sh.stdout, "text", v)
}

// explain says what every file is.
func (c demoCmd) explain(p func(string, ...any), took time.Duration) {
	at := func(parts ...string) string { return filepath.Join(append([]string{c.Output}, parts...)...) }
	p("── what is where ──")
	p("%s  the accepted session: the file that a team commits", at("demo-baselines", "demo", "chat.json"))
	p("%s  every request of the slower build, as it happened", at("slower-build", "demo", "campaign.jsonl"))
	p("%s  the same, condensed to one line a run", at("slower-build", "demo", "chat.json"))
	p("%s  the decision, with all that a report needs", at("slower-build", "verdict.json"))
	p("%s  each run in the shape of vllm bench serve's result file", at("slower-build", "vllm"))
	page, err := filepath.Abs(at("slower-build", "report.html"))
	if err != nil {
		page = at("slower-build", "report.html")
	}
	p("\nthe report as a page: %s", page)
	p("next, for a server of your own: benchgate init writes a commented benchgate.yaml, benchgate run --plan says what it will do")
	p("took %.0f s; exit 0 means: the same build was not red, and the slower one was", took.Seconds())
}
