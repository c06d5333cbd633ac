package campaign

import (
	"strings"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/sim"
)

// A run of requests with TTFT 100 ms and E2EL 200 ms: every limit on a time stands at twice its value, that on streams at four times.
func TestEachLimitVoidsWithItsFigure(t *testing.T) {
	open := config.Load{Rate: 1, Requests: 60}
	strict := config.Client{Lateness: 0.005, LatenessShare: 0.10, Timer: 0.025, Sched: 0.025, GCPause: 0.01, CPU: 0.5, HostCPU: 0.9, Throttled: 0.25}
	for _, c := range []struct {
		name   string
		client bench.Client
		want   string // empty: the run stands
	}{
		{"healthy", bench.Client{SelfTest99: 0.0099, SelfTestStream99: 0.0199, TimerP99: 0.049, SchedP99: 0.049, GCPause: 0.019, CPU: 0.5, HostCPU: 0.9, Throttled: 0.25}, ""},
		{"throttled", bench.Client{Throttled: 0.4, TimerP99: 1}, "the container's CPU quota stopped the client's group for 40 % of the machine's time against a limit of 25 %"},
		{"busy host", bench.Client{HostCPU: 0.97}, "the whole machine was busy: 97 % of its CPU time against a limit of 90 %"},
		{"hungry client", bench.Client{CPU: 0.61}, "the client itself took 61 % of the machine's CPU time against a limit of 50 %"},
		{"self-test", bench.Client{SelfTest99: 0.011}, "the client's own error in the loopback self-test: p99 11ms against a limit of 10ms"},
		{"stretched streams", bench.Client{SelfTestStream99: 0.022}, "the client stretched the streams of the loopback self-test: p99 22ms against a limit of 20ms"},
		{"timer", bench.Client{TimerP99: 0.06}, "the client was starved of processor time: a 1 ms timer overslept by 60ms, p99, against a limit of 50ms"},
		{"scheduler", bench.Client{SchedP99: 0.06}, "the client was starved of processor time: what could run in it waited 60ms, p99, against a limit of 50ms"},
		{"collector", bench.Client{GCPause: 0.03}, "the client's garbage collector paused for 30ms against a limit of 20ms"},
	} {
		requests := sent(60, 0)
		run := bench.Condense(requests, 60, bench.SLO{})
		run.Client = c.client
		examine(&run, requests, open, strict)
		if run.Void != c.want {
			t.Errorf("%s: void is %q, want %q", c.name, run.Void, c.want)
		}
		if got := run.Client.LagLimit; got < 0.00999 || got > 0.01001 {
			t.Errorf("%s: the limit on lag is %v s, want 10 ms", c.name, got)
		}
		off := bench.Condense(requests, 60, bench.SLO{})
		off.Client = c.client
		off.Client.SelfTest99, off.Client.SelfTestStream99 = 0, 0
		if examine(&off, requests, open, config.Client{Lateness: 0.005, LatenessShare: 0.1}); off.Void != "" {
			t.Errorf("%s: void although the limit is off: %s", c.name, off.Void)
		}
	}
}

// By default a busy machine alone voids nothing: where server and client share two cores it is busy by design.
func TestABusyMachineAloneVoidsNothing(t *testing.T) {
	requests := sent(60, 0)
	run := bench.Condense(requests, 60, bench.SLO{})
	run.Client = bench.Client{CPU: 0.9, HostCPU: 1, GCPause: 0.2, SchedP99: 0.01, TimerP99: 0.01}
	if examine(&run, requests, config.Load{Concurrency: 1, Requests: 60}, config.DefaultClient()); run.Void != "" {
		t.Error(run.Void)
	}
}

func TestSelfTestErrorIsTheClientsAccountMinusTheServers(t *testing.T) {
	start := time.Unix(100, 0)
	at := func(ms float64) time.Time { return start.Add(time.Duration(ms * float64(time.Millisecond))) }
	requests, truth := []bench.Request{}, map[int]sim.Record{}
	for i := range 5 {
		requests = append(requests, bench.Request{
			Index: i, Class: bench.OK, Sent: 1, FirstToken: 1.020 + 0.001*float64(i), FirstAnswer: 1.020 + 0.001*float64(i),
			LastToken: 1.050 + 0.003*float64(i), OutputTokens: 16, Chunks: 16,
		})
		truth[i] = sim.Record{Received: at(0), First: at(20), Last: at(50)}
	}
	requests = append(requests, bench.Request{Index: 9, Class: bench.OK, Sent: 1, FirstToken: 9}) // the server knows nothing of it
	got, err := errorOf(requests, truth)
	if err != nil {
		t.Fatal(err)
	}
	// TTFT errors are 0 to 4 ms; streams seem longer by 0 to 8 ms.
	for name, x := range map[string][2]float64{"ttft p50": {got.ttft50, 0.002}, "ttft p99": {got.ttft99, 0.00396}, "stream p99": {got.stream99, 0.00792}} {
		if d := x[0] - x[1]; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s is %v, want %v", name, x[0], x[1])
		}
	}
	if _, err := errorOf(nil, truth); err == nil {
		t.Error("a self-test without one answer has an error of 0")
	}
}

func TestAPlanKnowsTheFilesItNeeds(t *testing.T) {
	p := Plan{Scenarios: []config.Scenario{
		{Name: "few", Load: config.Load{Concurrency: 4, Requests: 80}},
		{Name: "many", Load: config.Load{Concurrency: 512, Requests: 1024}},
		{Name: "unbounded", Load: config.Load{Rate: 2, Requests: 5000}},
		{Name: "bounded", Load: config.Load{Rate: 2, Requests: 5000, MaxConcurrency: 8}},
	}}
	if need, scenario := p.Files(); need != 512+2*512+reserve || scenario != "many" {
		t.Errorf("%d files for %q", need, scenario)
	}
	notes := p.Crowded(4096)
	if len(notes) != 1 || !strings.Contains(notes[0], `"unbounded"`) || !strings.Contains(notes[0], "max_concurrency") {
		t.Errorf("notes are %q", notes)
	}
	if len(p.Crowded(0)) != 0 || len(p.Crowded(1<<20)) != 0 {
		t.Error("a note although the limit is not known, or large")
	}
}
