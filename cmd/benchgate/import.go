package main

import (
	"fmt"
	"os"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/ingest"
)

type importCmd struct {
	Files    []string `arg:"" name:"file" help:"Result files, one run each."`
	From     string   `default:"auto" help:"The tool that wrote them: auto, vllm."`
	Output   string   `short:"o" default:"-" placeholder:"FILE" help:"Where the digest goes; - is stdout."`
	Scenario string   `help:"Name of the scenario; that of the tool by default."`
	Runner   string   `help:"Name of the runner; imported by default."`
	Session  string   `help:"Declare one interleaved session: give the same name on both sides. Otherwise a session is a UTC day of the files of one side."`
}

// Run reads the files and writes one digest.
func (c importCmd) Run(sh *shell) error {
	var files []ingest.File
	for _, name := range c.Files {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
		defer f.Close()
		files = append(files, ingest.File{Name: name, Data: f})
	}
	d, err := ingest.Digest(c.From, files, ingest.Options{Scenario: c.Scenario, Runner: c.Runner, Session: c.Session})
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	for _, s := range d.Sessions {
		for _, w := range s.Warnings {
			sh.talk.say("warning: %s", w)
		}
	}
	if c.Output == "-" {
		return bench.WriteDigest(sh.stdout, d)
	}
	if err := writeFile(c.Output, func(f *os.File) error { return bench.WriteDigest(f, d) }); err != nil {
		return err
	}
	sh.talk.say("%s: %d runs of %q", c.Output, len(allRuns(d)), d.Scenario)
	return nil
}

func allRuns(d bench.Digest) []bench.Run {
	var runs []bench.Run
	for _, s := range d.Sessions {
		runs = append(runs, s.Runs()...)
	}
	return runs
}
