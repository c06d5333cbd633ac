package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/repo"
)

type baselineCmd struct {
	Accept acceptCmd         `cmd:"" help:"Make a measured campaign the baseline."`
	List   baselineListCmd   `cmd:"" help:"One line a baseline."`
	Show   baselineShowCmd   `cmd:"" help:"Sessions and origin of one baseline."`
	Verify baselineVerifyCmd `cmd:"" help:"Read every baseline and say what is wrong with it."`
	Rm     baselineRmCmd     `cmd:"" help:"Remove a baseline."`
}

// readBaseline reads what a candidate is held against, and says where it stands. None at all under the default folder is
// an answer (everything is new), not an error.
func readBaseline(spec, runner string) ([]bench.Digest, string, error) {
	if _, err := os.Stat(spec); os.IsNotExist(err) && spec == baseline.Folder {
		return nil, "", nil
	}
	digests, source, err := baseline.Read(spec, runner)
	if errors.Is(err, baseline.ErrNone) {
		err = nil
	}
	return digests, source.Ref, err
}

// soundBaseline is readBaseline of a commit, without the files that cannot be read.
func soundBaseline(spec, runner string) ([]bench.Digest, string, []baseline.Fault, error) {
	digests, source, faults, err := baseline.ReadSound(spec, runner)
	if errors.Is(err, baseline.ErrNone) {
		err = nil
	}
	return digests, source.Ref, faults, err
}

// folderFlag is where baselines live.
type folderFlag struct {
	Folder string `default:"baselines" placeholder:"DIR" help:"Where baselines live."`
}

type acceptCmd struct {
	folderFlag
	Candidate  string `arg:"" optional:"" default:"benchgate-out" placeholder:"FILE|DIR" help:"What was measured."`
	AddSession bool   `xor:"how" help:"Add this campaign to the baseline's sessions."`
	NewEpoch   bool   `xor:"how" help:"Start anew at a level that has changed; needs --reason."`
	Reason     string `placeholder:"TEXT" help:"Why the level changed, or why this was accepted. Recorded."`
	Who        string `help:"Who accepts; the name in git's configuration by default. Recorded."`
	Commit     string `help:"The commit that was measured, where the campaign does not say."`
}

// Run accepts a campaign into the baselines.
func (c acceptCmd) Run(sh *shell) error {
	if c.NewEpoch && strings.TrimSpace(c.Reason) == "" {
		return withHint(errors.New("--new-epoch needs --reason"), "say why the level changed: the reason is kept beside the numbers")
	}
	head, _, err := readCandidate(c.Candidate, "")
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	if head, err = acceptable(head); err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	files, err := baseline.Accept(c.Folder, head, baseline.Acceptance{
		Who: c.who(sh), Why: c.Reason, Reason: c.Reason, Commit: c.commit(head), Engine: engine(head), At: sh.now().UTC(),
		AddSession: c.AddSession, NewEpoch: c.NewEpoch, Differs: gate.Differs,
	})
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	for _, f := range files {
		fmt.Fprintf(sh.stdout, "accepted %s\n", f)
	}
	c.mind(sh, head)
	sh.talk.say("commit these files: they are what the next candidate is held against")
	return nil
}

// mind warns of what joined a baseline although it tells less than it seems to.
func (c acceptCmd) mind(sh *shell, head []bench.Digest) {
	for _, h := range head {
		e, err := baseline.Show(c.Folder, h.Runner, h.Scenario)
		if err != nil {
			continue // it was written a moment ago; whoever reads it next is told
		}
		d := e.Digest
		for i, s := range d.Sessions {
			joined := slices.ContainsFunc(h.Sessions, func(x bench.Session) bool { return x.ID == s.ID })
			if why, ok := baseline.SameDay(d, i); ok && joined {
				sh.talk.say("warning: %s: %s", h.Scenario, why)
			}
		}
	}
}

func (c acceptCmd) who(sh *shell) string {
	if c.Who != "" {
		return c.Who
	}
	if actor := sh.getenv("GITHUB_ACTOR"); actor != "" {
		return actor
	}
	out, err := repo.Command(sh.ctx, "", "config", "user.name").Output()
	if name := strings.TrimSpace(string(out)); err == nil && name != "" {
		return name
	}
	return sh.getenv("USER")
}

func (c acceptCmd) commit(head []bench.Digest) string {
	if c.Commit != "" {
		return c.Commit
	}
	return underTest(head, bench.KeyCommit)
}

func engine(head []bench.Digest) string {
	return strings.TrimSpace(underTest(head, bench.KeyEngine) + " " + underTest(head, bench.KeyVersion))
}

func underTest(head []bench.Digest, key string) string {
	for _, d := range head {
		for _, s := range d.Sessions {
			if v := s.UnderTest[key]; v != "" {
				return v
			}
		}
	}
	return ""
}

type baselineListCmd struct{ folderFlag }

// Run lists the baselines.
func (c baselineListCmd) Run(sh *shell) error {
	entries, err := baseline.List(c.Folder)
	if err != nil {
		return err
	}
	tab := tabwriter.NewWriter(sh.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tab, "runner\tscenario\tsessions\truns\tnewest\tengine\taccepted by")
	for _, e := range entries {
		s := e.Digest.Sessions[len(e.Digest.Sessions)-1]
		fmt.Fprintf(tab, "%s\t%s\t%d\t%d\t%s\t%s\t%s\n", e.Digest.Runner, e.Digest.Scenario, len(e.Digest.Sessions),
			len(allRuns(e.Digest)), e.Digest.Last().Format("2006-01-02"), s.Origin.Engine, s.Origin.Who)
	}
	return tab.Flush()
}

type baselineVerifyCmd struct{ folderFlag }

// Run verifies every baseline; a problem is exit 2.
func (c baselineVerifyCmd) Run(sh *shell) error {
	if _, err := os.Stat(c.Folder); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	problems, err := baseline.Verify(c.Folder)
	if err != nil {
		return err
	}
	for _, p := range problems {
		fmt.Fprintln(sh.stdout, p)
	}
	if len(problems) > 0 {
		return fmt.Errorf("verify: %d problems in %q", len(problems), c.Folder)
	}
	fmt.Fprintln(sh.stdout, "all baselines are sound")
	return nil
}

type baselineRmCmd struct {
	folderFlag
	Runner   string `arg:""`
	Scenario string `arg:""`
}

// Run removes one baseline.
func (c baselineRmCmd) Run(sh *shell) error {
	if err := baseline.Remove(c.Folder, c.Runner, c.Scenario); err != nil {
		return err
	}
	fmt.Fprintf(sh.stdout, "removed %s/%s\n", c.Runner, c.Scenario)
	return nil
}
