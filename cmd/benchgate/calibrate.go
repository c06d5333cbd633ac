package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/noise"
)

type calibrateCmd struct {
	Config   string   `short:"c" default:"benchgate.yaml" placeholder:"FILE" help:"What to measure."`
	Output   string   `short:"o" default:"benchgate-calibration" placeholder:"DIR" help:"Where results go; baseline accept takes them with their noise."`
	Scenario []string `placeholder:"NAME" help:"Only these scenarios."`
	Runs     int      `default:"12" help:"How often each is measured. With fewer than 12 the spread itself is coarse."`
	Baseline string   `default:"baselines" placeholder:"DIR" help:"The runner's baselines: the noise found is stored in those of the same workload."`
	Plan     bool     `help:"Print what would be done and how long it takes, and stop."`
	Fresh    bool     `help:"Set an earlier calibration of the same commit and plan aside instead of continuing it."`
	Set      []string `sep:"none" placeholder:"KEY=VALUE" help:"Override a key of the config."`
	Paid     bool     `name:"yes-this-costs-money" help:"Measure a paid public endpoint."`
}

// fewestRuns is how few runs a calibration may have: a spread of fewer says nothing.
const fewestRuns = 5

// levelMetrics are those that every calibration looks at; those that rules name join them.
var levelMetrics = []string{"ttft.p50", "ttft.p95", "tpot.mean", "e2el.p95", "output.rate", "goodput.ratio"}

// Run measures one build many times, tells how far its runs differ and why, and stores that beside the baselines.
func (c calibrateCmd) Run(sh *shell) error {
	if c.Runs < fewestRuns {
		return withHint(fmt.Errorf("--runs %d: %d runs are the least that have a spread", c.Runs, fewestRuns), "leave it at 12 where the time allows")
	}
	r := runCmd{Config: c.Config, Scenario: c.Scenario, Runs: c.Runs, Baseline: c.Baseline, Plan: c.Plan, Fresh: c.Fresh, Set: c.Set, Paid: c.Paid}
	conf, _, err := r.config(sh) // a calibration measures the target alone
	if err != nil {
		return err
	}
	base, _, err := readBaseline(c.Baseline, conf.Runner)
	if err != nil {
		return fmt.Errorf("baseline: %w", err)
	}
	both, note := c.twice(conf)
	plan, err := campaign.NewPlan(both, filepath.Dir(conf.File), c.Scenario, c.Runs, durations(base))
	if err != nil {
		return err
	}
	id, err := identify(sh, plan, base)
	if err != nil {
		return err
	}
	if plan, err = r.resume(sh, plan, id); err != nil {
		return err
	}
	tellPlan(sh, plan, c.Plan)
	if note != "" {
		sh.talk.say("note: %s", note)
	}
	if err := possible(plan); err != nil || c.Plan {
		return err
	}
	if err := r.allowed(sh, plan); err != nil {
		return err
	}
	o := r.options(sh, plan, base, id)
	o.Dial = sh.dial
	log, err := gather(sh, o, c.Output)
	return c.conclude(sh, conf, log, base, err)
}

// conclude tells what was measured. A runner that spoilt too many runs is told as well, since whoever calibrates wants to
// know just that; but its noise is not stored, and the campaign's error stays one.
func (c calibrateCmd) conclude(sh *shell, conf config.Config, log bench.CampaignLog, base []bench.Digest, err error) error {
	if err == nil {
		return c.tell(sh, conf, log, base, true)
	}
	if !errors.Is(err, campaign.ErrSpoilt) {
		return err
	}
	if tellErr := c.tell(sh, conf, log, base, false); tellErr != nil {
		return errors.Join(err, tellErr)
	}
	for _, r := range log.Runs {
		if r.Void != "" && !r.WarmUp {
			fmt.Fprintf(sh.stdout, "%s: run %d is void: %s\n", r.Scenario, r.Order, r.Void)
		}
	}
	fmt.Fprintln(sh.stdout, "not stored: too many runs are void, and those that stand may be the quieter ones")
	return err
}

// twice is the config of an A/A measurement: in one start of the server where days are compared, else with the target on
// both sides, taking turns, since starts differ too. The note says what it cannot tell.
func (c calibrateCmd) twice(conf config.Config) (config.Config, string) {
	design := conf.Campaign.Design
	conf.Campaign.Design = "committed"
	if design == "committed" {
		return conf, ""
	}
	if len(conf.Target.Command) == 0 {
		return conf, fmt.Sprintf("without target.command all runs are measured in one start of the server; how far starts differ, which design %s meets, comes on top", design)
	}
	target := conf.Target
	conf.Reference = &target
	conf.Campaign.Design = "interleaved"
	conf.Campaign.Looks = []int{2 * ((c.Runs + 3) / 4)} // visits a side: even, and no fewer than asked for altogether
	return conf, fmt.Sprintf("design %s: every visit is a fresh start, and both sides are the target", design)
}

// tell prints each scenario's noise and stores it. What is not to be kept is told from as many runs on as have a spread.
func (c calibrateCmd) tell(sh *shell, conf config.Config, log bench.CampaignLog, base []bench.Digest, keep bool) error {
	var said []string
	for _, d := range campaign.Digests(log) {
		s, ok := conf.Scenario(d.Scenario)
		if !ok {
			continue
		}
		load := loadOf(s, log.Header)
		all, starts := together(d, campaign.References(log))
		report := noise.Measure(noise.Scenario{Digest: all, Requests: requestsByRun(log, all), Load: load, Starts: starts}, metricsOf(conf, d.Scenario))
		if !keep && report.Runs < fewestRuns {
			fmt.Fprintf(sh.stdout, "%s: %s without a fault, too few to have a spread\n\n", d.Scenario, count(report.Runs, "run"))
			continue
		}
		if err := tellNoise(sh.stdout, report, load, conf, s); err != nil {
			return err
		}
		if !keep {
			continue
		}
		found := report.Noise(d.Last())
		d.Noise = &found
		lines, err := c.store(d, base)
		if err != nil {
			return err
		}
		said = append(said, lines...)
	}
	if log.Header.Simulated {
		fmt.Fprintln(sh.stdout, "simulated: these numbers come from a server that only plays one")
	}
	for _, line := range said {
		fmt.Fprintln(sh.stdout, line)
	}
	return nil
}

// together joins both sides of an A/A measurement in turns, and says whether there were any: each visit then has a start of
// its own.
func together(d bench.Digest, references []bench.Digest) (all bench.Digest, starts bool) {
	all = d
	all.Sessions = slices.Clone(d.Sessions)
	for _, r := range references {
		if r.Scenario == d.Scenario {
			all.Sessions = append(all.Sessions, r.Sessions...)
			starts = true
		}
	}
	return all, starts
}

// store writes the noise into the results' digest, and into the baseline where that has the same workload. It says what it
// did.
func (c calibrateCmd) store(d bench.Digest, base []bench.Digest) (said []string, err error) {
	place := filepath.Join(d.Runner, d.Scenario+".json")
	path := filepath.Join(c.Output, place)
	if err := writeFile(path, func(f *os.File) error { return bench.WriteDigest(f, d) }); err != nil {
		return nil, err
	}
	said = append(said, "stored in "+path)
	name := filepath.Join(c.Baseline, place)
	if _, err := os.Stat(name); err != nil {
		return append(said, fmt.Sprintf("not stored in a baseline: there is no %s", name)), nil
	}
	for _, b := range base {
		if b.Scenario != d.Scenario {
			continue
		}
		if differs := bench.Compare(b, d).Incomparable; len(differs) > 0 {
			return append(said, fmt.Sprintf("not stored in %s: it was measured with another %s", name, differs[0].Name)), nil
		}
		return append(said, "stored in "+name), baseline.SetNoise(c.Baseline, d.Runner, d.Scenario, *d.Noise)
	}
	return said, nil
}

// metricsOf are the metrics that a scenario's calibration looks at.
func metricsOf(conf config.Config, scenario string) []string {
	names := slices.Clone(levelMetrics)
	for _, r := range conf.Policy.Rules {
		here := len(r.Scenarios) == 0 || slices.Contains(r.Scenarios, scenario)
		if here && r.Tolerance != nil && !slices.Contains(names, r.Metric) {
			names = append(names, r.Metric)
		}
	}
	return names
}

func requestsByRun(log bench.CampaignLog, d bench.Digest) map[int][]bench.Request {
	all := map[int][]bench.Request{}
	for _, s := range d.Sessions {
		for _, r := range s.Runs() {
			all[r.Order] = log.RequestsOf(r.Order)
		}
	}
	return all
}

// loadOf is how a scenario is sent, and to how many slots where the server says so.
func loadOf(s config.Scenario, h bench.Header) noise.Load {
	slots, err := strconv.Atoi(h.UnderTest["slots"])
	if err != nil {
		slots = 0
	}
	return noise.Load{Rate: s.Load.Rate, Concurrency: s.Load.Concurrency, Slots: slots}
}
