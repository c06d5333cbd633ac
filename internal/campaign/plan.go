// Package campaign runs the protocol of a measurement: plan, server, warm-up, runs, replays of void runs.
package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
)

// Plan is what a campaign will do, known before anything is started.
type Plan struct {
	Config    config.Config
	Scenarios []config.Scenario
	// Runs is how many valid runs every scenario needs.
	Runs int
	// Best and Worst bound the time that it will take.
	Best, Worst time.Duration
	// Requests and Tokens are upper bounds of what the server will be asked, warm-up included.
	Requests, Tokens int
	// Guessed says that a closed loop's time rests on the assumed speeds below, since no earlier run is known.
	Guessed bool
	folder  string
}

// Assumed speeds of a server about which nothing is known: they bound the time of a closed loop.
const (
	bestFirst, bestToken   = 20 * time.Millisecond, 2 * time.Millisecond
	worstFirst, worstToken = 2 * time.Second, 100 * time.Millisecond
)

// voidShare is the share of a side's runs that may be measured again.
const voidShare = 0.20

// replays is how many void runs a scenario may have.
func replays(runs int) int { return max(1, int(voidShare*float64(runs))) }

// NewPlan plans a campaign for the named scenarios (none: all) with the given number of runs (0: the config's).
// Folder is where relative paths of the config start. Known maps a scenario to the seconds of one earlier run of it.
func NewPlan(c config.Config, folder string, names []string, runs int, known map[string]float64) (Plan, error) {
	p := Plan{Config: c, Runs: c.Campaign.Runs, folder: folder}
	if runs > 0 {
		p.Runs = runs
	}
	if d := c.Campaign.Design; d != "committed" {
		return Plan{}, fmt.Errorf("campaign.design %q: only committed can be measured by this version; set campaign.design: committed", d)
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
	p.estimate(known)
	return p, nil
}

func (p *Plan) estimate(known map[string]float64) {
	p.Worst = p.Config.Target.ReadyIn + p.Config.Target.StopIn
	for _, s := range p.Scenarios {
		best, worst := passTime(s)
		if d, ok := known[s.Name]; ok && d > 0 {
			best, worst = time.Duration(0.8*d*1e9), time.Duration(2*d*1e9)
		} else if !s.Load.Open() {
			p.Guessed = true
		}
		p.Best += time.Duration(p.Runs+1) * best
		p.Worst += time.Duration(p.Runs+1+replays(p.Runs)) * worst
		n := s.Load.Requests*(p.Runs+1+replays(p.Runs)) + p.Config.Campaign.WarmUp
		p.Requests += n
		p.Tokens += n * (s.Dataset.InputTokens + s.OutputTokens)
	}
}

// passTime bounds one pass of a scenario.
func passTime(s config.Scenario) (best, worst time.Duration) {
	tokens := time.Duration(max(0, s.OutputTokens-1))
	fast, slow := bestFirst+tokens*bestToken, worstFirst+tokens*worstToken
	if s.Load.Open() {
		schedule := time.Duration(float64(s.Load.Requests) / s.Load.Rate * float64(time.Second))
		return schedule + fast, schedule + slow
	}
	rounds := time.Duration(math.Ceil(float64(s.Load.Requests) / float64(max(1, s.Load.Concurrency))))
	return rounds * fast, rounds * slow
}

// Hash names the plan: target, protocol, scenarios and the contents of their data files. Two plans with one hash send the
// same requests in the same order.
func (p Plan) Hash() (string, error) {
	h := sha256.New()
	for _, s := range p.Scenarios {
		if math.IsInf(s.Load.Burstiness, 1) {
			s.Load.Burstiness = -1 // JSON has no infinity
		}
		if err := json.NewEncoder(h).Encode(s); err != nil {
			return "", fmt.Errorf("hash scenario %q: %w", s.Name, err)
		}
		if s.Dataset.Path == "" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(p.folder, s.Dataset.Path))
		if err != nil {
			return "", fmt.Errorf("read dataset of scenario %q: %w", s.Name, err)
		}
		h.Write(data)
	}
	rest := []any{p.Config.Runner, p.Config.Target, p.Config.Reference, p.Config.Campaign, p.Config.Sampling, p.Runs}
	if err := json.NewEncoder(h).Encode(rest); err != nil {
		return "", fmt.Errorf("hash plan: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// Key names the campaign: the same commit, plan and baseline continue the same one.
func Key(commit, plan string, baseline []bench.Digest) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n", commit, plan)
	for _, d := range baseline {
		if err := bench.WriteDigest(h, d); err != nil {
			return "", fmt.Errorf("hash baseline of scenario %q: %w", d.Scenario, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}
