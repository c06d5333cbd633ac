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
	"github.com/benchgate/benchgate/internal/load"
	"github.com/benchgate/benchgate/internal/openai"
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

// replays is how many void runs a scenario may have: as many as keep within voidShare of all that were measured.
func replays(runs int) int { return int(voidShare * float64(runs) / (1 - voidShare)) }

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
	return p, p.estimate(known)
}

func (p *Plan) estimate(known map[string]float64) error {
	p.Worst = p.Config.Target.ReadyIn + p.Config.Target.StopIn
	for _, s := range p.Scenarios {
		ask, err := p.asks(s)
		if err != nil {
			return fmt.Errorf("scenario %q: %w", s.Name, err)
		}
		best, worst := passTime(s, ask.longest)
		if d, ok := known[s.Name]; ok && d > 0 {
			best, worst = time.Duration(0.8*d*1e9), time.Duration(2*d*1e9)
		} else if !s.Load.Open() {
			p.Guessed = true
		}
		p.Best += time.Duration(p.Runs+1) * best
		p.Worst += time.Duration(p.Runs+1+replays(p.Runs)) * worst
		n := s.Load.Requests*(p.Runs+1+replays(p.Runs)) + p.Config.Campaign.WarmUp
		p.Requests += n
		p.Tokens += int(math.Ceil(float64(n) * ask.perRequest))
	}
	return nil
}

// asked is what one pass asks of the server.
type asked struct {
	perRequest float64 // tokens in and out, an upper bound of the mean
	longest    int     // output tokens
}

// leastBytes is how few bytes of text a token stands for, at the least, in common tokenizers on common text.
const leastBytes = 3

// asks reads the workload: prompts of a file have the length that they have, and may ask for a length of their own.
func (p *Plan) asks(s config.Scenario) (asked, error) {
	if s.Dataset.Kind == "random" {
		in := float64(s.Dataset.InputTokens) * (1 + s.Dataset.Range)
		return asked{perRequest: in + float64(s.OutputTokens), longest: s.OutputTokens}, nil
	}
	w, err := load.Prompts(s, p.folder, bench.Calibration{}, p.Config.Target.API)
	if err != nil {
		return asked{}, err
	}
	var a asked
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

// passTime bounds one pass of a scenario.
func passTime(s config.Scenario, longest int) (best, worst time.Duration) {
	tokens := time.Duration(max(0, longest-1))
	fast, slow := bestFirst+tokens*bestToken, worstFirst+tokens*worstToken
	if s.Load.Open() {
		schedule := time.Duration(float64(s.Load.Requests) / s.Load.Rate * float64(time.Second))
		return schedule + fast, schedule + slow
	}
	rounds := time.Duration(math.Ceil(float64(s.Load.Requests) / float64(max(1, s.Load.Concurrency))))
	return rounds * fast, rounds * slow
}

// Hash names the plan: the server, its requests and their order, and the contents of data files. What only bounds or paces
// a campaign (budget, abort, ready, stop) is not in it, nor is the place of a scenario in its file.
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
		data, err := os.ReadFile(filepath.Join(p.folder, s.Dataset.Path))
		if err != nil {
			return "", fmt.Errorf("read dataset of scenario %q: %w", s.Name, err)
		}
		h.Write(data)
	}
	t := p.Config.Target
	t.ReadyPath, t.ReadyIn, t.StopIn, t.StopCmd = "", 0, 0, nil
	var metrics []string // those that no digest holds unasked are condensed for the rules
	for _, r := range p.Config.Policy.Rules {
		metrics = append(metrics, r.Metric)
	}
	rest := []any{p.Config.Runner, t, p.Config.Campaign.WarmUp, p.Config.Sampling, p.Runs, metrics}
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
