package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/sim"
)

// twoScenarios is a small campaign: an open and a closed loop, three runs each.
const twoScenarios = `version: 1
runner: lab
target:
  base_url: %s
  model: simulated-8b
campaign: {design: committed, runs: 3, warmup: {requests: 4}}
scenarios:
  closed:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 4
    load: {concurrency: 4, requests: 60}
    slo: {ttft: 10s}
    primary: {metric: ttft.p95}
  open:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 4
    load: {rate: 200, requests: 60}
    primary: {metric: ttft.p50}
`

// simulated starts a quick server and returns its address.
func simulated(t *testing.T, o sim.Options) *sim.Running {
	t.Helper()
	if o.TTFT == 0 {
		o.TTFT, o.TPOT = 2*time.Millisecond, 200*time.Microsecond
	}
	s, err := sim.Listen(o, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func options(t *testing.T, state, baseURL string) Options {
	t.Helper()
	p := patiently(t, fmt.Sprintf(twoScenarios, baseURL))
	return Options{
		Plan: p, State: state, Key: "key", Commit: "c0ffee", Tool: "benchgate test", ID: "session-1",
		Host: host.Facts{Machine: "m1"}, Now: time.Now, Say: func(s string) { t.Log(s) },
	}
}

// patiently is the plan of a config, with limits on the client that a busy machine keeps too.
func patiently(t *testing.T, text string) Plan {
	t.Helper()
	p := planOf(t, text, ".", 0, nil)
	p.Config.Campaign.Client = config.Client{Lateness: 60, LatenessShare: 0.1, Timer: 60}
	return p
}

// runsOf counts the finished runs of each scenario, warm-up apart.
func runsOf(log bench.CampaignLog) map[string]int {
	n := map[string]int{}
	for _, r := range log.Runs {
		name := r.Scenario
		if r.WarmUp {
			name += " warm-up"
		} else if !r.Valid() {
			name += " void"
		}
		n[name]++
	}
	return n
}

func TestCampaignMeasuresEveryScenarioAfterWarmUp(t *testing.T) {
	s := simulated(t, sim.Options{Slots: 64})
	res, err := Run(t.Context(), options(t, t.TempDir(), s.BaseURL()))
	if err != nil {
		t.Fatal(err)
	}
	got := runsOf(res.Log)
	want := map[string]int{"closed": 3, "open": 3, "closed warm-up": 2, "open warm-up": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if !res.Log.Header.Simulated {
		t.Error("the header does not say that the server is simulated")
	}
	for _, d := range Digests(res.Log) {
		if !d.Simulated || d.MustMatch[bench.KeyWorkload] == "" || d.MustMatch[bench.KeyMachine] != "m1" {
			t.Errorf("digest of %q lacks its surroundings: %v", d.Scenario, d.MustMatch)
		}
		if got := d.MustMatch[bench.KeyTopology]; got != "client on the server's host" {
			t.Errorf("topology is %q", got)
		}
		var buf bytes.Buffer
		if err := bench.WriteDigest(&buf, d); err != nil {
			t.Error(err)
		}
	}
}

func TestFinishedCampaignMeasuresNothing(t *testing.T) {
	s := simulated(t, sim.Options{Slots: 64})
	o := options(t, t.TempDir(), s.BaseURL())
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	served := len(s.Server().Drain())
	o.ID = "session-2"
	res, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Measured != 0 || !res.Continued || len(s.Server().Drain()) != 0 || served == 0 {
		t.Errorf("measured %d runs again (continued: %v)", res.Measured, res.Continued)
	}
}

// TestCutCampaignGoesOnWhereItStopped cuts the file at every kind of place that a kill can leave.
func TestCutCampaignGoesOnWhereItStopped(t *testing.T) {
	s := simulated(t, sim.Options{Slots: 64})
	state := t.TempDir()
	o := options(t, state, s.BaseURL())
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(state, "key", JournalFile)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []struct {
		name string
		at   int
	}{
		{"in the middle of a request line", bytes.LastIndex(whole, []byte(`{"request"`)) + 40},
		{"between two lines", bytes.LastIndex(whole, []byte(`{"request"`))},
		{"in the header", 20},
		{"in an early run", len(whole) / 2},
	} {
		t.Run(cut.name, func(t *testing.T) {
			if err := os.WriteFile(file, whole[:cut.at], 0o600); err != nil {
				t.Fatal(err)
			}
			before := bytes.Count(whole[:cut.at], []byte(`{"run":{`))
			res, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			got := runsOf(res.Log)
			if got["closed"] != 3 || got["open"] != 3 {
				t.Errorf("runs after continuing: %v", got)
			}
			after, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if before > 0 && !bytes.HasPrefix(after, whole[:bytes.LastIndexByte(whole[:cut.at], '\n')+1]) {
				t.Error("what had been measured was changed")
			}
		})
	}
}

func TestFreshSetsTheEarlierCampaignAside(t *testing.T) {
	s := simulated(t, sim.Options{Slots: 64})
	state := t.TempDir()
	o := options(t, state, s.BaseURL())
	o.Fresh = true // there is nothing to set aside
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Measured < 6 || res.Continued {
		t.Errorf("measured %d runs, continued %v", res.Measured, res.Continued)
	}
	if _, err := os.Stat(filepath.Join(state, "key", JournalFile+".old-1")); err != nil {
		t.Errorf("the earlier campaign is gone: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(state, "key", "*.old-*")); len(left) != 1 {
		t.Errorf("set aside: %v", left)
	}
}

func TestServerThatFailsEveryRequestIsAServerError(t *testing.T) {
	s := simulated(t, sim.Options{Slots: 64, Fault: "error-500"})
	o := options(t, t.TempDir(), s.BaseURL())
	o.Plan.Config.Target.ReadyIn = 200 * time.Millisecond
	_, err := Run(t.Context(), o)
	var server *ServerError
	if !errors.As(err, &server) {
		t.Fatalf("error is %v, want a ServerError", err)
	}
}

func TestNoServerIsAServerError(t *testing.T) {
	s := simulated(t, sim.Options{})
	url := s.BaseURL()
	s.Close()
	o := options(t, t.TempDir(), url)
	o.Plan.Config.Target.ReadyIn = 200 * time.Millisecond
	_, err := Run(t.Context(), o)
	var server *ServerError
	if !errors.As(err, &server) {
		t.Fatalf("error is %v, want a ServerError", err)
	}
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	s := simulated(t, sim.Options{Slots: 64})
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("interrupted")
	o := options(t, t.TempDir(), s.BaseURL())
	o.Progress = func(p Progress) {
		if !p.WarmUp && p.Run == 2 && p.Done == 30 {
			cancel(stop)
		}
	}
	res, err := Run(ctx, o)
	if !errors.Is(err, stop) {
		t.Fatalf("error is %v, want the interrupt", err)
	}
	if n := runsOf(res.Log)["closed"]; n != 1 {
		t.Errorf("%d finished runs of the closed loop are on record, want 1", n)
	}
	res, err = Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := runsOf(res.Log); got["closed"] != 3 || got["open"] != 3 {
		t.Errorf("runs after continuing: %v", got)
	}
}

func TestCampaignIsWrittenByOneProcessAtATime(t *testing.T) {
	folder := t.TempDir()
	j, err := openJournal(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	if _, err := openJournal(folder); !errors.Is(err, ErrBusy) {
		t.Errorf("error is %v, want %v", err, ErrBusy)
	}
}

func TestCampaignOfAnotherMachineIsNotContinued(t *testing.T) {
	s := simulated(t, sim.Options{Slots: 64})
	o := options(t, t.TempDir(), s.BaseURL())
	o.Plan.Runs = 1
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.Plan.Runs = 2
	o.Host.Machine = "m2"
	_, err := Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "--fresh") {
		t.Errorf("error is %v, want one that names --fresh", err)
	}
}
