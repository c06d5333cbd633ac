package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/repo/repotest"
	"github.com/benchgate/benchgate/internal/sim"
)

// turnsConfig is a small campaign of two builds in memory.
const turnsConfig = `version: 1
runner: lab
target: {base_url: "http://127.0.0.1:1/v1", model: simulated-8b}
reference: {base_url: "http://127.0.0.1:2/v1"}
campaign: {design: interleaved, runs: 4, looks: [4, 6], warmup: {requests: 4}}
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 4
    load: {concurrency: 4, requests: 32}
    primary: {metric: ttft.p50, tolerance: 5%, rule_out: 80%}
  other:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 8
    load: {concurrency: 2, requests: 16}
    primary: {metric: tpot.mean, tolerance: 5%, rule_out: 80%}
gate:
  rules:
    - {metric: error.ratio, max: 0.5%}
`

// shop is a folder with two simulated builds in memory; what happens in it happens in virtual time.
type shop struct {
	t      *testing.T
	folder string
	sh     *shell
	talk   *bytes.Buffer
	out    *bytes.Buffer
	// slow is how much slower the candidate is; reference and candidate have runs of their own.
	slow float64
	// edit changes the options of a campaign before it begins.
	edit func(*campaign.Options)
}

func inShop(t *testing.T, test func(s *shop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &shop{t: t, folder: t.TempDir(), talk: &bytes.Buffer{}, out: &bytes.Buffer{}}
		s.sh = &shell{
			ctx: t.Context(), stdin: strings.NewReader(""), stdout: s.out, stderr: s.talk, now: time.Now,
			getenv: func(string) string { return "" }, talk: newTalk(s.talk, false, false, false, func(string) string { return "" }),
		}
		if err := os.WriteFile(s.path("benchgate.yaml"), []byte(turnsConfig), 0o600); err != nil {
			t.Fatal(err)
		}
		test(s)
	})
}

func (s *shop) path(parts ...string) string {
	return filepath.Join(append([]string{s.folder}, parts...)...)
}

// dial reaches a candidate at port 1 and a reference at port 2, both in memory.
func (s *shop) dial() func(ctx context.Context, network, address string) (net.Conn, error) {
	ports := sim.Ports{1: sim.NewMemory(), 2: sim.NewMemory()}
	for port, slow := range map[int]float64{1: s.slow, 2: 0} {
		server := sim.Serve(sim.New(sim.Options{
			Slots: 4, TTFT: 20 * time.Millisecond, TPOT: 5 * time.Millisecond, RunSD: 0.01, RequestSD: 0.05, Seed: uint64(port), Slow: slow,
		}), ports[port])
		s.t.Cleanup(func() { server.Close() })
	}
	return ports.Dial
}

// run measures as benchgate run does.
func (s *shop) run(out, design string, more ...string) error {
	s.t.Helper()
	c := runCmd{Config: s.path("benchgate.yaml"), Set: append([]string{"campaign.design=" + design}, more...)}
	conf, _, err := c.config(s.sh)
	if err != nil {
		s.t.Fatal(err)
	}
	base := s.baseline()
	plan, err := campaign.NewPlan(conf, s.folder, nil, 0, nil)
	if err == nil {
		plan, err = plan.Against(scenarioNames(base))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	o := campaign.Options{
		Plan: plan, State: s.path("state"), Key: out + design, Commit: "c0ffee", ReferenceCommit: "ba5e", Tool: "benchgate test", ID: out,
		Host:   host.Facts{Machine: fmt.Sprintf("shop-%d-%s", os.Getpid(), filepath.Base(s.folder))},
		Stage1: firstStage(plan, base), Look: atLook(plan, base), Dial: s.dial(), Texts: texts(base),
		Say: func(line string) { s.sh.talk.say("%s", line) }, Now: time.Now,
	}
	if s.edit != nil {
		s.edit(&o)
	}
	return measure(s.sh, o, s.path(out))
}

func texts(base []bench.Digest) map[string]bench.Calibration {
	all := map[string]bench.Calibration{}
	for _, d := range base {
		all[d.Scenario] = d.Text
	}
	return all
}

func (s *shop) baseline() []bench.Digest {
	base, _, err := baseline.Read(s.path("baselines"), "lab")
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, baseline.ErrNone) {
		s.t.Fatal(err)
	}
	return base
}

func (s *shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.talk)
	}
}

// gate decides as benchgate gate does.
func (s *shop) gate(out string) gate.Verdict {
	s.t.Helper()
	if err := os.MkdirAll(s.path("baselines"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	c := gateCmd{Baseline: s.path("baselines"), Candidate: s.path(out), Config: s.path("benchgate.yaml"), Format: "text"}
	var code verdictError
	if err := c.Run(s.sh); err != nil && !errors.As(err, &code) {
		s.t.Fatalf("gate: %v", err)
	}
	v, err := readVerdict(s.path(out, "verdict.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// primaries are the outcomes of the primary metrics by scenario.
func primaries(v gate.Verdict) map[string]gate.Outcome {
	all := map[string]gate.Outcome{}
	for _, f := range v.Findings {
		if f.Primary {
			all[f.Scenario] = f.Outcome
		}
	}
	return all
}

func (s *shop) visits(out string) int {
	s.t.Helper()
	f, err := os.Open(s.path(out, "lab", campaign.JournalFile))
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	log, err := bench.ReadCampaign(f, "campaign")
	if err != nil {
		s.t.Fatal(err)
	}
	return len(log.Visits)
}

func TestInterleavedFromTheMeasurementToTheVerdict(t *testing.T) {
	for name, test := range map[string]struct {
		slow   float64
		want   gate.Outcome
		visits int
	}{
		"an equal build": {0, gate.Pass, 8},
		"a slower build": {0.40, gate.Regressed, 8},
		"a quicker one":  {-0.30, gate.Improved, 8},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, func(s *shop) {
				s.slow = test.slow
				s.must(s.run("out", "interleaved"))
				v := s.gate("out")
				if diff := cmp.Diff(map[string]gate.Outcome{"chat": test.want, "other": test.want}, primaries(v)); diff != "" {
					t.Errorf("(-want +got):\n%s\n%s", diff, s.out)
				}
				if n := s.visits("out"); n != test.visits {
					t.Errorf("%d visits, want %d: all is decided at the first look", n, test.visits)
				}
				if len(v.Attempts) != test.visits || !strings.Contains(v.Attempts[0].What, "start 1 of the reference: 2 runs") {
					t.Errorf("attempts: %v", v.Attempts)
				}
				if v.Baseline == nil || v.Baseline.Ref != s.path("out", "lab", "reference") {
					t.Errorf("the verdict says of its baseline: %+v", v.Baseline)
				}
			})
		})
	}
}

func TestBothSidesLeaveTheirFiles(t *testing.T) {
	inShop(t, func(s *shop) {
		s.must(s.run("out", "interleaved"))
		digests := map[string]bench.Session{}
		for _, place := range []string{"chat.json", "reference/chat.json"} {
			ds, _, err := baseline.Read(s.path("out", "lab", place), "")
			s.must(err)
			digests[place] = ds[0].Sessions[0]
		}
		c, r := digests["chat.json"], digests["reference/chat.json"]
		if c.ID != r.ID || !c.Interleaved || !r.Interleaved || len(c.Visits) != len(r.Visits) {
			t.Errorf("sessions do not belong together: %+v\n%+v", c, r)
		}
		for side, want := range map[string]int{"": 8, "-reference": 8} { // two scenarios, four visits
			files, err := filepath.Glob(s.path("out", "vllm", "lab-*"+side+"-run*.json"))
			s.must(err)
			if side == "" {
				files = slices.DeleteFunc(files, func(f string) bool { return strings.Contains(f, "-reference-") })
			}
			if len(files) != want {
				t.Errorf("vllm files of side %q: %d, want %d", side, len(files), want)
			}
		}
		for _, rows := range []string{"chat.rows.jsonl", "reference/chat.rows.jsonl"} {
			data, err := os.ReadFile(s.path("out", "lab", rows))
			s.must(err)
			if n := bytes.Count(data, []byte("\n")); n < 4 {
				t.Errorf("%s has %d lines", rows, n)
			}
		}
		// Another campaign into the same folder leaves nothing of this one.
		s.must(s.run("out", "committed"))
		left, err := filepath.Glob(s.path("out", "lab", "reference", "*"))
		s.must(err)
		more, err := filepath.Glob(s.path("out", "vllm", "*reference*"))
		s.must(err)
		if len(left)+len(more) > 0 {
			t.Errorf("left of an earlier campaign: %v %v", left, more)
		}
	})
}

func TestConfirmFromTheBaselineToTheVerdict(t *testing.T) {
	for name, test := range map[string]struct {
		slow      float64
		based     bool
		want      gate.Outcome
		visits    int
		reference bool
	}{
		"an equal build ends after the first stage": {0, true, gate.Pass, 1, false},
		"a slower build is red in the second":       {0.40, true, gate.Regressed, 1 + 8, true},
		"no baseline, equal":                        {0, false, gate.Pass, 8, true},
		"no baseline, slower":                       {0.40, false, gate.Regressed, 8, true},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, func(s *shop) {
				if test.based {
					s.must(s.run("base", "committed"))
					s.must(acceptCmd{folderFlag: folderFlag{s.path("baselines")}, Candidate: s.path("base"), Who: "a test"}.Run(s.sh))
				}
				s.slow = test.slow
				s.must(s.run("out", "confirm"))
				v := s.gate("out")
				if diff := cmp.Diff(map[string]gate.Outcome{"chat": test.want, "other": test.want}, primaries(v)); diff != "" {
					t.Errorf("(-want +got):\n%s\n%s", diff, s.out)
				}
				if n := s.visits("out"); n != test.visits {
					t.Errorf("%d visits, want %d\n%s", n, test.visits, s.talk)
				}
				if _, err := os.Stat(s.path("out", "lab", "reference", "chat.json")); (err == nil) != test.reference {
					t.Errorf("the reference's digest: %v", err)
				}
			})
		})
	}
}

func TestOnlyTheFirstStageJoinsABaseline(t *testing.T) {
	inShop(t, func(s *shop) {
		accept := func(out string, add bool) error {
			return acceptCmd{folderFlag: folderFlag{s.path("baselines")}, Candidate: s.path(out), Who: "a test", AddSession: add}.Run(s.sh)
		}
		s.must(s.run("base", "committed"))
		s.must(accept("base", false))
		s.slow = 0.03 // not enough to be another level, too much to pass for sure
		s.edit = func(o *campaign.Options) {
			o.Stage1 = func([]bench.Digest) []string { return []string{"chat", "other"} }
		}
		s.must(s.run("both", "confirm"))
		s.must(accept("both", true))
		for _, d := range s.baseline() {
			for _, x := range d.Sessions {
				if x.Interleaved || len(x.Runs()) != 4 {
					t.Errorf("%s: session %q of %d runs joined the baseline", d.Scenario, x.ID, len(x.Runs()))
				}
			}
			if len(d.Sessions) != 2 {
				t.Errorf("%s: %d sessions", d.Scenario, len(d.Sessions))
			}
		}
		s.edit = nil
		s.must(s.run("turns", "interleaved"))
		err := accept("turns", true)
		if err == nil || !strings.Contains(strings.Join(hints(err), " "), "campaign.design=committed") {
			t.Errorf("visits in turn were taken for a baseline: %v", err)
		}
	})
}

func TestTheBudgetsEndAfterALookIsAVerdict(t *testing.T) {
	for name, test := range map[string]struct {
		budget string
		fails  bool
	}{
		"before the first look": {"20s", true},
		"after it":              {"120s", false},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, func(s *shop) {
				s.edit = func(o *campaign.Options) { // open until the end
					o.Look = func(_, _ []bench.Digest) []string { return []string{"chat", "other"} }
				}
				err := s.run("out", "interleaved", "campaign.budget="+test.budget, "campaign.looks=[4, 80]")
				if (err != nil) != test.fails {
					t.Fatalf("error is %v\n%s", err, s.talk)
				}
				v := s.gate("out")
				if test.fails {
					if exitCode(context.Background(), err) != exitServer || v.Outcome != gate.Invalid {
						t.Errorf("exit %d and %s", exitCode(context.Background(), err), v.Outcome)
					}
					return
				}
				if got := primaries(v)["chat"]; got != gate.Pass {
					t.Errorf("chat is %s\n%s", got, s.out)
				}
				if !strings.Contains(s.talk.String(), "campaign.budget, 2m0s, was over before the last look: that at 4 visits a side decides") {
					t.Errorf("nothing is said of the budget:\n%s", s.talk)
				}
			})
		})
	}
}

func TestAttemptsThatWereSetAsideAreNamed(t *testing.T) {
	inShop(t, func(s *shop) {
		s.must(s.run("out", "interleaved", "campaign.looks=[4]"))
		s.edit = func(o *campaign.Options) { o.Fresh = true }
		s.must(s.run("out", "interleaved", "campaign.looks=[4]"))
		var all []string
		for _, a := range s.gate("out").Attempts {
			all = append(all, a.What)
		}
		if len(all) != 16 || !strings.HasPrefix(all[0], "lab, set aside as old-1, start 1 of the reference") {
			t.Errorf("attempts: %q", all)
		}
	})
}

func TestACandidateWithoutItsReferenceIsRefused(t *testing.T) {
	inShop(t, func(s *shop) {
		s.must(s.run("out", "interleaved"))
		s.must(os.RemoveAll(s.path("out", "lab", "reference")))
		s.must(os.MkdirAll(s.path("baselines"), 0o755))
		err := gateCmd{Baseline: s.path("baselines"), Candidate: s.path("out"), Format: "text"}.Run(s.sh)
		if err == nil || exitCode(context.Background(), err) != exitUsage {
			t.Errorf("error is %v", err)
		}
		s.must(os.RemoveAll(s.path("out", "lab", "other.json")))
		if _, _, err := baseline.Read(s.path("out", "lab"), ""); err != nil {
			t.Errorf("the folder of the runner: %v", err)
		}
	})
}

// What a calibration found stands in the baselines, and is told of builds that took turns too.
func TestTurnsAreToldWhatTheRunnerReaches(t *testing.T) {
	inShop(t, func(s *shop) {
		s.must(s.run("out", "interleaved"))
		refs, _, err := baseline.Read(s.path("out", "lab", "reference"), "")
		s.must(err)
		for _, d := range refs {
			d.Sessions[0].Interleaved, d.Sessions[0].Looks = false, nil
			d.Noise = &bench.Noise{Measured: d.Last(), Design: "committed", Runs: 12, Metrics: map[string]bench.MetricNoise{"ttft.p50": {SD: 0.5}, "ttft.p95": {SD: 0.5}}}
			s.must(writeFile(s.path("baselines", "lab", d.Scenario+".json"), func(f *os.File) error { return bench.WriteDigest(f, d) }))
		}
		err = gateCmd{Baseline: s.path("baselines"), Candidate: s.path("out"), Format: "text", ExitZero: true}.Run(s.sh)
		s.must(err)
		data, err := os.ReadFile(s.path("out", "verdict.json"))
		s.must(err)
		if !bytes.Contains(data, []byte("is below what this runner reaches")) {
			t.Errorf("no warning in %s", data)
		}
	})
}

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
