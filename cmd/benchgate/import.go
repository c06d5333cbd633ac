package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/ingest"
)

type importCmd struct {
	Files    []string `arg:"" name:"file" help:"Result files, one run each; or one campaign.jsonl of benchgate."`
	From     string   `default:"auto" help:"The tool that wrote them: auto, vllm."`
	Output   string   `short:"o" default:"-" placeholder:"FILE" help:"Where the digest goes; - is stdout."`
	Scenario string   `help:"Name of the scenario; that of the tool by default."`
	Runner   string   `help:"Name of the runner; imported by default."`
	Compat   string   `enum:",vllm" default:"" placeholder:"vllm" help:"Condense a campaign.jsonl by the definitions of vllm bench serve 0.33 instead of benchgate's: see docs/vllm.md."`
	Side     string   `enum:"candidate,reference" default:"candidate" help:"The side of a campaign.jsonl: candidate or reference."`
	Session  string   `help:"Declare one interleaved session: give the same name on both sides. Otherwise a session is a UTC day of the files of one side."`
}

// Run reads the files and writes one digest.
func (c importCmd) Run(sh *shell) error {
	d, err := c.digest()
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	for _, w := range c.warnings(d) {
		sh.talk.say("warning: %s", w)
	}
	if c.Output == "-" {
		return bench.WriteDigest(sh.stdout, d)
	}
	if err := writeFile(c.Output, func(f *os.File) error { return bench.WriteDigest(f, d) }); err != nil {
		return err
	}
	sh.talk.say("%s: %d runs of %q", c.Output, len(allRuns(d)), d.Scenario)
	return nil
}

// digest reads a campaign, or the results of another tool.
func (c importCmd) digest() (bench.Digest, error) {
	for _, name := range c.Files {
		if header, ok := headerOf(name); ok && strings.HasPrefix(header.Schema, campaignKind) {
			return c.campaign(name)
		}
	}
	if c.Compat != "" {
		return bench.Digest{}, fmt.Errorf("--compat reads the raw record of benchgate, DIR/RUNNER/campaign.jsonl, and %q is none", c.Files[0])
	}
	var files []ingest.File
	for _, name := range c.Files {
		f, err := os.Open(name)
		if err != nil {
			return bench.Digest{}, err
		}
		defer f.Close()
		files = append(files, ingest.File{Name: name, Data: f})
	}
	return ingest.Digest(c.From, files, ingest.Options{Scenario: c.Scenario, Runner: c.Runner, Session: c.Session})
}

// campaignKind begins the schema of a campaign of any version.
var campaignKind, _, _ = strings.Cut(bench.CampaignSchema, "/")

// campaign condenses one scenario of a campaign, which names runner and session itself.
func (c importCmd) campaign(name string) (bench.Digest, error) {
	switch {
	case len(c.Files) > 1:
		return bench.Digest{}, fmt.Errorf("%q is a campaign of benchgate: import it by itself", name)
	case c.Runner != "" || c.Session != "" || c.From != "auto":
		return bench.Digest{}, fmt.Errorf("%q is a campaign of benchgate and names its runner and its session itself: leave out --runner, --session and --from", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return bench.Digest{}, err
	}
	defer f.Close()
	log, err := bench.ReadCampaign(f, name)
	if err != nil {
		return bench.Digest{}, err
	}
	told := *log
	if c.Compat == "vllm" {
		if told, err = ingest.Compat(told); err != nil {
			return bench.Digest{}, fmt.Errorf("%q: %w", name, err)
		}
	}
	digests := campaign.Digests(told)
	if c.Side == "reference" {
		digests = campaign.References(told)
	}
	return c.chosen(digests)
}

// chosen is the digest of the scenario that was asked for, or the only one.
func (c importCmd) chosen(digests []bench.Digest) (bench.Digest, error) {
	var names []string
	for _, d := range digests {
		if d.Scenario == c.Scenario || c.Scenario == "" && len(digests) == 1 {
			return d, nil
		}
		names = append(names, d.Scenario)
	}
	switch {
	case len(digests) == 0:
		return bench.Digest{}, fmt.Errorf("%q holds no finished run of the %s", c.Files[0], c.Side)
	case c.Scenario == "":
		return bench.Digest{}, fmt.Errorf("%q holds several scenarios: choose one of %s by --scenario", c.Files[0], strings.Join(names, ", "))
	}
	return bench.Digest{}, fmt.Errorf("%q holds no scenario %q, but %s", c.Files[0], c.Scenario, strings.Join(names, ", "))
}

// warnings are those of the sessions, and of the runs when they were told by definitions of others: each once.
func (c importCmd) warnings(d bench.Digest) []string {
	var all []string
	for _, s := range d.Sessions {
		all = append(all, s.Warnings...)
		for _, r := range s.Runs() {
			if c.Compat != "" {
				all = append(all, r.Warnings...)
			}
		}
	}
	var once []string
	for _, w := range all {
		if !slices.Contains(once, w) {
			once = append(once, w)
		}
	}
	return once
}

func allRuns(d bench.Digest) []bench.Run {
	var runs []bench.Run
	for _, s := range d.Sessions {
		runs = append(runs, s.Runs()...)
	}
	return runs
}
