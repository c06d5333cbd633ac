package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/repo"
)

type runCmd struct {
	Config   string        `short:"c" default:"benchgate.yaml" placeholder:"FILE" help:"What to measure."`
	Output   string        `short:"o" default:"benchgate-out" placeholder:"DIR" help:"Where results go."`
	Scenario []string      `placeholder:"NAME" help:"Only these scenarios."`
	Runs     int           `help:"Runs per session instead of the config's."`
	Baseline string        `default:"baselines" placeholder:"FILE|DIR|ref:SHA" help:"The baseline that this will be held against: both sides send the same text."`
	Plan     bool          `help:"Print what would be done and how long it takes, and stop."`
	Fresh    bool          `help:"Set an earlier campaign of the same commit and plan aside instead of continuing it."`
	Lock     string        `placeholder:"NAME" help:"What two campaigns on this machine must not share, instead of the accelerators that are found. It is waited for, outside the budget."`
	Wait     time.Duration `name:"lock-timeout" placeholder:"DURATION" help:"How long to wait for that, such as 60m; as long as it takes by default."`
	Set      []string      `sep:"none" placeholder:"KEY=VALUE" help:"Override a key of the config."`
	SaveText bool          `help:"Keep prompts' answers in campaign.jsonl."`
	Sound    bool          `kong:"-"` // leave out what cannot be read of the baseline
	Paid     bool          `name:"yes-this-costs-money" help:"Measure a paid public endpoint."`
}

// Run measures what is missing and writes digests, rows and vLLM-shaped results.
func (c runCmd) Run(sh *shell) error {
	conf, from, err := c.config(sh)
	if err != nil {
		return err
	}
	return c.follow(sh, conf, from)
}

// follow measures what a config asks for. Notes are what there is to say of the config; they stay on record.
func (c runCmd) follow(sh *shell, conf config.Config, from inherited, notes ...string) error {
	if c.Wait < 0 {
		return withHint(fmt.Errorf("--lock-timeout is %s", c.Wait), "write how long to wait, such as 60m; leave it out to wait as long as it takes")
	}
	base, faults, err := c.base(conf.Runner)
	if err != nil {
		return fmt.Errorf("baseline: %w", err)
	}
	notes = append(notes, faulty(faults)...)
	plan, err := planFor(conf, base, c.Scenario, c.Runs)
	if err != nil {
		return err
	}
	id, err := identify(sh, plan, base)
	if err != nil {
		return err
	}
	if plan, err = c.resume(sh, plan, id); err != nil {
		return err
	}
	if c.Runs > 0 && conf.Campaign.Design == "interleaved" {
		plan.Notes = append(plan.Notes, "--runs is not used by design: interleaved, whose looks say how many visits there are")
	}
	doubts, err := heldTo(sh, plan, c.Baseline)
	if err != nil {
		return err
	}
	plan.Notes = slices.Concat(plan.Notes, notes, from.doubts(), doubts, plan.Crowded(openFiles()))
	tellPlan(sh, plan, c.Plan, from.told()...)
	if err := possible(plan); err != nil || c.Plan {
		return err
	}
	if err := c.allowed(sh, plan); err != nil {
		return err
	}
	if err := housed(plan); err != nil {
		return err
	}
	return measure(sh, c.options(sh, plan, base, id), c.Output)
}

func (c runCmd) base(runner string) (base []bench.Digest, faults []baseline.Fault, err error) {
	if c.Sound {
		base, _, faults, err = soundBaseline(c.Baseline, runner)
		return base, faults, err
	}
	base, _, err = readBaseline(c.Baseline, runner)
	return base, nil, err
}

// config reads the config with what --set changes in it and with what its reference inherits.
func (c runCmd) config(sh *shell) (config.Config, inherited, error) {
	conf, err := oneConfig(c.Config)
	if err != nil || len(c.Set) == 0 && conf.Reference == nil {
		return conf, inherited{}, err
	}
	data, err := os.ReadFile(conf.File)
	if err != nil {
		return config.Config{}, inherited{}, err
	}
	for _, kv := range c.Set {
		key, value, ok := strings.Cut(kv, "=")
		if !ok {
			return config.Config{}, inherited{}, withHint(fmt.Errorf("--set %s has no value", key), "write --set scenarios.chat.load.rate=4")
		}
		if data, err = config.Set(data, key, value); err != nil {
			return config.Config{}, inherited{}, err
		}
	}
	return besideReference(sh, conf.File, data)
}

// oneConfig reads a config file, or the only one of a folder of them.
func oneConfig(path string) (config.Config, error) {
	all, err := config.Folder(path)
	if err != nil {
		return config.Config{}, err
	}
	if len(all) != 1 {
		var names []string
		for _, c := range all {
			names = append(names, c.File)
		}
		return config.Config{}, withHint(fmt.Errorf("%q holds the configs of %d runners", path, len(all)), "say which with -c: %s", strings.Join(names, ", "))
	}
	return all[0], nil
}

func scenarioNames(digests []bench.Digest) []string {
	var names []string
	for _, d := range digests {
		names = append(names, d.Scenario)
	}
	return names
}

// durations is how long one run of each scenario took, by the newest run of the baseline, in seconds.
func durations(base []bench.Digest) map[string]float64 {
	known := map[string]float64{}
	for _, d := range base {
		for _, r := range allRuns(d) {
			known[d.Scenario] = r.Duration
		}
	}
	return known
}

// allowed refuses a target that is not ours to load.
func (c runCmd) allowed(sh *shell, p campaign.Plan) error {
	targets := []config.Target{p.Config.Target}
	if r := turnedWith(p); r != nil {
		targets = append(targets, *r)
	}
	for _, t := range targets {
		if err := c.allows(sh, t, p); err != nil {
			return err
		}
	}
	return nil
}

func (c runCmd) allows(sh *shell, t config.Target, p campaign.Plan) error {
	t.BaseURL = strings.ReplaceAll(t.BaseURL, "{port}", "80") // any port will do: the host is what is asked
	if openai.IsPaid(t.BaseURL) && !c.Paid {
		return withHint(fmt.Errorf("target %q is a paid public endpoint; this plan sends %d requests and up to %d tokens", t.BaseURL, p.Requests, p.Tokens),
			"if that is what you want, add --yes-this-costs-money and target.remote: allow")
	}
	local, err := openai.IsLocal(sh.ctx, t.BaseURL)
	if err != nil {
		return &campaign.ServerError{Doing: "find the target", Err: err}
	}
	if !local && !t.Remote {
		return withHint(fmt.Errorf("target %q is neither loopback nor a private address; this plan sends %d requests and up to %d tokens", t.BaseURL, p.Requests, p.Tokens),
			"if that server is yours to load, set target.remote: allow")
	}
	if !local { // said even under -q: it is somebody's bill
		fmt.Fprintf(sh.stderr, "remote target %s: this plan sends %d requests and up to %d tokens\n", t.BaseURL, p.Requests, p.Tokens)
	}
	return nil
}

// identity is what a campaign goes by: the commits of both sides, empty where unknown, and its key. The checkout is the commit
// of a reference that has one of its own.
type identity struct{ commit, reference, checkout, key string }

func identify(sh *shell, plan campaign.Plan, base []bench.Digest) (identity, error) {
	hash, err := plan.Hash()
	if err != nil {
		return identity{}, err
	}
	file := plan.Config.File
	id := identity{commit: commitOf(sh, filepath.Dir(file), filepath.Base(file))}
	if r := turnedWith(plan); r != nil {
		id.reference = commitOf(sh, beside(file, r.Dir), filepath.Base(file))
		if _, own, err := treeOf(sh, file, r); err == nil && own && len(r.Command) > 0 {
			id.checkout = id.reference
		}
	}
	id.key, err = campaign.Key(id.commit+id.reference, hash, base)
	return id, err
}

// resume takes the time of a plan from the campaign that it will go on with, if there is one.
func (c runCmd) resume(sh *shell, plan campaign.Plan, id identity) (campaign.Plan, error) {
	if c.Fresh {
		return plan, nil
	}
	return plan.Resume(filepath.Join(stateFolder(sh.getenv), id.key))
}

func (c runCmd) options(sh *shell, plan campaign.Plan, base []bench.Digest, id identity) campaign.Options {
	referenceKey := ""
	if r := turnedWith(plan); r != nil {
		referenceKey = sh.getenv(r.APIKeyEnv)
	}
	texts := map[string]bench.Calibration{}
	for _, d := range base {
		if d.Text.Method != "" {
			texts[d.Scenario] = d.Text
		}
	}
	return campaign.Options{
		Plan: plan, State: stateFolder(sh.getenv), Key: id.key, Fresh: c.Fresh, Commit: id.commit,
		Unknown: unknown(plan, id),
		Tool:    "benchgate " + programVersion(), ID: sh.now().UTC().Format("20060102T150405Z"),
		APIKey: sh.getenv(plan.Config.Target.APIKeyEnv), ReferenceKey: referenceKey, ReferenceCommit: id.reference, ReferenceCheckout: id.checkout,
		Lock: c.Lock, LockTimeout: c.Wait,
		Stage1: firstStage(plan, base), Look: atLook(plan, base), Host: host.Describe(sh.ctx), Texts: texts, KeepText: c.SaveText,
		Progress: sh.talk.progress, Say: func(s string) { sh.talk.say("%s", s) }, Now: sh.now,
	}
}

// stateFolder is where campaigns live while they grow.
func stateFolder(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "benchgate")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "benchgate")
	}
	return filepath.Join(os.TempDir(), "benchgate-state")
}

// commitOf names the commit under a folder, with a mark of the changes when the working tree differs; empty outside a
// repository. The config is left out: what it asks for is in the plan.
func commitOf(sh *shell, folder, config string) string {
	git := func(args ...string) (string, error) {
		out, err := repo.Command(sh.ctx, folder, args...).Output()
		return strings.TrimSpace(string(out)), err
	}
	sha, err := git("rev-parse", "HEAD")
	if err != nil {
		return ""
	}
	changes, err := git("diff", "--no-ext-diff", "--no-textconv", "HEAD", "--", ":/", ":(exclude)"+config)
	if err != nil {
		return ""
	}
	if changes != "" {
		return fmt.Sprintf("%s+changes-%.4x", sha, sha256.Sum256([]byte(changes)))
	}
	return sha
}
