package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/github"
)

// actionCmd is what action.yml calls. What it is asked comes in the environment, since a composite action maps its inputs so.
type actionCmd struct{}

// action is one step of a workflow.
type action struct {
	sh     *shell
	in     inputs
	job    github.Job
	runner *github.Runner
	refs   refs
	// alone are the files of a change that touches the gate alone; nil until it was asked.
	alone *[]string
	// placed says that git may be called here: no link of the checkout leads what is written into its settings.
	placed bool
	// told says that outputs and summary have the answer already.
	told bool
	// lost are the things that could not be handed to the runner; they never change an exit code.
	lost []string
}

// Run does one of plan, run, judge and keep, and tells the workflow its exit code whatever comes.
func (actionCmd) Run(sh *shell) error {
	a := &action{sh: sh, runner: github.NewRunner(sh.getenv, sh.stdout)}
	a.runner.Mask(sh.getenv(envOf("token")))
	a.defuse()
	err := a.do()
	if !a.told {
		a.tellEnd(err)
	}
	a.tellLost()
	return err
}

// defuse sends all that is printed from now on through a writer in which no line is a command to the runner.
func (a *action) defuse() {
	a.sh.stdout = a.runner.Defuse(a.sh.stdout)
	a.sh.stderr = a.runner.Defuse(a.sh.stderr)
	a.sh.talk.speakTo(a.sh.stderr)
}

func (a *action) do() (err error) {
	a.in, err = readInputs(a.sh.getenv)
	_ = os.Unsetenv(envOf("token")) // no program that is started from here on has it
	var unknown error
	a.job, unknown = github.ReadJob(a.sh.getenv)
	if err := cmp.Or(err, unknown); err != nil {
		return err
	}
	if err := a.served(); err != nil {
		return err
	}
	if a.in.mode == "judge" || a.in.mode == "keep" {
		if err := a.checkPlaces(); err != nil {
			return err
		}
	}
	if a.in.mode == "keep" {
		return a.keep()
	}
	a.placed = true
	if err := a.findRefs(); err != nil {
		return err
	}
	switch a.in.mode {
	case "plan":
		return a.plan()
	case "run":
		return a.run()
	}
	return a.judge()
}

// tellEnd tells the workflow how a step ended that has no verdict.
func (a *action) tellEnd(err error) {
	code := exitOK
	if err != nil {
		code = exitCode(a.sh.ctx, err)
		one := remark("benchgate "+a.in.mode, err)
		if code == exitInterrupted && a.in.mode == "run" {
			// What broke off first is chance, and nobody's mistake.
			one.Level, one.Message = "warning", "interrupted: everything measured is on disk, and the next attempt measures the rest"
		}
		a.runner.Annotate([]github.Annotation{one})
	}
	if err != nil && a.in.mode == "judge" {
		a.output("verdict", undecided)
		a.summarize(func(limit int) string { return trouble("", err).Markdown(limit) })
	}
	a.output("exit-code", strconv.Itoa(code))
	if err != nil && a.in.mode == "judge" && a.job.Event != "" && code != exitInterrupted {
		a.publish(broken(err))
	}
}

// remark is an error as an annotation, on the line of the checkout that it points at if it does.
func remark(title string, err error) github.Annotation {
	one := github.Annotation{Level: "error", Title: strings.TrimSpace(title), Message: legible(err.Error())}
	var mistake *config.Error
	if errors.As(err, &mistake) && filepath.IsLocal(mistake.File) && !strings.HasSuffix(mistake.File, " at base") {
		one.File, one.Line = filepath.ToSlash(mistake.File), mistake.Line
	}
	return one
}

func (a *action) output(name, value string) {
	if err := a.runner.Output(name, value); err != nil {
		a.lost = append(a.lost, err.Error())
	}
}

func (a *action) summarize(render func(limit int) string) {
	if err := a.runner.Summary(render); err != nil {
		a.lost = append(a.lost, err.Error())
	}
}

// tellLost warns of what the runner did not take.
func (a *action) tellLost() {
	for _, what := range a.lost {
		fmt.Fprintf(a.sh.stderr, "benchgate: %s\n", legible(what))
	}
}
