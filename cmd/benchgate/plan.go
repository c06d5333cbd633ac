package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/host"
)

// planFor is what a config comes to against a baseline, which knows how long a closed loop takes and which scenarios it has. No
// names are all scenarios, 0 runs those of the config.
func planFor(conf config.Config, base []bench.Digest, names []string, runs int) (campaign.Plan, error) {
	plan, err := campaign.NewPlan(conf, filepath.Dir(conf.File), names, runs, durations(base))
	if err != nil {
		return campaign.Plan{}, err
	}
	return plan.Against(scenarioNames(base))
}

// tellPlan says what will be done and how long it takes, and notes that are of the plan alone; result puts it on stdout.
func tellPlan(sh *shell, p campaign.Plan, result bool, notes ...string) {
	say := func(format string, args ...any) { sh.talk.say(format, args...) }
	if result {
		say = func(format string, args ...any) { fmt.Fprintf(sh.stdout, format+"\n", args...) }
	}
	say("plan: %s, %s, design %s", p.Config.Runner, designInWords(p), p.Config.Campaign.Design)
	for _, s := range p.Scenarios {
		least := ""
		if s.Load.MinDuration > 0 {
			least = "at least "
		}
		say("  %s: %s%d requests a run, %s", s.Name, least, s.Load.Requests, loadInWords(s.Load))
	}
	if len(p.Parts) > 1 {
		for i, part := range p.Parts {
			say("  %s stage, %s: %s at best, %s at worst; at most %d requests", []string{"first", "second"}[i],
				shareInWords(p, part), campaign.Span(part.Best), campaign.Span(part.Worst), part.Requests)
		}
	}
	say("time: %s at best, %s at worst; at most %d requests", campaign.Span(p.Best), campaign.Span(p.Worst), p.Requests)
	for _, n := range slices.Concat(notes, p.Config.Unused, p.Notes) {
		say("note: %s", n)
	}
	if p.Begun {
		say("note: this campaign has begun: the time is that of the whole of it, and only what is missing is measured")
	}
	if p.Guessed {
		say("note: no earlier run of a closed loop is known, so its time assumes 2 ms to 100 ms a token")
		if budget := p.Config.Campaign.Budget; budget > 0 && p.Worst > budget && !p.Begun {
			say("note: at worst that is over campaign.budget, %s; once a baseline knows such a run, a plan that may take longer is refused: %s", campaign.Span(budget), remedies(p))
		}
	}
}

// designInWords is what happens to the scenarios.
func designInWords(p campaign.Plan) string {
	n := count(len(p.Scenarios), "scenario")
	switch p.Config.Campaign.Design {
	case "committed":
		return fmt.Sprintf("%s × (1 warm-up run + %d runs)", n, p.Runs)
	case "confirm":
		switch based := p.Parts[0].Scenarios; {
		case p.Parts[0].Design == "interleaved":
			return fmt.Sprintf("%s without a baseline: straight to the second stage, %s", n, turnsInWords(p.Config.Campaign))
		case based < len(p.Scenarios):
			return fmt.Sprintf("%s, of which %d have a baseline", n, based)
		}
		return n
	}
	return n + ": " + turnsInWords(p.Config.Campaign)
}

func shareInWords(p campaign.Plan, s campaign.Share) string {
	if s.Design == "committed" {
		return fmt.Sprintf("%s × (1 warm-up run + %d runs)", count(s.Scenarios, "scenario"), p.Runs)
	}
	return "only of what the first leaves open: " + turnsInWords(p.Config.Campaign)
}

// turnsInWords is how both sides take turns.
func turnsInWords(c config.Campaign) string {
	visits := fmt.Sprint(c.Looks[0])
	if last := c.Looks[len(c.Looks)-1]; last != c.Looks[0] {
		visits = fmt.Sprintf("%d to %d", c.Looks[0], last)
	}
	return fmt.Sprintf("reference and candidate in turn, %s visits a side, each a fresh start with %s and %s of every scenario",
		visits, count(c.WarmUp, "warm-up request"), count(c.VisitRuns, "run"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// affordable refuses a plan whose worst case is over its budget, before anything is started. Where the worst case rests
// on a guess, the best one has to be over it. A campaign that has begun goes on: its time is that of the whole of it.
func affordable(p campaign.Plan) error {
	budget, what, d := p.Config.Campaign.Budget, "worst", p.Worst
	if p.Guessed {
		what, d = "best", p.Best
	}
	if budget == 0 || d <= budget || p.Begun {
		return nil
	}
	return withHint(fmt.Errorf("the %s case of %s is over campaign.budget, %s", what, campaign.Span(d), campaign.Span(budget)), "%s", remedies(p))
}

// possible refuses a plan that this machine or its budget cannot carry out, before anything is started.
func possible(p campaign.Plan) error {
	if err := affordable(p); err != nil {
		return err
	}
	return holdable(p, openFiles())
}

// openFiles is how many files this process may hold open once it has asked for all it may have; 0 where nothing tells.
func openFiles() uint64 {
	limit, err := host.RaiseFileLimit()
	if err != nil {
		return 0
	}
	return limit
}

// holdable refuses a plan whose requests in flight need more open files than this process may have; 0 is a limit
// that is not known.
func holdable(p campaign.Plan, limit uint64) error {
	need, scenario := p.Files()
	if limit == 0 || uint64(need) <= limit {
		return nil
	}
	return withHint(fmt.Errorf("scenario %q needs about %d open files, most of them connections, and this process may have %d", scenario, need, limit),
		"raise the hard limit (ulimit -Hn %d as root, LimitNOFILE= of a service, --ulimit nofile=%d of a container), or lower load.concurrency or load.max_concurrency", 2*need, 2*need)
}

// remedies are what makes a plan shorter, by its design.
func remedies(p campaign.Plan) string {
	c := p.Config.Campaign
	ways := []string{"raise the budget"}
	if c.Design != "interleaved" && p.Parts[0].Design == "committed" {
		ways = append(ways, "lower campaign.runs")
	}
	ways = append(ways, "lower load.requests")
	if c.Design == "committed" {
		ways = append(ways, "shorten target.ready.within")
	} else {
		starts := p.Parts[len(p.Parts)-1].MostStarts
		ways = append(ways, "drop the last of campaign.looks", fmt.Sprintf("shorten target.ready.within and target.stop.within, which count for each of %d starts", starts))
		if c.VisitRuns > 1 {
			ways = append(ways, "lower campaign.visit_runs")
		}
	}
	return strings.Join(ways, ", ") + ", or measure fewer scenarios with --scenario"
}

func loadInWords(l config.Load) string {
	if l.Open() {
		return fmt.Sprintf("%g requests/s", l.Rate)
	}
	words := fmt.Sprintf("%d at a time", l.Concurrency)
	if l.MinDuration > 0 {
		words += fmt.Sprintf(", for %s or longer", time.Duration(l.MinDuration*float64(time.Second)))
	}
	return words
}
