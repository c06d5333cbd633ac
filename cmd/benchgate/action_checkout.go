package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/repo"
)

// commits are those that the event names as what is judged.
func (a *action) commits() []string {
	named := []string{a.job.Inputs["head"]}
	if a.job.Pull != nil || a.job.Group != nil {
		named = []string{a.job.SHA, a.job.Head()}
	}
	return slices.DeleteFunc(named, func(sha string) bool { return sha == "" })
}

// atJob refuses a checkout of another commit than the one that is proposed: a later step may have replaced it. Of a dispatch
// base has looked already.
func (a *action) atJob() error {
	if a.job.Pull == nil && a.job.Group == nil {
		return nil
	}
	here, err := repo.Resolve(a.sh.ctx, "", "HEAD")
	if err != nil {
		return withHint(fmt.Errorf("which commit is checked out cannot be told: %w", err), "check out with actions/checkout, and with git on the machine")
	}
	if named := a.commits(); !slices.Contains(named, here) {
		return withHint(fmt.Errorf("the checkout is at commit %.12s, and this job is for %.12s", here, named[0]),
			"check out what the event names, and the base commit into a folder of its own that is neither a link nor tracked by the change")
	}
	return nil
}

// noLink refuses a reference's folder in the checkout that is a link, or lies behind one: a second checkout follows it, and
// replaces the change that it is to be held against.
func noLink(conf config.Config) error {
	if conf.Reference == nil || conf.Campaign.Design == "committed" {
		return nil
	}
	folder, err := filepath.Abs(beside(conf.File, conf.Reference.Dir))
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	inside, err := filepath.Rel(here, folder)
	if err != nil || !filepath.IsLocal(inside) {
		return nil // what lies elsewhere is the machine's own
	}
	at := ""
	for part := range strings.SplitSeq(inside, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return withHint(fmt.Errorf("reference.dir %q: %q is a link, and both builds may be one", conf.Reference.Dir, at),
				"check out the base commit into a folder that the change does not hold")
		}
	}
	return nil
}

// guarded is the base of a merge that GitHub made, if it belongs to the branch that is guarded: a pull request can be given
// another base, and GitHub's merge follows later. Of a pull request the checkout says where that branch is now, and where it
// does not, or the merge is into something else, what the event says holds; a dispatch belongs to the branch that it was started on.
func (a *action) guarded(base string) (string, error) {
	if p := a.job.Pull; p != nil {
		if held, err := repo.Holds(a.sh.ctx, "", "refs/remotes/origin/"+p.BaseRef, base); err != nil || !held {
			return a.job.Base(), nil
		}
		return base, nil
	}
	held, err := repo.Holds(a.sh.ctx, "", a.job.SHA, base)
	switch {
	case err != nil:
		return "", withHint(fmt.Errorf("whether the pull request is for this branch cannot be told: %w", err), "check out with fetch-depth: 0")
	case !held:
		return "", withHint(fmt.Errorf("the pull request is merged into commit %.12s, which is not in the history of %.12s, where this workflow runs", base, a.job.SHA),
			"it is for another branch: start the workflow there; or the branch has moved: start it again")
	}
	return base, nil
}
