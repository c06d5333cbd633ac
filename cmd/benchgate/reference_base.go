package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/repo"
)

// mostChanged is how many changed files of a checkout are named.
const mostChanged = 3

// heldTo refuses a reference that is not the base commit which the candidate is held against: a checkout that stands
// elsewhere or was changed, or a folder that the change edits. Where nothing tells, that is a doubt, which stays on record.
// Of baselines that are no commit's nothing is asked.
func heldTo(sh *shell, plan campaign.Plan, baselines string) (doubts []string, err error) {
	r, rev := turnedWith(plan), ""
	if r != nil {
		rev, _ = strings.CutPrefix(baselines, "ref:")
	}
	if rev == "" || rev == baselines {
		return nil, nil
	}
	base, err := repo.Resolve(sh.ctx, "", rev)
	if err != nil {
		return nil, err
	}
	if len(r.Command) == 0 {
		return []string{fmt.Sprintf("the reference is a server that was running: that it is the build of commit %.12s is not known", base)}, nil
	}
	file := plan.Config.File
	tree, own, err := treeOf(sh, file, r)
	switch folder := beside(file, r.Dir); {
	case err != nil:
		return nil, fmt.Errorf("which commit reference.dir %q holds cannot be told: %w", r.Dir, err)
	case own:
		return nil, atBase(sh, r.Dir, folder, base)
	case tree == "":
		return []string{fmt.Sprintf("reference.dir %q lies in no git work tree: that it holds the build of commit %.12s is not known", r.Dir, base)}, nil
	}
	if err := unedited(sh, plan.Config, tree, base); err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("reference.dir %q lies in the checkout of the change: that it holds the build of commit %.12s is not known", r.Dir, base)}, nil
}

// treeOf is the work tree that a reference lies in, empty where it lies in none, or is not there at all; own says that it is not
// the one of the config, which is the candidate's.
func treeOf(sh *shell, file string, r *config.Target) (tree string, own bool, err error) {
	folder := beside(file, r.Dir)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil // whoever starts it says so
	}
	if tree, err = repo.Tree(sh.ctx, folder); err != nil || tree == "" {
		return "", false, err
	}
	candidate, err := repo.Tree(sh.ctx, filepath.Dir(file))
	return tree, tree != candidate, err
}

// atBase refuses a checkout of another commit, and one with changes that are not in it: what builds the candidate ran before.
func atBase(sh *shell, name, folder, base string) error {
	const hint = "check out the base commit there, in a workflow by actions/checkout with ref: ${{ needs.plan.outputs.base }} and a path of its own"
	here, err := repo.Resolve(sh.ctx, folder, "HEAD")
	switch {
	case err != nil:
		return fmt.Errorf("which commit reference.dir %q holds cannot be told: %w", name, err)
	case here != base:
		return withHint(fmt.Errorf("reference.dir %q is a checkout of commit %.12s, and the change is held against %.12s", name, here, base), hint)
	}
	changed, err := repo.Edited(sh.ctx, folder)
	if err != nil {
		return fmt.Errorf("whether reference.dir %q is as commit %.12s has it cannot be told: %w", name, base, err)
	}
	if n := len(changed); n > 0 {
		return withHint(fmt.Errorf("reference.dir %q is a checkout of commit %.12s with changes to %s that it tracks: %s", name, base, count(n, "file"),
			strings.Join(changed[:min(n, mostChanged)], ", ")), "build without writing what is tracked, or undo it before this step: git -C %s checkout .", name)
	}
	return nil
}

// unedited refuses a folder of the candidate's own checkout that the change edits: both builds would be its own. A folder in
// which the candidate itself is started is what the rules at base ask for.
func unedited(sh *shell, conf config.Config, tree, base string) error {
	folder, err := filepath.EvalSymlinks(beside(conf.File, conf.Reference.Dir))
	if err != nil {
		return err
	}
	target, err := filepath.EvalSymlinks(beside(conf.File, conf.Target.Dir))
	if err != nil {
		return nil // whoever starts the candidate says so
	}
	if target, err = filepath.Abs(target); err != nil {
		return err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	if rel, err := filepath.Rel(folder, target); err == nil && filepath.IsLocal(rel) {
		return nil
	}
	name, err := filepath.Rel(tree, folder)
	if err != nil {
		return err
	}
	switch differs, err := repo.Differs(sh.ctx, tree, base, "HEAD", filepath.ToSlash(name)); {
	case err != nil:
		return fmt.Errorf("whether the change edits reference.dir %q cannot be told: %w", conf.Reference.Dir, err)
	case differs:
		return withHint(fmt.Errorf("reference.dir %q lies in the checkout of the change, which edits it: both builds would be its own", conf.Reference.Dir),
			"check out the base commit into a folder that the change does not hold, in a workflow by actions/checkout with ref: ${{ needs.plan.outputs.base }}")
	}
	return nil
}
