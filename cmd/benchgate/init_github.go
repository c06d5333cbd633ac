package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/benchgate/benchgate/internal/repo"
	"github.com/benchgate/benchgate/internal/workflow"
)

// place is where in a repository init writes.
type place struct {
	branch  string // what the gate guards; "" where that is not known, or no workflow can be written for it
	strange string // the branch for which none can be written
	top     string // the repository's root, where init does not write into that
}

// placeOf looks at the nearest folder that is there: init makes the rest.
func placeOf(dir string) place {
	folder, err := filepath.Abs(dir)
	if err != nil {
		return place{}
	}
	for ; folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			break
		}
	}
	ctx := context.Background() // git is given a minute for each question
	var p place
	if name := repo.DefaultBranch(ctx, folder); workflow.Branch(name) {
		p.branch = name
	} else {
		p.strange = name
	}
	top, err := repo.Tree(ctx, folder)
	if err == nil && top != "" && !sameFolder(top, dir) {
		p.top = top
	}
	return p
}

// sameFolder also where a link leads to one of them. A folder that is not there is no other.
func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// hints are what is left to do because of the place.
func (p place) hints() []string {
	var all []string
	if p.top != "" {
		all = append(all, fmt.Sprintf("it reads workflows in the root of the repository alone: run init in %s, or move .github there", p.top))
	}
	switch {
	case p.strange != "":
		all = append(all, fmt.Sprintf("write the branch %q at branches: in the workflow, which has main", p.strange))
	case p.branch == "":
		all = append(all, "the gate guards main; another branch goes to branches: in the workflow")
	case p.branch != "main":
		all = append(all, fmt.Sprintf("the gate guards the branch %s; another goes to branches: in the workflow", p.branch))
	}
	return all
}

// next says what is left to people: on their own machine, and on GitHub.
func (c initCmd) next(sh *shell, at place, open bool) {
	if !c.Workflows {
		sh.talk.say("next: edit target in benchgate.yaml, then `benchgate run --plan`, `benchgate run -o first-session`, `benchgate baseline accept first-session`")
	}
	for _, hint := range at.hints() {
		sh.talk.say("on GitHub: %s", hint)
	}
	for _, hint := range pinHints(open, version) {
		sh.talk.say("on GitHub: %s", hint)
	}
	sh.talk.say("on GitHub: give the lab machine's runner the label benchgate-lab, and require the check \"benchgate\"")
	sh.talk.say("on GitHub: the nightly needs \"Allow GitHub Actions to create and approve pull requests\" (Settings > Actions > General); with it a workflow of any branch may approve, so require a review from Code Owners first, or give its job keep an app's token")
	if c.GateOn == "merge_group" {
		sh.talk.say("on GitHub: require the merge queue for the branch, with a status check timeout of 180 minutes; nothing is measured without it")
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
