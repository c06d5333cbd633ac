package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/repo"
)

// besideConfigs are files of the gate that nothing reads which decides or measures.
var besideConfigs = []string{"benchgate.schema.json", baseline.Folder + "/README.md"}

// gateFiles are the files of a change that touches the gate alone: its build is that of base, and nothing that is measured
// can be its doing. None are those of any other change, and where it cannot be told.
func (a *action) gateFiles() []string {
	if a.alone == nil {
		files := a.findGateFiles()
		a.alone = &files
	}
	return *a.alone
}

func (a *action) findGateFiles() []string {
	if a.refs.base == "" || !a.proposed() || !a.atTop() {
		return nil
	}
	is, err := a.gatePlaces()
	if err != nil {
		return nil
	}
	var files []string
	for i, rev := range a.heldAgainst() {
		changes, err := repo.Changed(a.sh.ctx, "", rev, "HEAD")
		if err != nil || slices.ContainsFunc(changes, func(c repo.Change) bool { return !is.file(c) }) {
			return nil
		}
		if i == 0 {
			files = pathsOf(changes)
		}
	}
	if !is.sameBuilds() {
		return nil
	}
	return files
}

// heldAgainst are the commits from which a change must touch the gate alone, what it would be merged into first. Of a merge
// queue that is also the branch as it stands: what is before a change in the queue may be another one, with code.
func (a *action) heldAgainst() []string {
	all := []string{a.refs.base}
	for _, rev := range []string{a.refs.rules, a.refs.baselines} {
		if !slices.Contains(all, rev) {
			all = append(all, rev)
		}
	}
	if g := a.job.Group; g != nil {
		all = append(all, "refs/remotes/origin/"+strings.TrimPrefix(g.BaseRef, "refs/heads/"))
	}
	return all
}

// atTop reports whether the working folder is the repository's topmost: there a config's path is that of git.
func (a *action) atTop() bool {
	top, err := repo.Tree(a.sh.ctx, "")
	return err == nil && top != "" && sameFolder(top, ".")
}

// gatePlaces are the files that belong to the gate, on both sides of a change.
type gatePlaces struct {
	before, after   map[string][]byte // configs, by their path
	runners         map[string]bool   // those that a config of either side is of
	placed, replace map[string]baseline.Placed
}

func (a *action) gatePlaces() (p gatePlaces, err error) {
	if p.before, err = a.gateConfigs(a.refs.rules); err != nil {
		return p, err
	}
	if p.after, err = a.gateConfigs("HEAD"); err != nil {
		return p, err
	}
	p.runners = map[string]bool{}
	for _, side := range []map[string][]byte{p.before, p.after} {
		for file, text := range side {
			if c, err := config.Parse(file, text); err == nil {
				p.runners[c.Runner] = true
			}
		}
	}
	if p.placed, err = placedAt(a.refs.baselines); err != nil {
		return p, err
	}
	p.replace, err = placedAt("HEAD")
	return p, err
}

func placedAt(rev string) (map[string]baseline.Placed, error) {
	list, err := baseline.PlacedAt(rev)
	all := map[string]baseline.Placed{}
	for _, p := range list {
		all[p.Path] = p
	}
	return all, err
}

// file reports whether a path belongs to the gate, and is a regular file as long as it is there.
func (p gatePlaces) file(c repo.Change) bool {
	if !c.Regular() {
		return false
	}
	if p.before[c.Path] != nil || p.after[c.Path] != nil || slices.Contains(besideConfigs, c.Path) {
		return true
	}
	was, before := p.placed[c.Path]
	is, after := p.replace[c.Path]
	of := was
	if after {
		of = is
	}
	if !before && !after || bench.CheckName("runner", of.Runner) != nil || bench.CheckName("scenario", of.Scenario) != nil {
		return false
	}
	// What no config has a runner for may be anything, and a build may read it.
	return (!after || is.Check() == nil) && (!before || p.runners[of.Runner] || was.Check() == nil)
}

// sameBuilds reports whether no config that differs puts another build under test than at base. One that cannot be read there puts none.
func (p gatePlaces) sameBuilds() bool {
	for file, text := range p.after {
		if bytes.Equal(text, p.before[file]) {
			continue
		}
		is, err := config.Parse(file, text)
		if err != nil {
			return false
		}
		if p.before[file] == nil {
			continue
		}
		if was, err := config.Parse(file, p.before[file]); err == nil && !config.SameBuild(was, is) {
			return false
		}
	}
	return true
}

// pardons reports whether what is measured on a runner is base's own build, since the change touches the gate alone. Of a
// config that is not there at base nobody knows what would be measured.
func (a *action) pardons(q asked) bool {
	return len(a.gateFiles()) > 0 && (q.alone != "head" || q.unread != nil)
}

// pardoned says so, with each file.
func (a *action) pardoned(q asked) []string {
	if !a.pardons(q) {
		return nil
	}
	return []string{fmt.Sprintf("the change touches the gate alone (%s): what was measured is the build of base, and no fault of this change", strings.Join(a.gateFiles(), ", "))}
}

// accepted are the baselines that a runner is held against, and where they stand. For a change that touches the gate alone, as
// a repair does, those that cannot be read count as none.
func (a *action) accepted(q asked) (digests []bench.Digest, from string, faults []baseline.Fault, err error) {
	if !a.pardons(q) {
		digests, from, err = readBaseline(a.baselines(), q.Runner)
		if err != nil && a.refs.baselines != "" {
			err = withHint(err, "a change that touches nothing but baselines and configs can mend it: https://github.com/benchgate/benchgate/blob/main/docs/github.md#when-the-gate-itself-is-in-the-way")
		}
		return digests, from, nil, err
	}
	return soundBaseline(a.baselines(), q.Runner)
}

// faulty says which baselines cannot be read at base.
func faulty(faults []baseline.Fault) []string {
	var lines []string
	for _, f := range faults {
		lines = append(lines, fmt.Sprintf("%s cannot be read at base, and counts as none: %v", f.File, f.Err))
	}
	return lines
}
