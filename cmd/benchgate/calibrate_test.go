package main

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/sim"
)

// fourSlots is a server of four slots that answers in 300 ms: it can do 13 requests a second.
var fourSlots = sim.Options{
	Model: "simulated-8b", Slots: 4, TTFT: 200 * time.Millisecond, TPOT: 14 * time.Millisecond, RunSD: 0.05, RequestSD: 0.1, Seed: 3,
}

// calibrateAt calibrates a simulated server in virtual time, with the load of its only scenario, and returns what it
// printed and what it stored.
func calibrateAt(t *testing.T, o sim.Options, load string, args ...func(*calibrateCmd)) (text string, d bench.Digest) {
	t.Helper()
	folder := t.TempDir()
	var out, talk bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		m := sim.NewMemory()
		s := sim.Serve(sim.New(o), m)
		defer s.Close()
		config := strings.NewReplacer("BASE", s.BaseURL(), "LOAD", load).Replace(calibrated)
		if err := os.WriteFile(filepath.Join(folder, "benchgate.yaml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		getenv := func(key string) string {
			if key == "XDG_STATE_HOME" {
				return filepath.Join(folder, "state")
			}
			return os.Getenv(key)
		}
		sh := &shell{
			ctx: t.Context(), stdin: strings.NewReader(""), stdout: &out, stderr: &talk, getenv: getenv, now: time.Now,
			talk: newTalk(&talk, false, false, false, os.Getenv), dial: m.Dial,
		}
		c := calibrateCmd{
			Config: filepath.Join(folder, "benchgate.yaml"), Output: filepath.Join(folder, "out"), Runs: 12,
			Baseline: filepath.Join(folder, "baselines"),
		}
		if err := os.Mkdir(c.Baseline, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, change := range args {
			change(&c)
		}
		if err := c.Run(sh); err != nil {
			t.Fatalf("calibrate: %v\n%s", err, talk.String())
		}
	})
	t.Log(out.String())
	ds, _, err := baseline.Read(filepath.Join(folder, "out"), "lab")
	if err != nil || len(ds) != 1 || ds[0].Noise == nil {
		t.Fatalf("%d digests with noise (%v)", len(ds), err)
	}
	return out.String(), ds[0]
}

const calibrated = `version: 1
runner: lab
target: {base_url: "BASE", model: simulated-8b}
campaign: {design: committed, runs: 5, warmup: {requests: 4}}
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 32}
    output_tokens: 8
    load: LOAD
    slo: {ttft: 400ms}
    primary: {metric: ttft.p95, tolerance: 5%, rule_out: 25%}
gate:
  rules:
    - {metric: tpot.mean, tolerance: 5%}
    - {metric: ttft.p90, tolerance: 5%}
    - {metric: error.ratio, max: 0.5%}
`

func TestCalibrationFindsTheSpreadOfASimulatedServer(t *testing.T) {
	t.Parallel()
	text, d := calibrateAt(t, fourSlots, "{concurrency: 4, requests: 60}")
	n := *d.Noise
	if n.Runs != 12 || n.Design != "committed" {
		t.Errorf("%d runs, design %q", n.Runs, n.Design)
	}
	for _, name := range []string{"ttft.p50", "tpot.mean", "output.rate"} {
		sd := n.Metrics[name].SD
		// χ² with 11 degrees of freedom: a sample's sd is within 0.58 and 1.46 of the true one in 99 % of samples.
		if !(sd > 0.58*fourSlots.RunSD && sd < 1.46*fourSlots.RunSD) {
			t.Errorf("%s: sd %.4f, the server was told %v", name, sd, fourSlots.RunSD)
		}
	}
	if math.IsNaN(n.Metrics["ttft.p90"].SD) || n.Metrics["ttft.p90"].SD == 0 {
		t.Errorf("ttft.p90, which a rule names, has noise %+v", n.Metrics["ttft.p90"])
	}
	for _, want := range []string{"simulated", "stored in", "looked for and not found", "too few requests", "advised for ttft.p95"} {
		if !strings.Contains(text, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
}

func TestCalibrationTellsASaturatedLoadFromALightOne(t *testing.T) {
	t.Parallel()
	busy, _ := calibrateAt(t, fourSlots, "{rate: 13, requests: 60}")
	if !strings.Contains(busy, "near saturation:") || !strings.Contains(busy, "set rate:") {
		t.Error("a load of 0.97 was not called near saturation")
	}
	light, _ := calibrateAt(t, fourSlots, "{rate: 3, requests: 60}")
	if strings.Contains(light, "near saturation:") || !strings.Contains(light, "a load near saturation") {
		t.Error("a load of 0.23 was called near saturation")
	}
}

func TestARunnerThatSpoilsItsRunsIsTold(t *testing.T) {
	t.Parallel()
	var c calibrateCmd
	calibrateAt(t, fourSlots, "{concurrency: 4, requests: 60}", func(made *calibrateCmd) { c = *made })
	conf, err := config.Read(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		void int
		want string
	}{
		"five runs stand": {7, "chat: 5 runs of 60 requests"},
		"four runs stand": {8, "chat: 4 runs without a fault, too few"},
	} {
		f, err := os.Open(filepath.Join(c.Output, "lab", campaign.JournalFile))
		if err != nil {
			t.Fatal(err)
		}
		log, err := bench.ReadCampaign(f, "campaign")
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		left := test.void
		for i := range log.Runs {
			if !log.Runs[i].WarmUp && left > 0 {
				left--
				log.Runs[i].Void = "the client sent late"
			}
		}
		before, err := os.ReadFile(filepath.Join(c.Output, "lab", "chat.json"))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		spoilt := &campaign.ServerError{Doing: "scenario chat", Err: campaign.ErrSpoilt}
		err = c.conclude(&shell{ctx: t.Context(), stdout: &out}, conf, *log, nil, spoilt)
		if !errors.Is(err, campaign.ErrSpoilt) || exitCode(t.Context(), err) != exitServer {
			t.Errorf("%s: error is %v", name, err)
		}
		for _, want := range []string{test.want, "is void: the client sent late", "not stored"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, out.String())
			}
		}
		after, err := os.ReadFile(filepath.Join(c.Output, "lab", "chat.json"))
		if err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: the digest changed (%v)", name, err)
		}
	}
}
