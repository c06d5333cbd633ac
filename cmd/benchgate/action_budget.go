package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/repo"
)

// overBudget is why nothing is measured by a config: its plan, as the baselines of a commit know it, is over campaign.budget.
// Untold is why that is not known.
func (a *action) overBudget(conf config.Config, rev string) (over, untold error) {
	if conf.Campaign.Budget == 0 {
		return nil, nil
	}
	names := slices.DeleteFunc(slices.Clone(a.in.scenarios), func(name string) bool {
		_, known := conf.Scenario(name)
		return !known
	})
	if len(names) < len(a.in.scenarios) && len(names) == 0 {
		return nil, nil
	}
	if err := a.tracksDatasets(conf); err != nil {
		return nil, err
	}
	base, _, _, err := soundBaseline("ref:"+rev, conf.Runner)
	if err != nil {
		return nil, err
	}
	plan, err := planFor(conf, base, names, 0)
	if err != nil {
		return nil, err
	}
	return affordable(plan), nil
}

// tracksDatasets refuses to read a dataset that is no regular file of the checkout's commit. Where a verdict is told there are
// secrets, and whoever proposes the change chooses the path.
func (a *action) tracksDatasets(conf config.Config) error {
	for _, s := range conf.Scenarios {
		switch d := s.Dataset.Path; {
		case d == "":
		case filepath.IsAbs(d):
			return errors.New("a dataset lies outside of the repository")
		default:
			if _, err := repo.File(a.sh.ctx, "", "HEAD", filepath.ToSlash(beside(conf.File, d))); err != nil {
				return err
			}
		}
	}
	return nil
}

// overruns refuses a config that the change leaves without the time for its plan: by it nothing would be measured any more. One
// that has not enough at base is a warning.
func (a *action) overruns(before, after map[string]config.Config, touched map[string]repo.Change) (warnings []string, err error) {
	for _, runner := range slices.Sorted(maps.Keys(after)) {
		conf := after[runner]
		over, untold := a.overBudget(conf, "HEAD")
		if untold != nil && touches(touched, conf) {
			warnings = append(warnings, fmt.Sprintf("whether the plan of %s fits its budget cannot be told: %v", conf.File, untold))
		}
		if over == nil {
			continue
		}
		if was, _ := a.overBudget(before[runner], a.refs.base); was == nil {
			return nil, fmt.Errorf("the change leaves %s without the time for its plan: %w", conf.File, over)
		}
		warnings = append(warnings, fmt.Sprintf("%s: %v, as at base already", conf.File, over))
	}
	return warnings, nil
}

// touches reports whether a change touches a config, or a baseline of its runner.
func touches(touched map[string]repo.Change, conf config.Config) bool {
	for file := range touched {
		if file == conf.File || strings.HasPrefix(file, baseline.Folder+"/"+conf.Runner+"/") {
			return true
		}
	}
	return false
}
