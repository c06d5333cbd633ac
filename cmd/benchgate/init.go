package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/workflow"
)

type initCmd struct {
	Preset string `enum:"gpu,mac,cpu" default:"gpu" help:"Which machine the file is for: gpu, mac or cpu."`
	GateOn string `enum:"pull_request,merge_group" default:"pull_request" help:"What the gate guards: pull_request or merge_group."`
	Dir    string `default:"." help:"Where to write."`
	Force  bool   `help:"Overwrite files that are there."`

	Workflows bool `help:"Write the workflows alone: with --force, those that are there for another --gate-on."`
}

// baselinesReadme explains the folder to whoever meets it in a review.
const baselinesReadme = `# Baselines

Each file here is one scenario on one runner: the sessions that people accepted, with who, why and which commit.
They are written by ` + "`benchgate baseline accept`" + ` and reviewed like code. Do not edit them by hand.

    benchgate baseline list      one line a baseline
    benchgate baseline verify    says what is wrong with any of them
`

// initFile is one file that init writes.
type initFile struct {
	name string
	data []byte
}

// Run writes the files, all or none.
func (c initCmd) Run(sh *shell) error {
	at := placeOf(c.Dir)
	files, err := c.files(at.branch)
	if err != nil {
		return err
	}
	if err := c.overwritten(files); err != nil {
		return err
	}
	open := false
	for _, f := range files {
		err := writeFile(filepath.Join(c.Dir, f.name), func(w *os.File) error {
			_, err := w.Write(f.data)
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(sh.stdout, "wrote %s\n", filepath.Join(c.Dir, f.name))
		open = open || workflow.Open(f.data)
	}
	c.next(sh, at, open)
	return nil
}

// overwritten is an error where a file is there and holds something else, unless it may be overwritten. A .gitignore only grows.
func (c initCmd) overwritten(files []initFile) error {
	if c.Force {
		return nil
	}
	for _, f := range files {
		old, err := os.ReadFile(filepath.Join(c.Dir, f.name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && (f.name == ".gitignore" || bytes.Equal(old, f.data)) {
			continue
		}
		hint := "--force overwrites it"
		if !c.Workflows {
			hint += "; --workflows writes the workflows alone"
		}
		return withHint(fmt.Errorf("init: %q is there already", f.name), "%s", hint)
	}
	return nil
}

// files are all that init writes for a branch.
func (c initCmd) files(branch string) ([]initFile, error) {
	workflows, err := c.workflows(branch)
	if err != nil || c.Workflows {
		return workflows, err
	}
	yaml, err := config.Preset(c.Preset, c.GateOn)
	if err != nil {
		return nil, err
	}
	schema, err := config.Schema()
	if err != nil {
		return nil, err
	}
	ignored, err := c.ignore()
	if err != nil {
		return nil, err
	}
	files := []initFile{
		{"benchgate.yaml", yaml},
		{"benchgate.schema.json", schema},
		{filepath.Join("baselines", "README.md"), []byte(baselinesReadme)},
	}
	return slices.Concat(files, workflows, ignored), nil
}

func (c initCmd) workflows(branch string) ([]initFile, error) {
	var files []initFile
	for _, name := range workflow.Initial() {
		text, err := workflow.Text(name, workflow.Options{
			GateOn: c.GateOn, Branch: branch, Revision: programRevision(), Version: programVersion(), Source: !aRelease.MatchString(version),
		})
		if err != nil {
			return nil, err
		}
		files = append(files, initFile{filepath.Join(".github", "workflows", name), text})
	}
	return files, nil
}
