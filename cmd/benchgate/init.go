package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/benchgate/benchgate/internal/config"
)

type initCmd struct {
	Preset string `enum:"gpu,mac,cpu" default:"gpu" help:"Which machine the file is for: gpu, mac or cpu."`
	GateOn string `enum:"pull_request,merge_group" default:"pull_request" help:"What the gate guards: pull_request or merge_group."`
	Dir    string `default:"." help:"Where to write."`
	Force  bool   `help:"Overwrite files that are there."`
}

// baselinesReadme explains the folder to whoever meets it in a review.
const baselinesReadme = `# Baselines

Each file here is one scenario on one runner: the sessions that people accepted, with who, why and which commit.
They are written by ` + "`benchgate baseline accept`" + ` and reviewed like code. Do not edit them by hand.

    benchgate baseline list      one line a baseline
    benchgate baseline verify    says what is wrong with any of them
`

// Run writes the files, all or none.
func (c initCmd) Run(sh *shell) error {
	yaml, err := config.Preset(c.Preset, c.GateOn)
	if err != nil {
		return err
	}
	schema, err := config.Schema()
	if err != nil {
		return err
	}
	files := []struct {
		name string
		data []byte
	}{
		{"benchgate.yaml", yaml},
		{"benchgate.schema.json", schema},
		{filepath.Join("baselines", "README.md"), []byte(baselinesReadme)},
	}
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(c.Dir, f.name)); !errors.Is(err, fs.ErrNotExist) && !c.Force {
			return withHint(fmt.Errorf("init: %q is there already", f.name), "--force overwrites it")
		}
	}
	for _, f := range files {
		err := writeFile(filepath.Join(c.Dir, f.name), func(w *os.File) error {
			_, err := w.Write(f.data)
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(sh.stdout, "wrote %s\n", filepath.Join(c.Dir, f.name))
	}
	sh.talk.say("next: edit target in benchgate.yaml, then `benchgate run --plan`, `benchgate run`, `benchgate baseline accept`")
	return nil
}
