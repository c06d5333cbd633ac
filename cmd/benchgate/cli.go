package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/alecthomas/kong"
)

// cli is the command line. Each field is one command, in a file of its own.
type cli struct {
	Demo      demoCmd      `cmd:"" help:"The whole job on the simulated server, no config needed: baseline, A/A, a slower build, two verdicts, a report."`
	Init      initCmd      `cmd:"" help:"Write a commented benchgate.yaml, its schema, the workflows and baselines/README.md."`
	Doctor    doctorCmd    `cmd:"" help:"Is this runner, server and client fit to judge?"`
	Run       runCmd       `cmd:"" help:"Measure: start the server, warm it up, run every scenario, write digests."`
	Calibrate calibrateCmd `cmd:"" help:"A/A on this runner: how far equal runs differ, what can be seen through that, and which design would."`
	Import    importCmd    `cmd:"" help:"Turn other tools' result files into a digest."`
	Gate      gateCmd      `cmd:"" help:"Decide: compare a candidate with a baseline and set the exit code."`
	Report    reportCmd    `cmd:"" help:"Render a verdict.json for people."`
	Baseline  baselineCmd  `cmd:"" help:"Accept, list, show, verify or remove baselines."`
	Action    actionCmd    `cmd:"" help:"What action.yml calls: plan, run, judge or keep in a job of GitHub Actions. Its inputs come in the environment."`
	Sim       simCmd       `cmd:"" help:"Serve the simulated OpenAI-compatible server on its own."`
	Schema    schemaCmd    `cmd:"" help:"Print a JSON Schema, or check a file against it."`
	Version   versionCmd   `cmd:"" help:"Print the version."`

	Quiet     bool   `short:"q" help:"Only results and errors."`
	Verbose   bool   `short:"v" help:"Say more on the way."`
	LogFormat string `enum:"text,json" default:"text" help:"How talk on stderr is written: text or json."`
}

// shell is what a command may touch: its own streams, environment and clock, so that a test can be the shell.
type shell struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
	talk           *talk
	// memory puts the demo's server into memory instead of on a socket, so that a test can run it in virtual time.
	memory bool
	// dial reaches a server in memory; nil is the network.
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// exited carries the code of kong's own exits (--help) out of its parser.
type exited int

// run is the program: everything it needs is handed in, and its exit code comes back.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) (code int) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case exited:
			code = int(e)
		default:
			panic(e)
		}
	}()
	var c cli
	parser, err := kong.New(&c, kong.Name("benchgate"), kong.UsageOnError(), kong.Writers(stdout, stderr),
		kong.Description("A regression gate for LLM inference servers."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Exit(func(n int) { panic(exited(n)) }))
	if err != nil {
		panic(err) // the struct above is wrong
	}
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "benchgate: %v\nhint: benchgate --help lists commands and flags\n", err)
		return exitUsage
	}
	sh := &shell{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr, getenv: getenv, now: time.Now}
	sh.talk = newTalk(stderr, c.Quiet, c.Verbose, c.LogFormat == "json", getenv)
	err = command.Run(sh)
	sh.talk.done()
	return conclude(err, sh)
}

// conclude writes an error for people and returns the exit code that belongs to it.
func conclude(err error, sh *shell) int {
	if err == nil {
		return exitOK
	}
	var verdict verdictError
	if errors.As(err, &verdict) {
		return int(verdict)
	}
	if errors.Is(err, context.Canceled) && sh.ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	fmt.Fprintf(sh.stderr, "benchgate: %s\n", legible(err.Error()))
	for _, line := range hints(err) {
		fmt.Fprintln(sh.stderr, legible(line))
	}
	return exitCode(sh.ctx, err)
}
