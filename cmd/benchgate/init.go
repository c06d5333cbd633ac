package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/workflow"
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

// initFile is one file that init writes.
type initFile struct {
	name string
	data []byte
}

// Run writes the files, all or none.
func (c initCmd) Run(sh *shell) error {
	files, err := c.files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(c.Dir, f.name)); !errors.Is(err, fs.ErrNotExist) && !c.Force {
			return withHint(fmt.Errorf("init: %q is there already", f.name), "--force overwrites it")
		}
	}
	ignored, err := c.ignore()
	if err != nil {
		return err
	}
	files = append(files, ignored...)
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
	c.next(sh, open)
	return nil
}

// next says what is left to people: on their own machine, and on GitHub.
func (c initCmd) next(sh *shell, open bool) {
	sh.talk.say("next: edit target in benchgate.yaml, then `benchgate run --plan`, `benchgate run`, `benchgate baseline accept`")
	for _, hint := range pinHints(open, version) {
		sh.talk.say("on GitHub: %s", hint)
	}
	sh.talk.say("on GitHub: give the lab machine's runner the label benchgate-lab, and require the check \"benchgate\"")
	sh.talk.say("on GitHub: the nightly needs \"Allow GitHub Actions to create and approve pull requests\" (Settings > Actions > General); with it a workflow of any branch may approve, so require a review from Code Owners first, or give its job keep an app's token")
	if c.GateOn == "merge_group" {
		sh.talk.say("on GitHub: require the merge queue for the branch; nothing is measured without it")
	}
}

// aRelease is what a release build is called.
var aRelease = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)

// pinHints say what is left to do so that the workflows find a program: open is whether they name no commit yet, version
// what the release build has set.
func pinHints(open bool, version string) []string {
	const zeros = " where the workflows under .github/workflows hold zeros"
	switch released := aRelease.MatchString(version); {
	case open && released:
		return []string{"write the commit of release " + version + zeros}
	case open:
		return []string{"write a commit of benchgate" + zeros + "; every job builds it, since this program is no release"}
	case !released:
		return []string{"every job builds benchgate from the commit that this program was built from, which is no release"}
	}
	return nil
}

// files are all that init writes and nobody else.
func (c initCmd) files() ([]initFile, error) {
	yaml, err := config.Preset(c.Preset, c.GateOn)
	if err != nil {
		return nil, err
	}
	schema, err := config.Schema()
	if err != nil {
		return nil, err
	}
	files := []initFile{
		{"benchgate.yaml", yaml},
		{"benchgate.schema.json", schema},
		{filepath.Join("baselines", "README.md"), []byte(baselinesReadme)},
	}
	for _, name := range workflow.Initial() {
		text, err := workflow.Text(name, workflow.Options{
			GateOn: c.GateOn, Revision: programRevision(), Version: programVersion(), Source: !aRelease.MatchString(version),
		})
		if err != nil {
			return nil, err
		}
		files = append(files, initFile{filepath.Join(".github", "workflows", name), text})
	}
	return files, nil
}
