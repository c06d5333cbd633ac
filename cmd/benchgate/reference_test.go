package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/repo/repotest"
)

// A reference alone is nobody's candidate.
func TestAReferenceIsNotTakenForTheCandidate(t *testing.T) {
	folder := t.TempDir()
	d := bench.Digest{Runner: "lab", Scenario: "chat", Sessions: []bench.Session{{ID: "s", Started: time.Unix(1e9, 0), Visits: []bench.Visit{}}}}
	path := filepath.Join(folder, "lab", "reference", "chat.json")
	if err := writeFile(path, func(f *os.File) error { return bench.WriteDigest(f, d) }); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{folder, filepath.Join(folder, "lab")} {
		if ds, _, err := baseline.Read(place, ""); !errors.Is(err, baseline.ErrNone) {
			t.Errorf("%s: %d digests, %v", place, len(ds), err)
		}
	}
}

func TestAReferenceTakesItsCommandFromTheConfigBesideIt(t *testing.T) {
	folder := t.TempDir()
	head := strings.Replace(turnsConfig, `reference: {base_url: "http://127.0.0.1:2/v1"}`, "reference: {dir: base}", 1)
	base := strings.Replace(head, `model: simulated-8b}`, `model: simulated-9b}`, 1)
	for name, text := range map[string]string{"benchgate.yaml": head, "base/benchgate.yaml": base} {
		if err := writeFile(filepath.Join(folder, name), func(f *os.File) error { _, err := f.WriteString(text); return err }); err != nil {
			t.Fatal(err)
		}
	}
	sh := &shell{ctx: t.Context()}
	for name, set := range map[string][]string{"as it is": nil, "with a key set": {"campaign.runs=3"}} {
		conf, _, err := runCmd{Config: filepath.Join(folder, "benchgate.yaml"), Set: set}.config(sh)
		if err != nil {
			t.Fatal(err)
		}
		if conf.Reference.Model != "simulated-9b" || conf.Target.Model != "simulated-8b" {
			t.Errorf("%s: reference %q, target %q", name, conf.Reference.Model, conf.Target.Model)
		}
	}
	broken := filepath.Join(folder, "base", "benchgate.yaml")
	if err := os.WriteFile(broken, []byte("version: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := runCmd{Config: filepath.Join(folder, "benchgate.yaml")}.config(sh)
	var mistake *config.Error
	if !errors.As(err, &mistake) || mistake.File != broken {
		t.Errorf("error is %v, want one that names %s", err, broken)
	}
}

// Configs may lie in a folder of the repository, and a worktree of base anywhere.
func TestTheConfigAtBaseIsFoundWhereItLiesInTheRepository(t *testing.T) {
	for name, test := range map[string]struct{ dir, file, want, note string }{
		"a worktree among the configs": {"base", "gates/base/gates/x.yaml", "simulated-9b", "come from"},
		"a worktree at the top":        {"../base", "base/gates/x.yaml", "simulated-9b", "come from"},
		"a config at the top":          {"../base", "base/x.yaml", "simulated-9b", "come from"},
		"no config at base":            {"../base", "base/y.yaml", "simulated-8b", "not found in the reference's folder"},
	} {
		t.Run(name, func(t *testing.T) {
			head := strings.Replace(turnsConfig, `reference: {base_url: "http://127.0.0.1:2/v1"}`, "reference: {dir: "+test.dir+"}", 1)
			base := strings.Replace(head, `model: simulated-8b}`, `model: simulated-9b}`, 1)
			folder, _ := repotest.New(t, map[string]string{"gates/x.yaml": head, test.file: base})
			var out bytes.Buffer
			sh := &shell{ctx: t.Context(), stdout: &out, getenv: func(string) string { return "" }, now: time.Now}
			c := runCmd{Config: filepath.Join(folder, "gates", "x.yaml"), Baseline: filepath.Join(folder, "baselines"), Plan: true}
			conf, _, err := c.config(sh)
			if err != nil {
				t.Fatal(err)
			}
			if conf.Reference.Model != test.want {
				t.Errorf("the reference is %q, want %q", conf.Reference.Model, test.want)
			}
			if err := os.Mkdir(c.Baseline, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := c.Run(sh); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "note: reference: ") || !strings.Contains(out.String(), test.note) {
				t.Errorf("the plan does not say %q:\n%s", test.note, out.String())
			}
		})
	}
}
