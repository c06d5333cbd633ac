package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/server"
)

// forkWay is how the change of a fork is measured all the same.
const forkWay = "a maintainer who has read it starts benchgate-dispatch.yml with its number (input pull-request) and head commit (input head); with a merge queue the queue measures it. Without one the check of this pull request stays red all the same: https://github.com/benchgate/benchgate/blob/main/docs/github.md#forks"

// closedWay is how a pull request that was closed is measured again.
const closedWay = "open it again, which starts the check anew"

// run measures. It has no token, and its config's target is that of the change. What ended it early lies among the results.
func (a *action) run() error {
	a.forget()
	err := a.measure()
	if err != nil {
		a.leave(err)
	}
	a.tellSize()
	return err
}

func (a *action) measure() error {
	if p := a.job.Pull; p != nil && p.Fork {
		return withHint(notMeasured{fmt.Errorf("pull request %d comes from a fork, whose code does not run on this machine: missing", p.Number)}, forkWay)
	}
	if p := a.job.Pull; p != nil && p.Closed {
		return withHint(notMeasured{fmt.Errorf("pull request %d is closed: nothing of it is measured: missing", p.Number)}, closedWay)
	}
	if err := a.atJob(); err != nil {
		return err
	}
	conf, from, notes, err := a.oneAsked()
	if err != nil {
		return err
	}
	if name := conf.Target.APIKeyEnv; server.OfJob(name) {
		return withHint(fmt.Errorf("%s: target.api_key_env is %q, which is the job's own", conf.File, name), "name the variable that holds the key of the server")
	}
	c := runCmd{Config: conf.File, Output: a.in.out, Scenario: a.in.scenarios, Baseline: a.baselines(), Lock: a.in.lock, Wait: a.in.lockTimeout, Sound: len(a.gateFiles()) > 0}
	// A night is a session of its own, also of a commit that was measured before; another attempt of the same run goes on.
	c.Fresh = a.refs.rules == "" && a.job.RunAttempt <= 1
	return c.follow(a.sh, conf, from, notes...)
}

// oneAsked is what is asked of this runner, and what there is to say of it.
func (a *action) oneAsked() (config.Config, inherited, []string, error) {
	all, err := a.asked()
	if err != nil {
		return config.Config{}, inherited{}, nil, err
	}
	if len(all) > 1 {
		var names []string
		for _, q := range all {
			names = append(names, q.name)
		}
		return config.Config{}, inherited{}, nil, withHint(fmt.Errorf("%q holds the configs of %d runners", a.in.config, len(all)), "say which in the input config: %s", strings.Join(names, ", "))
	}
	q := all[0]
	notes := q.changes()
	if a.refs.rules == "" && q.Campaign.Design != "committed" {
		q.Campaign.Design = "committed"
		notes = append(notes, "there is no base to take turns with: design committed")
	}
	if err := noLink(q.Config); err != nil {
		return config.Config{}, inherited{}, nil, err
	}
	if err := cmp.Or(a.twoBuilds(q), apartOnDisk(q.Config)); err != nil {
		return config.Config{}, inherited{}, nil, err
	}
	conf, from := q.Config, inherited{}
	if q.again != nil {
		if conf, from, err = inherit(a.sh, q.Config, "target at base", q.again); err != nil {
			return conf, from, nil, err
		}
	}
	conf.Policy.Rewritten, err = a.rewritten(q) // a stage that cannot be compared with is not measured
	return conf, from, notes, err
}

// notMeasured is an error that leaves something missing: nothing can be said of it.
type notMeasured struct{ error }

func (e notMeasured) Unwrap() error { return errors.Unwrap(e.error) }
