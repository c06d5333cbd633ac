package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/sim"
)

// buildsConfig asks one comparative question of a small load, so that equal builds are red in 2.5 % of campaigns at most, and one
// limit.
const buildsConfig = `version: 1
runner: lab
target: {base_url: "http://127.0.0.1:1/v1", model: simulated-8b}
%s
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 3
    load: {concurrency: 4, requests: 12}
    primary: {metric: ttft.p50, tolerance: 5%%, rule_out: 25%%}
gate:
  rules:
    - {metric: error.ratio, max: 0.5%%}
`

// How simulated builds of equal speed differ: log-sd between runs, requests and days.
const (
	runSpread     = 0.05
	requestSpread = 0.15
	daySpread     = 0.03
)

// lab is a runner with simulated servers in memory, for one seed.
type lab struct {
	t      *testing.T
	folder string
	conf   string
	seed   uint64
	rng    *rand.Rand
}

func newLab(t *testing.T, seed uint64, design string) *lab {
	l := &lab{t: t, folder: t.TempDir(), seed: seed, rng: rand.New(rand.NewPCG(20260901, seed))}
	l.conf = filepath.Join(l.folder, "benchgate.yaml")
	if err := os.Mkdir(filepath.Join(l.folder, "baselines"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.conf, fmt.Appendf(nil, buildsConfig, design), 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

// serve starts one build in memory, on a day of its own.
func (l *lab) serve(slow, day float64) (*sim.Running, *sim.Memory) {
	m := sim.NewMemory()
	return sim.Serve(sim.New(sim.Options{
		Slots: 4, TTFT: 20 * time.Millisecond, TPOT: 5 * time.Millisecond, RunSD: runSpread, RequestSD: requestSpread,
		Seed: l.rng.Uint64(), Slow: (1+slow)*math.Exp(day) - 1,
	}), m), m
}

// measure runs a campaign of the config and leaves its files in a folder of that name.
func (l *lab) measure(name string, slow float64) string {
	l.t.Helper()
	day := daySpread * l.rng.NormFloat64()
	server, candidate := l.serve(slow, day)
	defer server.Close()
	beside, reference := l.serve(0, day)
	defer beside.Close()
	conf, err := config.Read(l.conf)
	if err != nil {
		l.t.Fatal(err)
	}
	conf.Campaign.Client.Lateness, conf.Campaign.Client.Timer = 60, 60 // the machine may be busy: nothing here is about that
	plan, err := campaign.NewPlan(conf, l.folder, nil, 0, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	texts := map[string]bench.Calibration{}
	if base, _, err := baseline.Read(l.baselines(), "lab"); err == nil {
		texts["chat"] = base[0].Text
	}
	sh := &shell{ctx: l.t.Context(), stdin: strings.NewReader(""), stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, getenv: noEnv, now: time.Now}
	sh.talk = newTalk(sh.stderr, true, false, false, noEnv)
	out := filepath.Join(l.folder, name)
	err = measure(sh, campaign.Options{
		Plan: plan, State: filepath.Join(l.folder, "state"), Key: name, Commit: name, ReferenceCommit: "base", Tool: "benchgate test", ID: name,
		Host: host.Facts{Machine: fmt.Sprintf("builds-%d-%d", os.Getpid(), l.seed)}, Texts: texts,
		Look: atLook(plan, nil), Dial: sim.Ports{1: candidate, 2: reference}.Dial, Now: time.Now,
	}, out)
	if err != nil {
		l.t.Fatalf("seed %d: measure %q: %v\n%s", l.seed, name, err, sh.stderr)
	}
	return out
}

func (l *lab) baselines() string { return filepath.Join(l.folder, "baselines") }

func noEnv(string) string { return "" }

// command runs a command of the program as a user does.
func (l *lab) command(args ...string) (int, string) {
	var out, talk bytes.Buffer
	code := run(l.t.Context(), args, strings.NewReader(""), &out, &talk, noEnv)
	return code, out.String() + talk.String()
}

// gate decides about a folder and returns the exit code with the verdict.
func (l *lab) gate(folder string) (int, gate.Verdict) {
	l.t.Helper()
	code, said := l.command("gate", "-c", l.conf, "--baseline", l.baselines(), "--candidate", folder, "-q")
	v, err := readVerdict(filepath.Join(folder, "verdict.json"))
	if err != nil {
		l.t.Fatalf("seed %d: exit %d: %v\n%s", l.seed, code, err, said)
	}
	if code != v.ExitCode || code != 0 && code != 1 {
		l.t.Fatalf("seed %d: exit %d, the verdict says %d\n%s", l.seed, code, v.ExitCode, said)
	}
	return code, v
}

// tally counts how campaigns ended.
type tally struct{ red, improved, all int }

func (c *tally) add(code int, v gate.Verdict) {
	c.all++
	if code == 1 {
		c.red++
	}
	for _, f := range v.Findings {
		if f.Outcome == gate.Improved {
			c.improved++
			return
		}
	}
}

// effects are the true differences that every seed is measured at.
var effects = []float64{0, 0.1, 0.3}

// holds checks the promises: equal builds red in at most 5 % of campaigns, +30 % red in at least 95 %, +10 % never improved.
// Few seeds have three standard errors of room.
func holds(t *testing.T, counts []tally) {
	t.Helper()
	for i, c := range counts {
		t.Logf("+%.0f %%: %d of %d red, %d improved", 100*effects[i], c.red, c.all, c.improved)
	}
	room := 0.0
	if testing.Short() {
		room = 3 * math.Sqrt(0.05*0.95/float64(counts[0].all))
	}
	share := func(n, of int) float64 { return float64(n) / float64(of) }
	if equal := counts[0]; share(equal.red, equal.all) > 0.05+room {
		t.Errorf("equal builds are red in %d of %d campaigns, want at most 5 %%", equal.red, equal.all)
	}
	if slight := counts[1]; slight.improved > 0 {
		t.Errorf("+10 %% is improved in %d of %d campaigns, want never", slight.improved, slight.all)
	}
	if slow := counts[2]; share(slow.red, slow.all) < 0.95-room {
		t.Errorf("+30 %% is red in %d of %d campaigns, want at least 95 %%", slow.red, slow.all)
	}
}

// play plays a trial for each seed, two at a time, and counts how its campaigns ended, by effect.
func play(t *testing.T, short int, trial func(t *testing.T, seed int) []tally) []tally {
	t.Helper()
	seeds, shards := 200, 2
	if testing.Short() {
		seeds = short
	}
	var lock sync.Mutex
	counts := make([]tally, len(effects))
	t.Run("seeds", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for seed := shard; seed < seeds; seed += shards {
					synctest.Test(t, func(t *testing.T) {
						ended := trial(t, seed)
						lock.Lock()
						defer lock.Unlock()
						for i, c := range ended {
							counts[i].red += c.red
							counts[i].improved += c.improved
							counts[i].all += c.all
						}
					})
				}
			})
		}
	})
	return counts
}

// Five nights make a baseline, and a candidate follows: measured, accepted and judged as a user does it, in virtual time.
func TestTwoBuildsAgainstABaseline(t *testing.T) {
	t.Parallel()
	holds(t, play(t, 1, func(t *testing.T, seed int) []tally {
		l := newLab(t, uint64(seed), "campaign: {design: committed, runs: 5, warmup: {requests: 4}}")
		for night := range 5 {
			args := []string{"baseline", "accept", "--folder", l.baselines(), "--who", "test", l.measure(fmt.Sprintf("night-%d", night+1), 0)}
			if night > 0 {
				args = append(args, "--add-session")
			}
			if code, said := l.command(args...); code != 0 {
				t.Fatalf("seed %d: night %d is not accepted: %s", seed, night+1, said)
			}
			<-time.After(24 * time.Hour)
		}
		return l.judge()
	}))
}

// Both builds are started in turn; the campaign ends at the look that decides.
func TestTwoBuildsInTurn(t *testing.T) {
	t.Parallel()
	holds(t, play(t, 1, func(t *testing.T, seed int) []tally {
		return newLab(t, uint64(seed), `reference: {base_url: "http://127.0.0.1:2/v1"}
campaign: {design: interleaved, looks: [6, 8, 10], warmup: {requests: 4}}`).judge()
	}))
}

// judge measures a candidate at every effect and has it judged.
func (l *lab) judge() []tally {
	counts := make([]tally, len(effects))
	for i, slow := range effects {
		counts[i].add(l.gate(l.measure(fmt.Sprintf("candidate-%d", i), slow)))
	}
	return counts
}
