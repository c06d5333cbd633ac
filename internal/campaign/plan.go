// Package campaign runs the protocol of a measurement: plan, server, warm-up, runs, replays of void runs.
package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/load"
	"github.com/benchgate/benchgate/internal/openai"
)

// Plan is what a campaign will do, known before anything is started.
type Plan struct {
	Config    config.Config
	Scenarios []config.Scenario
	// Runs is how many valid runs every scenario needs in the committed part.
	Runs int
	// Based names the scenarios that have a baseline: those that a confirm campaign first holds against it. See Against.
	Based []string
	// Parts bound the time of each part of the campaign: one, or the two stages of confirm.
	Parts []Share
	// Best and Worst bound the time that it will take.
	Best, Worst time.Duration
	// Requests and Tokens are upper bounds of what the servers will be asked, warm-up included.
	Requests, Tokens int
	// Guessed says that a closed loop's time rests on the assumed speeds below, since no earlier run is known.
	Guessed bool
	// Begun says that a campaign of this plan lies in the state folder and will go on. Its own runs are then known.
	Begun bool
	// Notes are what a reader should mind before anything is measured.
	Notes  []string
	folder string
	known  map[string]float64
	// demands keeps what the scenarios ask, since their files may be large.
	demands map[string]demand
}

// voidShare is the share of a side's runs that may be measured again.
const voidShare = 0.20

// replays is how many void runs a scenario may have: as many as keep within voidShare of all that were measured.
func replays(runs int) int { return int(voidShare * float64(runs) / (1 - voidShare)) }

// NewPlan plans a campaign for the named scenarios (none: all) with the given number of runs (0: the config's).
// Folder is where relative paths of the config start. Known maps a scenario to the seconds of one earlier run of it.
func NewPlan(c config.Config, folder string, names []string, runs int, known map[string]float64) (Plan, error) {
	p := Plan{Config: c, Runs: c.Campaign.Runs, folder: folder, known: known, demands: map[string]demand{}}
	if runs > 0 {
		p.Runs = runs
	}
	if p.turns() && c.Reference == nil {
		return Plan{}, fmt.Errorf("campaign.design %q compares with a second build, and there is no reference", c.Campaign.Design)
	}
	for _, n := range names {
		if _, ok := c.Scenario(n); !ok {
			return Plan{}, fmt.Errorf("scenario %q is not in %s", n, c.File)
		}
	}
	for _, s := range c.Scenarios {
		if len(names) == 0 || slices.Contains(names, s.Name) {
			p.Scenarios = append(p.Scenarios, s)
		}
	}
	p.Notes = p.notes()
	return p, p.estimate()
}

// Against says which scenarios have a baseline. Only a confirm campaign asks: it measures those against it first.
func (p Plan) Against(scenarios []string) (Plan, error) {
	p.Based = slices.Clone(scenarios)
	return p, p.estimate()
}

// Resume plans the rest of a campaign that lies in a folder, whose own runs say how long one takes. Without one the plan
// stays as it is; one that cannot be read is named when the campaign is opened.
func (p Plan) Resume(folder string) (Plan, error) {
	f, err := os.Open(filepath.Join(folder, JournalFile))
	if err != nil {
		return p, nil
	}
	defer f.Close()
	log, err := bench.ReadCampaign(f, f.Name())
	if err != nil {
		return p, nil
	}
	p.Begun, p.known = true, maps.Clone(p.known)
	if p.known == nil {
		p.known = map[string]float64{}
	}
	for _, r := range log.Runs {
		if !r.WarmUp && r.OK > 0 {
			p.known[r.Scenario] = r.Duration
		}
	}
	err = p.estimate()
	return p, err
}

// turns reports whether both sides are measured in turn, sooner or later.
func (p Plan) turns() bool { return p.Config.Campaign.Design != "committed" }

// lastLook is how many visits a side there are at most.
func (p Plan) lastLook() int { return slices.Max(p.Config.Campaign.Looks) }

// stage is the number of the committed part: 1 where another may follow.
func (p Plan) stage() int {
	if p.turns() {
		return 1
	}
	return 0
}

// plain are the scenarios of the committed part.
func (p Plan) plain() []config.Scenario {
	switch p.Config.Campaign.Design {
	case "committed":
		return p.Scenarios
	case "confirm":
		return slices.DeleteFunc(slices.Clone(p.Scenarios), func(s config.Scenario) bool { return !slices.Contains(p.Based, s.Name) })
	}
	return nil
}

// notes are said of a plan that asks less than it seems to.
func (p Plan) notes() []string {
	if !p.turns() {
		return nil
	}
	var all []string
	if reflect.DeepEqual(p.Config.Target, *p.Config.Reference) {
		all = append(all, "reference is the target itself, with the same command in the same folder: a build is compared with itself")
	}
	for side, t := range map[string]config.Target{"target": p.Config.Target, "reference": *p.Config.Reference} {
		if len(t.Command) == 0 {
			all = append(all, side+" has no command: its server is not restarted between visits, so each visit finds what the one before left")
		}
	}
	slices.Sort(all)
	return all
}

// demand is what one pass asks of the server.
type demand struct {
	perRequest float64 // tokens in and out, an upper bound of the mean
	longest    int     // output tokens
}

// leastBytes is how few bytes of text a token stands for, at the least, in common tokenizers on common text.
const leastBytes = 3

// asks says what a pass of a scenario asks. The first time the files of datasets are read: what is wrong with them is known
// before anything is started.
func (p *Plan) asks(s config.Scenario) (demand, error) {
	if d, ok := p.demands[s.Name]; ok {
		return d, nil
	}
	d, err := p.reads(s)
	if err == nil {
		p.demands[s.Name] = d
	}
	return d, err
}

// reads reads the workload: prompts of a file have the length that they have, and may ask for a length of their own.
func (p *Plan) reads(s config.Scenario) (demand, error) {
	if load.MadeUp(s.Dataset) {
		in := float64(s.Dataset.PrefixTokens) + float64(s.Dataset.InputTokens)*(1+s.Dataset.Range)
		return demand{perRequest: in + float64(s.OutputTokens), longest: s.OutputTokens}, nil
	}
	w, err := load.Prompts(s, p.folder, bench.Calibration{}, p.Config.Target.API)
	if err != nil {
		return demand{}, err
	}
	var a demand
	for _, n := range w.OutputTokens() {
		a.perRequest += float64(n) / float64(len(w.OutputTokens()))
		a.longest = max(a.longest, n)
	}
	prompts := w.Salted("")
	for _, q := range prompts {
		a.perRequest += float64(bytesOf(q)) / leastBytes / float64(len(prompts))
	}
	return a, nil
}

func bytesOf(q openai.Prompt) int {
	n := len(q.Text)
	for _, m := range q.Messages {
		n += len(m.Content)
	}
	return n
}

// Hash names the plan: the servers, their requests and their order, the looks, and the contents of data files. What only
// bounds or paces a campaign (budget, abort, cooldown, ready, stop) is not in it, nor is the place of a scenario in its file.
func (p Plan) Hash() (string, error) {
	h := sha256.New()
	for _, s := range p.Scenarios {
		s.At = config.Scenario{}.At
		if math.IsInf(s.Load.Burstiness, 1) {
			s.Load.Burstiness = -1 // JSON has no infinity
		}
		if err := json.NewEncoder(h).Encode(s); err != nil {
			return "", fmt.Errorf("hash scenario %q: %w", s.Name, err)
		}
		if s.Dataset.Path == "" {
			continue
		}
		if err := p.hashFile(h, s.Dataset); err != nil {
			return "", fmt.Errorf("read dataset of scenario %q: %w", s.Name, err)
		}
	}
	var metrics []string // those that no digest holds unasked are condensed for the rules
	for _, r := range p.Config.Policy.Rules {
		metrics = append(metrics, r.Metric)
	}
	rest := []any{p.Config.Runner, asked(p.Config.Target), p.Config.Campaign.WarmUp, p.Config.Sampling, p.Runs, metrics}
	if c := p.Config.Campaign; p.turns() {
		rest = append(rest, c.Design, asked(*p.Config.Reference), c.Looks, c.VisitRuns)
	}
	if c := p.Config.Campaign.Client; c != config.DefaultClient() {
		rest = append(rest, c) // runs of one campaign are held to the same limits
	}
	if err := json.NewEncoder(h).Encode(rest); err != nil {
		return "", fmt.Errorf("hash plan: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// hashFile adds the contents of a data file, which may be larger than memory.
func (p Plan) hashFile(to io.Writer, d config.Dataset) error {
	f, err := load.Open(d, p.folder)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(to, f)
	return err
}

// asked is what a target says of the server, without what only bounds its start and its stop.
func asked(t config.Target) config.Target {
	t.ReadyPath, t.ReadyIn, t.StopIn, t.StopCmd = "", 0, 0, nil
	return t
}

// Key names the campaign: the same commit, plan and baseline continue the same one. What a calibration found of the baseline's
// runner is no part of it: that moves no measurement.
func Key(commit, plan string, baseline []bench.Digest) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n", commit, plan)
	for _, d := range baseline {
		d.Noise = nil
		if err := bench.WriteDigest(h, d); err != nil {
			return "", fmt.Errorf("hash baseline of scenario %q: %w", d.Scenario, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}
