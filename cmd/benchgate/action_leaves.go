package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/repo"
)

// sound refuses a change that would leave the gate broken: once it were merged, no other change could be judged, nor mend it
// by a green check. A fault that base has already is a warning. All but datasets is read from git's objects.
func (a *action) sound() (warnings []string, err error) {
	if a.refs.base == "" || !a.proposed() {
		return nil, nil
	}
	changes, err := repo.Changed(a.sh.ctx, "", a.refs.base, "HEAD")
	if err != nil {
		return []string{fmt.Sprintf("whether the change leaves the gate whole cannot be told: %v", err)}, nil
	}
	touched := map[string]repo.Change{}
	for _, c := range changes {
		touched[c.Path] = c
	}
	placed, err := placedAt("HEAD")
	if err != nil {
		if slices.ContainsFunc(changes, func(c repo.Change) bool { return c.Path == baseline.Folder }) {
			return nil, withHint(fmt.Errorf("the change leaves no folder of baselines: %w", err), "baselines/ holds a folder for each runner")
		}
		return []string{err.Error()}, nil
	}
	for _, file := range slices.Sorted(maps.Keys(placed)) {
		if c, ok := touched[file]; ok && c.After != "" {
			if err := placed[file].Check(); err != nil {
				return nil, withHint(fmt.Errorf("the change leaves a baseline that cannot be read: %w", err),
					"take the file of the base commit back, or remove it with benchgate baseline rm and accept one anew")
			}
		}
	}
	before, err := a.runnersAt(a.refs.base, false)
	if err != nil {
		return nil, err
	}
	after, err := a.runnersAt("HEAD", true)
	if err != nil {
		return nil, err
	}
	if warnings, err = orphans(before, after, placed, touched); err != nil {
		return nil, err
	}
	more, err := a.overruns(before, after, touched)
	return slices.Concat(warnings, more), err
}

// orphans refuses a baseline that the change leaves without its scenario: it would be expected of every later change, and
// nothing would measure it.
func orphans(before, after map[string]config.Config, placed map[string]baseline.Placed, touched map[string]repo.Change) (warnings []string, err error) {
	for _, file := range slices.Sorted(maps.Keys(placed)) {
		p := placed[file]
		conf, configured := after[p.Runner]
		if _, ok := conf.Scenario(p.Scenario); ok || !configured {
			continue
		}
		was, known := before[p.Runner]
		_, had := was.Scenario(p.Scenario)
		what := fmt.Sprintf("%s has no scenario %q, and %s is its baseline", conf.File, p.Scenario, file)
		if c, ok := touched[file]; known && !had && (!ok || c.Before != "") {
			warnings = append(warnings, what+", as at base already; benchgate baseline rm "+p.Runner+" "+p.Scenario+" removes it")
			continue
		}
		return nil, withHint(fmt.Errorf("the change leaves a baseline without its scenario: %s", what),
			"benchgate baseline rm %s %s, in the same change; or keep the scenario", p.Runner, p.Scenario)
	}
	return warnings, nil
}

// runnersAt are the configs of a commit, by their runner. Strictly, a mistake in one is an error, and so are two of one runner.
func (a *action) runnersAt(rev string, strictly bool) (map[string]config.Config, error) {
	files, err := a.baseConfigs(a.configName(), rev)
	if err != nil && strictly {
		return nil, err
	}
	all := map[string]config.Config{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		c, err := config.Parse(file, files[file])
		other, twice := all[c.Runner]
		switch {
		case err != nil && strictly:
			return nil, err
		case err != nil:
		case twice && strictly:
			return nil, sameRunner(other.File, file, c.Runner)
		default:
			all[c.Runner] = c
		}
	}
	return all, nil
}

func sameRunner(one, other, runner string) error {
	return withHint(fmt.Errorf("%s and %s are both of runner %q", one, other, runner), "give each file its own runner: the name is that of the folder under baselines/")
}

// unsound are the configs at base that cannot be read, or that share their runner with another, and why.
func unsound(bases map[string][]byte) map[string]error {
	faults, first := map[string]error{}, map[string]string{}
	for _, file := range slices.Sorted(maps.Keys(bases)) {
		c, err := config.Parse(file+" at base", bases[file])
		if err != nil {
			faults[file] = err
			continue
		}
		if other, twice := first[c.Runner]; twice {
			err := sameRunner(other, file, c.Runner)
			faults[other], faults[file] = err, err
			continue
		}
		first[c.Runner] = file
	}
	return faults
}

// mended are the configs at base that cannot be used, and why, where a change that touches the gate alone mends them. A job that
// is given one file asks its neighbours too: two of one runner are only seen together.
func (a *action) mended(c configs) map[string]error {
	if len(c.bases) == 0 || len(a.gateFiles()) == 0 {
		return nil
	}
	before, err := a.gateConfigs(a.refs.rules)
	after, headErr := a.gateConfigs("HEAD")
	if err != nil || headErr != nil {
		return nil
	}
	faults, left := a.unusable(before), a.unusable(after)
	maps.DeleteFunc(faults, func(file string, _ error) bool { return left[file] != nil })
	return faults
}

// unusable are the configs that cannot be read, and those by which nothing is measured, held against the baselines at base.
func (a *action) unusable(configs map[string][]byte) map[string]error {
	faults := unsound(configs)
	for file, text := range configs {
		if faults[file] != nil {
			continue
		}
		conf, err := config.Parse(file, text)
		if err == nil {
			err, _ = a.overBudget(conf, a.refs.baselines)
		}
		if err != nil {
			faults[file] = err
		}
	}
	return faults
}

// unread says that a config cannot be read at base, in one line.
func (q asked) unreadLine() string {
	line, _, _ := strings.Cut(q.unread.Error(), "\n")
	return fmt.Sprintf("%s cannot be used at base (%s): its rules are those of the change itself", q.name, line)
}
