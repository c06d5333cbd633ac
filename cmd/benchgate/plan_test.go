package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
)

const plannedConfig = `version: 1
runner: lab
target:
  base_url: http://127.0.0.1:{port}/v1
  model: m
  command: [serve, "{port}"]
  ready: {within: 60s}
reference: {dir: base}
campaign: {design: %s, budget: %s, visit_runs: %d}
scenarios:
  one:
    dataset: {kind: random, input_tokens: 10}
    output_tokens: 1
    load: {rate: 1, requests: 60}
    primary: {metric: ttft.p95}
`

func planned(t *testing.T, design, budget string, visitRuns int, based ...string) campaign.Plan {
	t.Helper()
	conf, err := config.Parse("benchgate.yaml", fmt.Appendf(nil, plannedConfig, design, budget, visitRuns))
	if err != nil {
		t.Fatal(err)
	}
	p, err := campaign.NewPlan(conf, ".", nil, 0, nil)
	if err == nil {
		p, err = p.Against(based)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPlanOverItsBudgetIsRefusedWithWhatWouldHelp(t *testing.T) {
	for name, test := range map[string]struct {
		plan campaign.Plan
		want []string // nil: it is affordable
		not  []string
	}{
		"committed":           {planned(t, "committed", "5m", 1), []string{"campaign.runs", "load.requests", "target.ready.within"}, []string{"looks"}},
		"committed, time":     {planned(t, "committed", "30m", 1), nil, nil},
		"interleaved":         {planned(t, "interleaved", "30m", 1), []string{"campaign.looks", "each of 20 starts", "load.requests"}, []string{"campaign.runs", "visit_runs"}},
		"interleaved, twice":  {planned(t, "interleaved", "30m", 2), []string{"campaign.visit_runs"}, nil},
		"interleaved, time":   {planned(t, "interleaved", "90m", 1), nil, nil},
		"confirm":             {planned(t, "confirm", "30m", 1, "one"), []string{"campaign.runs", "campaign.looks"}, nil},
		"confirm, no base":    {planned(t, "confirm", "30m", 1), []string{"campaign.looks"}, []string{"campaign.runs"}},
		"confirm, both fit":   {planned(t, "confirm", "90m", 1, "one"), nil, nil},
		"confirm, only first": {planned(t, "confirm", "65m", 1, "one"), []string{"campaign.looks"}, nil},
	} {
		err := affordable(test.plan)
		if (err != nil) != (test.want != nil) {
			t.Errorf("%s: worst %s: %v", name, test.plan.Worst, err)
			continue
		}
		if err == nil {
			continue
		}
		hint := strings.Join(hints(err), "\n")
		for _, want := range test.want {
			if !strings.Contains(hint, want) {
				t.Errorf("%s: %q is missing in %q", name, want, hint)
			}
		}
		for _, not := range test.not {
			if strings.Contains(hint, not) {
				t.Errorf("%s: %q does not fit the design: %q", name, not, hint)
			}
		}
	}
}

func TestACampaignThatHasBegunKnowsItsOwnTime(t *testing.T) {
	inShop(t, func(s *shop) {
		s.sh.getenv = func(key string) string {
			if key == "XDG_STATE_HOME" {
				return s.path("xdg")
			}
			return ""
		}
		s.must(os.Mkdir(s.path("baselines"), 0o755))
		c := runCmd{Config: s.path("benchgate.yaml"), Baseline: s.path("baselines"), Plan: true, Set: []string{"campaign.looks=[4, 80]", "campaign.budget=120s", "campaign.design=interleaved"}}
		plan := func() string {
			s.out.Reset()
			s.must(c.Run(s.sh))
			return s.out.String()
		}
		if text := plan(); strings.Contains(text, "has begun") || !strings.Contains(text, "its time assumes") {
			t.Errorf("before it began:\n%s", text)
		}
		s.edit = func(o *campaign.Options) {
			id, err := identify(s.sh, o.Plan, nil)
			s.must(err)
			o.Look = func(_, _ []bench.Digest) []string { return []string{"chat", "other"} } // open until the budget's end
			o.State, o.Key = s.path("xdg", "benchgate"), id.key
		}
		s.must(s.run("out", "interleaved", "campaign.looks=[4, 80]", "campaign.budget=120s"))
		if text := plan(); !strings.Contains(text, "has begun") || strings.Contains(text, "its time assumes") {
			t.Errorf("a campaign that goes on:\n%s", text)
		}
	})
}

func TestAPlanSaysWhatEachDesignDoes(t *testing.T) {
	for name, test := range map[string]struct {
		plan campaign.Plan
		want []string
	}{
		"committed":            {planned(t, "committed", "1h", 1), []string{"1 scenario × (1 warm-up run + 5 runs), design committed"}},
		"interleaved":          {planned(t, "interleaved", "1h", 2), []string{"6 to 10 visits a side, each a fresh start with 16 warm-up requests and 2 runs of every scenario, design interleaved"}},
		"confirm":              {planned(t, "confirm", "1h", 1, "one"), []string{"first stage, 1 scenario × (1 warm-up run + 5 runs): ", "second stage, only of what the first leaves open: "}},
		"confirm, no baseline": {planned(t, "confirm", "1h", 1), []string{"1 scenario without a baseline: straight to the second stage"}},
	} {
		var out bytes.Buffer
		tellPlan(&shell{stdout: &out, now: time.Now, talk: newTalk(&out, true, false, false, os.Getenv)}, test.plan, true)
		for _, want := range append(test.want, "at best, ", "requests") {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, out.String())
			}
		}
	}
}

func TestPlanWithoutFilesForItsStreamsIsRefused(t *testing.T) {
	p := campaign.Plan{Scenarios: []config.Scenario{{Name: "chat", Load: config.Load{Concurrency: 256, Requests: 512}}}}
	err := holdable(p, 256)
	if err == nil || exitCode(t.Context(), err) != exitUsage || !strings.Contains(err.Error(), `scenario "chat" needs about 832 open files`) {
		t.Fatalf("error is %v", err)
	}
	if said := strings.Join(hints(err), "\n"); !strings.Contains(said, "ulimit -Hn 1664") || !strings.Contains(said, "load.concurrency") {
		t.Errorf("hints are %q", said)
	}
	for _, limit := range []uint64{0, 832, 1 << 20} {
		if err := holdable(p, limit); err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}
