package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/repo"
	"github.com/benchgate/benchgate/internal/report"
)

// plan says, before the lab machine is taken, whether there is something to measure, and against which commit.
func (a *action) plan() error {
	needed, why, err := a.needed()
	if err != nil {
		return err
	}
	a.output("needed", strconv.FormatBool(needed))
	a.output("base", a.refs.base)
	if needed {
		fmt.Fprintf(a.sh.stdout, "the change is measured: %s\n", why)
		return nil
	}
	fmt.Fprintf(a.sh.stdout, "not needed: %s\n", why)
	a.summarize(func(int) string { return needless(why) })
	return nil
}

// needed says whether the change can matter to any runner, by its gate.paths as they stand at base. What cannot be told is
// measured; what would measure one build against itself is refused.
func (a *action) needed() (bool, string, error) {
	if a.refs.rules == "" {
		return true, "there is no base to compare it with", nil
	}
	all, err := a.asked()
	if err == nil {
		_, err = a.sound()
	}
	if err != nil {
		return false, "", err
	}
	needed, why, err := a.touches(all)
	if !needed || err != nil {
		return false, why, err
	}
	for _, q := range all {
		if err := a.twoBuilds(q); err != nil {
			return false, "", err
		}
	}
	return true, why, nil
}

func (a *action) touches(all []asked) (bool, string, error) {
	changes, err := repo.Changed(a.sh.ctx, "", a.refs.rules, "HEAD")
	if err != nil {
		return true, fmt.Sprintf("which files it touches cannot be told: %v", err), nil
	}
	why := ""
	for _, q := range all {
		var needed bool
		if needed, why = config.Needed(q.Paths, pathsOf(changes), q.Inputs(path.Dir(q.name))...); needed || q.alone != "" {
			return true, q.name + ": " + why, nil
		}
		if why := a.reached(q); why != "" {
			return true, q.name + ": " + why, nil
		}
	}
	for _, c := range changes {
		if what := c.Leads(); what != "" {
			return true, fmt.Sprintf("it changes %q, %s: gate.paths do not see which files that leads to", c.Path, what), nil
		}
	}
	return false, why, nil
}

func pathsOf(changes []repo.Change) []string {
	var all []string
	for _, c := range changes {
		all = append(all, c.Path)
	}
	return slices.Compact(all)
}

// reached says which file that the config reads differs, though no path that differs is called like it, since a link leads to it.
func (a *action) reached(q asked) string {
	for _, name := range q.Inputs(path.Dir(q.name)) {
		differs, err := repo.Differs(a.sh.ctx, "", a.refs.rules, "HEAD", name)
		switch {
		case err != nil:
			return fmt.Sprintf("whether it touches %q, which the config reads, cannot be told: %v", name, err)
		case differs:
			return fmt.Sprintf("it touches %q, which the config reads: a link leads to another file than at base", name)
		}
	}
	return ""
}

// needless says in Markdown that nothing had to be measured.
func needless(why string) string { return "**benchgate**: not needed, " + report.Aside(why) + ".\n" }
