package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/repo/repotest"
)

// With several runners the verdict's job gives the folder of the configs, and each that measures gives its own file.
func TestEachRunnersJobTellsAChangeOfTheGateAsTheVerdictsDoes(t *testing.T) {
	second := strings.Replace(aloneConfig, "runner: lab", "runner: second", 1)
	conflict := "<<<<<<< HEAD\n"
	whole := map[string]string{
		"benchgate/lab.yaml": aloneConfig, "benchgate/second.yaml": second, "server.py": "serve()\n", "prompts.jsonl": "", "baselines/data/flags.json": `{"sleep": 0}`,
		"baselines/lab/chat.json": baselineText(t, "lab", "chat", "0.3"), "baselines/second/chat.json": baselineText(t, "second", "chat", "0.3"),
	}
	mends := func(names ...string) func(g grown) {
		return func(g grown) {
			for _, name := range names {
				g.put(name, whole[name])
			}
		}
	}
	type row struct {
		gateChange
		broken map[string]string // files at base, instead of the whole ones
	}
	configs, baselines := []string{"benchgate/lab.yaml", "benchgate/second.yaml"}, []string{"baselines/lab/chat.json", "baselines/second/chat.json"}
	rows := []row{
		{gateChange{"both configs are mended", mends(configs...), strings.Join(configs, " ")}, map[string]string{configs[0]: conflict, configs[1]: conflict}},
		{gateChange{"one config of two is mended", mends(configs[0]), configs[0]}, map[string]string{configs[0]: conflict, configs[1]: "x"}},
		{gateChange{"baselines of both are mended", mends(baselines...), strings.Join(baselines, " ")}, map[string]string{baselines[0]: conflict, baselines[1]: conflict}},
		{gateChange{"code called like a config", func(g grown) { g.put("benchgate/deep/x.yaml", aloneConfig) }, ""}, nil},
	}
	for _, c := range gateChanges(t) {
		c.want = strings.Replace(c.want, "benchgate.yaml", "benchgate/lab.yaml", 1)
		if c.name == "a config where the gate has none" {
			c.want = "benchgate/other.yaml" // here it has
		}
		rows = append(rows, row{c, nil})
	}
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range whole {
				files[name] = text
			}
			for name, text := range c.broken {
				files[name] = text
			}
			folder, _ := repotest.New(t, files)
			repotest.Git(t, folder, "checkout", "-q", "-b", "head")
			c.change(grown{t, folder, "benchgate/lab.yaml"})
			repotest.Commit(t, folder)
			t.Chdir(folder)
			got := map[string]string{}
			for _, config := range append(configs, "benchgate") {
				a := aloneFrom(t, "main")
				a.in.config = config
				got[config] = strings.Join(a.gateFiles(), " ")
			}
			want := map[string]string{"benchgate": c.want, configs[0]: c.want, configs[1]: c.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Two configs at base are of one runner, which the job of one of them cannot see in its own file.
func TestEachRunnersJobIsMeasuredByAConfigThatItsTwinSpoilt(t *testing.T) {
	other := strings.Replace(aloneConfig, "runner: lab", "runner: other", 1)
	folder, _ := repotest.New(t, map[string]string{"benchgate/a.yaml": aloneConfig, "benchgate/b.yaml": aloneConfig})
	repotest.Git(t, folder, "checkout", "-q", "-b", "mends")
	repotest.Put(t, folder, "benchgate/b.yaml", other)
	repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "-b", "rule", "main")
	repotest.Put(t, folder, "benchgate/b.yaml", strings.Replace(aloneConfig, "5%", "9%", 1))
	repotest.Commit(t, folder)
	t.Chdir(folder)
	for _, c := range []struct {
		head, config, runner string
		unread               bool
	}{
		{"mends", "benchgate/a.yaml", "lab", true},
		{"mends", "benchgate/b.yaml", "other", true},
		{"rule", "benchgate/b.yaml", "lab", false}, // nobody asks for both: they are of one runner at different times
	} {
		repotest.Git(t, folder, "checkout", "-q", c.head)
		a := aloneFrom(t, "main")
		a.in.config = c.config
		all, err := a.asked()
		if err != nil || len(all) != 1 || all[0].Runner != c.runner || (all[0].unread != nil) != c.unread {
			t.Errorf("%s, %s: %+v, error %v", c.head, c.config, all, err)
		}
	}
}

func TestAnUnusableConfigThatIsRemovedLeavesNothingToMeasureBy(t *testing.T) {
	folder, _ := repotest.New(t, map[string]string{"benchgate.yaml": "<<<<<<< HEAD\n"})
	repotest.Git(t, folder, "checkout", "-q", "-b", "head")
	repotest.Git(t, folder, "rm", "-q", "benchgate.yaml")
	repotest.Commit(t, folder)
	t.Chdir(folder)
	if all, err := aloneFrom(t, "main").asked(); err == nil || !strings.Contains(err.Error(), "the change removes it") {
		t.Errorf("%+v, error %v", all, err)
	}
}
