package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/report"
)

type gateCmd struct {
	Baseline  string `default:"baselines" placeholder:"FILE|DIR|ref:SHA" help:"What to compare with; ref:SHA reads the files of that commit, not of the working tree. Builds measured in turn compare with each other; of it they take the noise of a calibration."`
	Candidate string `default:"benchgate-out" placeholder:"FILE|DIR" help:"What was measured."`
	Config    string `short:"c" placeholder:"FILE" help:"Rules. Without it the defaults apply: ttft.p95, 5% tolerance, 25% ruled out."`
	Runner    string `help:"Take the baselines of this runner where a folder holds several."`
	Output    string `short:"o" placeholder:"FILE" help:"Where verdict.json goes. In a candidate's folder by default; report.html is written beside it."`
	Format    string `enum:"text,json,markdown" default:"text" help:"What is printed: text, json or markdown."`
	ExitZero  bool   `help:"Exit 0 whatever the verdict; errors keep their codes."`
}

// Run decides, writes the verdict and the report, prints it, and sets the exit code.
func (c gateCmd) Run(sh *shell) error {
	policy, runner, err := c.policy()
	if err != nil {
		return err
	}
	if info, err := os.Stat("benchgate.yaml"); c.Config == "" && err == nil && !info.IsDir() {
		sh.talk.say("warning: the rules of benchgate.yaml, which lies here, are not asked: -c benchgate.yaml asks them")
	}
	head, source, err := readCandidate(c.Candidate, runner)
	if err != nil {
		return fmt.Errorf("candidate: %w", err)
	}
	if runner == "" && len(head) > 0 && source.Folder() {
		runner = head[0].Runner
	}
	verdict, err := decide(policy, c.Baseline, runner, head, source.Files)
	if err != nil {
		return err
	}
	verdict.Attempts = attempts(c.Candidate)
	if err := c.write(verdict); err != nil {
		return err
	}
	if err := report.Write(sh.stdout, c.Format, verdict); err != nil {
		return err
	}
	if verdict.ExitCode == 0 || c.ExitZero {
		return nil
	}
	return verdictError(verdict.ExitCode)
}

// decide holds the candidate against what its campaign was measured for: a committed baseline, the reference that lies
// beside it, or first the one and then the other. Spec says where the baseline stands, files are the candidate's digests.
func decide(p gate.Policy, spec, runner string, head []bench.Digest, files []string) (gate.Verdict, error) {
	references, beside, err := references(files)
	if err != nil {
		return gate.Verdict{}, err
	}
	base, from, err := readBaseline(spec, runner)
	if err != nil {
		return gate.Verdict{}, fmt.Errorf("baseline: %w", err)
	}
	return held{p, base, from, references, beside, designOf(files, head)}.decide(head)
}

// held is what a candidate is held against, and where that stands.
type held struct {
	gate.Policy
	base       []bench.Digest
	from       string
	references []bench.Digest
	beside     string
	design     string
}

func (h held) decide(head []bench.Digest) (gate.Verdict, error) {
	withNoise(h.references, h.base)
	if h.design == "interleaved" && len(h.references) > 0 {
		return referred(gate.Decide(h.Policy, h.references, head), h.beside), nil
	}
	switch _, turns := shapes(head); {
	case h.design == "confirm":
		v := gate.Confirm(h.Policy, h.base, h.references, head)
		from := h.from
		if len(h.base) == 0 {
			from = h.beside
		}
		return referred(v, from), nil
	case turns && len(h.base) == 0:
		return gate.Verdict{}, withHint(fmt.Errorf("the candidate was measured in turn with a reference, and %q is not there", h.beside),
			"give the whole folder of results, or the reference's digests as --baseline")
	}
	return referred(gate.Decide(h.Policy, h.base, head), h.from), nil
}

// withNoise tells references what a calibration of this runner found: it is stored in the runner's baselines.
func withNoise(references, base []bench.Digest) {
	for i, r := range references {
		for _, b := range base {
			if b.Scenario == r.Scenario && r.Noise == nil && len(bench.Compare(b, r).Incomparable) == 0 {
				references[i].Noise = b.Noise
			}
		}
	}
}

// referred says where the baseline of a verdict stands.
func referred(v gate.Verdict, from string) gate.Verdict {
	if v.Baseline != nil {
		v.Baseline.Ref = from
	}
	return v
}

func (c gateCmd) policy() (gate.Policy, string, error) {
	if c.Config == "" {
		return gate.Defaults(), c.Runner, nil
	}
	conf, err := oneConfig(c.Config)
	if err != nil {
		return gate.Policy{}, "", err
	}
	runner := conf.Runner
	if c.Runner != "" {
		runner = c.Runner
	}
	return conf.Policy, runner, nil
}

func (c gateCmd) write(v gate.Verdict) error {
	path := c.Output
	if path == "" {
		if info, err := os.Stat(c.Candidate); err != nil || !info.IsDir() {
			return nil
		}
		path = filepath.Join(c.Candidate, "verdict.json")
	}
	return writeVerdict(path, v)
}

// writeVerdict writes verdict.json and, beside it, report.html.
func writeVerdict(path string, v gate.Verdict) error {
	err := writeFile(path, func(w *os.File) error { return gate.WriteVerdict(w, v) })
	if err != nil {
		return err
	}
	page := filepath.Join(filepath.Dir(path), "report.html")
	return writeFile(page, func(w *os.File) error { return report.Write(w, "html", v) })
}

// writeFile writes a file as a whole or not at all.
func writeFile(path string, fill func(*os.File) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	defer os.Remove(f.Name())
	if err := fill(f); err != nil {
		f.Close()
		return fmt.Errorf("write %q: %w", path, err)
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return fmt.Errorf("write %q: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
