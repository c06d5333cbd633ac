package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/repo/repotest"
)

// budgeted is a config whose plan may take so long.
func budgeted(budget string) string {
	return strings.Replace(aloneConfig, "scenarios:", "campaign: {budget: "+budget+"}\nscenarios:", 1)
}

func TestAChangeLeavesEachConfigTheTimeForItsPlan(t *testing.T) {
	const file, chat = "benchgate.yaml", "baselines/lab/chat.json"
	known := baselineText(t, "lab", "chat", "0.3") // its runs took 10 s each, so that the plan may take 13 minutes
	elsewhere := func(budget, dataset string) string {
		return strings.Replace(budgeted(budget), "prompts.jsonl", dataset, 1)
	}
	for _, c := range []struct {
		name       string
		base, head map[string]string // of head what differs
		err, warns string
		// own is the budget that the candidate is measured within.
		own time.Duration
	}{
		{"fits", map[string]string{file: budgeted("60m"), chat: known}, map[string]string{file: budgeted("50m")}, "", "", time.Hour},
		{
			"a budget that is too small",
			map[string]string{file: budgeted("60m"), chat: known},
			map[string]string{file: budgeted("60s")},
			"the change leaves benchgate.yaml without the time for its plan: the worst case of 12.7 min is over campaign.budget, 1.0 min", "", time.Hour,
		},
		{
			"a first config",
			map[string]string{chat: known},
			map[string]string{file: budgeted("60s")},
			"without the time for its plan", "", time.Minute,
		},
		{
			"a first baseline makes the worst case count",
			map[string]string{file: budgeted("60s")},
			map[string]string{chat: known},
			"without the time for its plan", "", time.Minute,
		},
		{
			"as at base",
			map[string]string{file: budgeted("60s"), chat: known},
			map[string]string{file: budgeted("50s"), "server.py": "x"},
			"", "is over campaign.budget, 50 s, as at base already", time.Minute,
		},
		{"restored", map[string]string{file: budgeted("60s"), chat: known}, map[string]string{file: budgeted("60m")}, "", "", time.Hour},
		{"restored with code", map[string]string{file: budgeted("60s"), chat: known}, map[string]string{file: budgeted("60m"), "server.py": "x"}, "", "", time.Minute},
		{"not enough restored", map[string]string{file: budgeted("60s"), chat: known}, map[string]string{file: budgeted("90s")}, "", "as at base already", time.Minute},
		{
			"a dataset of the machine",
			map[string]string{file: elsewhere("60m", "/proc/self/environ"), chat: known},
			map[string]string{file: elsewhere("60s", "/proc/self/environ")},
			"", "cannot be told: a dataset lies outside of the repository", time.Hour,
		},
		{
			"a dataset behind a link",
			map[string]string{file: elsewhere("60m", "link.jsonl"), chat: known},
			map[string]string{file: elsewhere("60s", "link.jsonl")},
			"", "not a regular file in that commit, but a symbolic link", time.Hour,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.base["prompts.jsonl"] = `{"prompt": "x"}` + "\n"
			folder, _ := repotest.New(t, c.base)
			if err := os.Symlink("/proc/self/environ", filepath.Join(folder, "link.jsonl")); err != nil {
				t.Fatal(err)
			}
			repotest.Commit(t, folder)
			repotest.Git(t, folder, "checkout", "-q", "-b", "head")
			for name, text := range c.head {
				repotest.Put(t, folder, name, text)
			}
			repotest.Commit(t, folder)
			t.Chdir(folder)
			a := aloneFrom(t, "main")
			warnings, err := a.sound()
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v", err)
			}
			if err != nil && !strings.Contains(strings.Join(hints(err), "\n"), "raise the budget") {
				t.Errorf("hints %q", hints(err))
			}
			if said := strings.Join(warnings, "\n"); (said == "") != (c.warns == "") || !strings.Contains(said, c.warns) {
				t.Errorf("warnings %q", said)
			}
			all, err := a.asked()
			if err != nil || len(all) != 1 || all[0].Campaign.Budget != c.own {
				t.Errorf("%+v, error %v", all, err)
			}
		})
	}
}
