package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/host"
)

type doctorCmd struct {
	Config  string `short:"c" placeholder:"FILE" help:"The config whose server and scenarios are looked at: benchgate.yaml, if there is one."`
	BaseURL string `name:"base-url" placeholder:"URL" help:"A running server instead of a config's: http://HOST:PORT/v1."`
	Model   string `placeholder:"NAME" help:"Its model."`
	JSON    bool   `name:"json" help:"Print a document of schema benchgate.doctor/v1 instead of text."`
	Paid    bool   `name:"yes-this-costs-money" help:"Ask a paid public endpoint a few short questions."`
}

// lookRequests bounds what a doctor asks of a server, in requests; each has a few tokens.
const lookRequests = 16

// Run looks at runner, client, server and plan. Exit 3: not fit to judge.
func (c doctorCmd) Run(sh *shell) error {
	e, err := c.examination(sh)
	if err != nil {
		return err
	}
	for _, t := range []*config.Target{e.Target, e.Reference} {
		if t == nil {
			continue
		}
		if err := c.allowed(sh, *t); err != nil {
			return err
		}
	}
	folder, err := os.MkdirTemp("", "benchgate-doctor-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	e.Log = filepath.Join(folder, "server.log")
	e.Host, e.Dial, e.Say = host.Describe(sh.ctx), sh.dial, func(s string) { sh.talk.say("%s", s) }
	found, err := campaign.Examine(sh.ctx, e)
	if err != nil {
		return err
	}
	if c.JSON {
		out := json.NewEncoder(sh.stdout)
		out.SetIndent("", "  ")
		out.SetEscapeHTML(false)
		err = out.Encode(found)
	} else {
		err = tellDiagnosis(sh.stdout, found)
	}
	if err == nil && !found.Fit {
		return verdictError(exitServer)
	}
	return err
}

// examination is what the flags ask for. Without a config and a server, the runner and the client are looked at alone.
func (c doctorCmd) examination(sh *shell) (campaign.Examination, error) {
	switch {
	case c.BaseURL != "" && c.Config != "":
		return campaign.Examination{}, withHint(errors.New("--base-url and -c both name a server"), "leave one of them out")
	case (c.BaseURL == "") != (c.Model == ""):
		return campaign.Examination{}, withHint(errors.New("--base-url and --model belong together"), "write --base-url http://127.0.0.1:8000/v1 --model NAME")
	case c.BaseURL != "":
		t := config.Target{BaseURL: c.BaseURL, Model: c.Model, API: "chat", LimitField: "auto", Metrics: "/metrics"}
		return campaign.Examination{Target: &t}, nil
	case c.Config == "":
		if _, err := os.Stat("benchgate.yaml"); err != nil {
			sh.talk.say("no benchgate.yaml here: runner and client are looked at alone (-c FILE, or --base-url URL --model NAME, for a server)")
			return campaign.Examination{}, nil
		}
		c.Config = "benchgate.yaml"
	}
	conf, _, err := runCmd{Config: c.Config}.config(sh)
	if err != nil {
		return campaign.Examination{}, err
	}
	plan, err := c.plan(conf)
	if err != nil {
		return campaign.Examination{}, err
	}
	e := campaign.Examination{
		Plan: &plan, Target: &plan.Config.Target, Reference: turnedWith(plan), Folder: filepath.Dir(conf.File), APIKey: sh.getenv(conf.Target.APIKeyEnv),
	}
	if e.Reference != nil {
		e.ReferenceKey = sh.getenv(e.Reference.APIKeyEnv)
	}
	return e, nil
}

// plan is the one of run, which knows from baselines/ how long a closed loop takes and which scenarios have one.
func (c doctorCmd) plan(conf config.Config) (campaign.Plan, error) {
	base, _, err := readBaseline(baseline.Folder, conf.Runner)
	if err != nil {
		return campaign.Plan{}, fmt.Errorf("baseline: %w", err)
	}
	return planFor(conf, base, nil, 0)
}

// allowed refuses a target that is not ours to ask.
func (c doctorCmd) allowed(sh *shell, t config.Target) error {
	return runCmd{Paid: c.Paid}.allows(sh, t, campaign.Plan{Requests: lookRequests, Tokens: 64 * lookRequests})
}

// tellDiagnosis prints a line for each check; what is not well has two more, why and what to do.
func tellDiagnosis(w io.Writer, d campaign.Diagnosis) error {
	var b bytes.Buffer
	section, states := "", map[string]int{}
	for _, c := range d.Checks {
		title := c.Section
		if c.Side != "" {
			title += " of the " + c.Side
		}
		if title != section {
			section = title
			fmt.Fprintln(&b, section)
		}
		states[c.State]++
		fmt.Fprintf(&b, "  %-4s  %-13s  %s\n", c.State, c.Name, strings.ReplaceAll(c.Found, "\n", "\n"+strings.Repeat(" ", 23)))
		for _, more := range [][2]string{{"why", c.Why}, {"next", c.Next}} {
			if more[1] != "" {
				fmt.Fprintf(&b, "%23s%s: %s\n", "", more[0], more[1])
			}
		}
	}
	if d.Simulated {
		fmt.Fprintln(&b, "simulated: this server only plays one")
	}
	word := "fit to judge"
	if !d.Fit {
		word = "not fit to judge"
	}
	fmt.Fprintf(&b, "%s: %d ok, %s, %d failed\n", word, states[campaign.Good], count(states[campaign.Warn], "warning"), states[campaign.Fail])
	_, err := io.WriteString(w, legible(b.String()))
	return err
}
