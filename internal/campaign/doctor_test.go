package campaign

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/sim"
)

var update = flag.Bool("update", false, "write testdata/doctor.tsv anew")

// TestDoctorKnowsEveryFault holds what a doctor says of a simulated server with each fault against a table: fit or not,
// and each check of the server that is not well, with its class. A fault without a line fails.
func TestDoctorKnowsEveryFault(t *testing.T) {
	text, err := os.ReadFile("testdata/doctor.tsv")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, "\t")
		want[name] = append(want[name], strings.TrimSuffix(line, "\n"))
	}
	var all bytes.Buffer
	fmt.Fprintln(&all, "fault\tverdict\tcheck\tclass\tfound\tnext")
	for _, name := range append([]string{"none"}, faultNames()...) {
		found, took := examined(t, strings.TrimPrefix(name, "none"))
		lines := tellFault(name, found)
		fmt.Fprintln(&all, strings.Join(lines, "\n"))
		if diff := cmp.Diff(want[name], lines); diff != "" && !*update {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		most := time.Minute
		if !found.Fit { // a silent server is waited for as long as run waits
			most += openai.ProbeLimits().FirstToken
		}
		if took > most {
			t.Errorf("%s: the look took %s", name, took)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/doctor.tsv", all.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func faultNames() []string {
	var names []string
	for _, f := range sim.Faults() {
		names = append(names, strings.Replace(f.Name, "-N", "-3", 1))
	}
	return names
}

// inMemoryTarget is a simulated server in memory.
func inMemoryTarget(o sim.Options) (*sim.Running, Examination) {
	m := sim.NewMemory()
	running := sim.Serve(sim.New(o), m)
	target := config.Target{BaseURL: running.BaseURL(), Model: "simulated-8b", API: "chat", LimitField: "auto", Metrics: "/metrics"}
	return running, Examination{
		Target: &target, APIKey: "sk-simulated-key", Host: host.Facts{Machine: "m1", Accelerator: host.None},
		Dial: m.Dial, Say: func(string) {},
	}
}

// examined looks at a server with a fault, in virtual time.
func examined(t *testing.T, fault string) (found Diagnosis, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		running, e := inMemoryTarget(sim.Options{Fault: fault, TTFT: 30 * time.Millisecond, TPOT: 5 * time.Millisecond})
		defer running.Close()
		begun := time.Now()
		d := &doctor{Examination: e, found: Diagnosis{Fit: true}}
		d.side = d.sides()[0]
		d.server(t.Context())
		found, took = d.found, time.Since(begun)
	})
	return found, took
}

// tellFault is a line for each check of the server that is not well; one line where there is none.
func tellFault(name string, d Diagnosis) []string {
	verdict := "fit"
	if !d.Fit {
		verdict = "unfit"
	}
	var lines []string
	for _, c := range d.Checks {
		if strings.HasPrefix(name, "die-") && c.Class != "" {
			// Which request meets the broken connection and which the closed port is chance.
			c.Class = "reset or refused"
			c.Found, _, _ = strings.Cut(c.Found, ";")
		}
		if c.State != Good {
			lines = append(lines, strings.Join([]string{name, verdict, c.State + " " + c.Name, c.Class, c.Found, c.Next}, "\t"))
		}
	}
	if lines == nil {
		lines = []string{name + "\t" + verdict + "\t\t\t\t"}
	}
	return lines
}

// TestDoctorLooksAtEverything names the checks of a healthy server with a plan.
func TestDoctorLooksAtEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, e := inMemoryTarget(sim.Options{TTFT: 30 * time.Millisecond, TPOT: 5 * time.Millisecond})
		defer running.Close()
		c, err := config.Parse("benchgate.yaml", fmt.Appendf(nil, twoScenarios, "http://127.0.0.1:1/v1"))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := NewPlan(c, ".", nil, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		e.Plan = &plan
		found, err := Examine(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range found.Checks {
			if c.Section == "runner" {
				continue // it is the machine's own
			}
			got = append(got, c.Section+": "+c.Name+": "+c.State)
			if c.Found == "" || c.State != Good && (c.Why == "" || c.Next == "") {
				t.Errorf("%s does not say what, why and what next: %+v", c.Name, c)
			}
		}
		want := []string{
			"server: identity: ok", "server: model: ok", "server: host: ok", "server: length: ok", "server: token counts: ok", "server: stream: ok",
			"server: reasoning: ok", "server: cached tokens: ok", "server: tokenizer: ok", "server: trial: ok", "server: own account: ok", "server: connections: ok", "server: metrics: ok",
			"client: closed: ok", "client: open: ok", "config: time: ok", "config: closed: ok", "config: open: ok",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !found.Fit || !found.Simulated || found.Schema != DoctorSchema {
			t.Errorf("fit %v, simulated %v, schema %q", found.Fit, found.Simulated, found.Schema)
		}
	})
}

func TestDoctorFailsWhatVoidsRuns(t *testing.T) {
	for name, tt := range map[string]struct {
		client bench.Client
		ttft   float64
		state  string
	}{
		"a calm client":                          {bench.Client{SelfTest99: 0.001}, 0, Good},
		"a late one":                             {bench.Client{SelfTest99: 0.006}, 0, Fail},
		"the same before a server that is slow":  {bench.Client{SelfTest99: 0.006}, 0.2, Good},
		"a starved one":                          {bench.Client{TimerP99: 0.03}, 0, Fail},
		"one that took the machine for the test": {bench.Client{CPU: 0.9, HostCPU: 1}, 0, Good},
	} {
		d := &doctor{ttft: tt.ttft, Examination: Examination{Plan: &Plan{Config: config.Config{Campaign: config.Campaign{Client: config.DefaultClient()}}}}}
		if c := d.judged(trial{name: "chat"}, tt.client); c.State != tt.state || (c.State == Fail) != (c.Why != "" && c.Next != "") {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestASlowServerIsNotABrokenOne: what the trial itself cut off is no failure of the server.
func TestASlowServerIsNotABrokenOne(t *testing.T) {
	answers := []bench.Request{
		{Class: bench.OK, Sent: 0, FirstToken: 9, LastToken: 10, End: 10, Chunks: 16, OutputTokens: 16},
		{Index: 1, Class: bench.Canceled, Error: "stopped before the answer was complete"},
	}
	c := new(doctor).tried(answers, bench.Condense(answers, lookTrial.Seconds(), bench.SLO{}))
	if c.State != Warn || c.Class != "" || !strings.Contains(c.Found, "1 were not done within 30s") {
		t.Errorf("%+v", c)
	}
	answers[1].Class = bench.HTTP5xx
	if c := new(doctor).tried(answers, bench.Condense(answers, lookTrial.Seconds(), bench.SLO{})); c.State != Fail || c.Class != "http_5xx" {
		t.Errorf("%+v", c)
	}
}

// TestAServerOfManySecondsATokenIsFit: a doctor gives up no sooner than run does. What is slow is said to be.
func TestAServerOfManySecondsATokenIsFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, e := inMemoryTarget(sim.Options{TTFT: 60 * time.Second, TPOT: 5 * time.Second})
		defer running.Close()
		d := &doctor{Examination: e, found: Diagnosis{Fit: true}}
		d.side = d.sides()[0]
		d.server(t.Context())
		i := slices.IndexFunc(d.found.Checks, func(c Check) bool { return c.State != Good })
		if !d.found.Fit || i < 0 || d.found.Checks[i].Name != "trial" || !strings.Contains(d.found.Checks[i].Found, "8 were not done within 30s") {
			t.Errorf("%+v", d.found)
		}
	})
}

// TestWhatLiesBetweenServerAndClientIsTold: a gap is told, and warned of where it is far more than what an honest server
// does outside its clock. One whose clock starts with the work may have let requests wait.
func TestWhatLiesBetweenServerAndClientIsTold(t *testing.T) {
	for name, tt := range map[string]struct {
		ttft, gap float64
		from      string
		doubts    map[string]string
		state     string
		found     string
	}{
		"a little":                  {0.1, 0.019, bench.FromArrival, nil, Good, "saw 119ms: 19ms more"},
		"much":                      {0.1, 0.021, bench.FromArrival, nil, Warn, "saw 121ms: 21ms more"},
		"as much of a long time":    {1, 0.099, bench.FromArrival, nil, Good, "saw 1.1s: 99ms more"},
		"too much of it":            {1, 0.12, bench.FromArrival, nil, Warn, "saw 1.12s: 120ms more"},
		"nothing":                   {0.1, 0, bench.FromArrival, nil, Good, "this client saw 100ms"},
		"a wait, may be":            {0.1, 0.3, bench.FromWork, nil, Good, "300ms more, in which a wait for a slot of the server may be"},
		"much, and another trouble": {0.1, 0.05, bench.FromArrival, map[string]string{bench.DoubtChunks: "two a chunk"}, Warn, "50ms more; two a chunk"},
	} {
		c := ownAccount(&bench.ServerAccount{TTFT: tt.ttft, Gap: &tt.gap, TTFTFrom: tt.from, Source: "metrics", Doubts: tt.doubts})
		if c.State != tt.state || (c.State == Warn) != (c.Why != "" && c.Next != "") {
			t.Errorf("%s: %+v", name, c)
		}
		if !strings.HasSuffix(c.Found, tt.found) {
			t.Errorf("%s: %q does not end in %q", name, c.Found, tt.found)
		}
	}
}

func TestALoadThatNobodyAsksForOnlyWarns(t *testing.T) {
	if c := new(doctor).judged(trial{name: "64 at a time"}, bench.Client{SelfTest99: 0.006}); c.State != Warn || c.Next == "" {
		t.Errorf("%+v", c)
	}
}

func TestPlanOverItsBudgetIsNotFit(t *testing.T) {
	p := Plan{Best: time.Minute, Worst: time.Hour, Config: config.Config{Campaign: config.Campaign{Budget: 10 * time.Minute}}}
	for guessed, fit := range map[bool]bool{true: true, false: false} {
		p.Guessed = guessed
		d := &doctor{Examination: Examination{Plan: &p}, found: Diagnosis{Fit: true}}
		d.plan()
		if d.found.Fit != fit {
			t.Errorf("guessed %v: %+v", guessed, d.found.Checks)
		}
	}
}

// TestDoctorLooksAtBothSides: each check of a server says whose it is, and one side that is not fit is enough. The client
// is held against the faster of the two.
func TestDoctorLooksAtBothSides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, e := inMemoryTarget(sim.Options{TTFT: 300 * time.Millisecond, TPOT: 5 * time.Millisecond, Fault: "no-usage"})
		defer slow.Close()
		fast, other := inMemoryTarget(sim.Options{TTFT: 30 * time.Millisecond, TPOT: 5 * time.Millisecond})
		defer fast.Close()
		e.Reference = other.Target
		d := &doctor{Examination: e, found: Diagnosis{Fit: true}}
		for i, of := range d.sides() {
			d.side = of
			d.Dial = []func(context.Context, string, string) (net.Conn, error){e.Dial, other.Dial}[i]
			d.server(t.Context())
		}
		states := map[string]string{}
		for _, c := range d.found.Checks {
			states[c.Side+": "+c.Name] = c.State
		}
		for name, want := range map[string]string{
			"candidate: token counts": Warn, "reference: token counts": Good, "candidate: trial": Good, "reference: trial": Good, ": trial": "",
		} {
			if got := states[name]; got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if d.ttft < 0.02 || d.ttft > 0.2 {
			t.Errorf("the client is held against a ttft of %v s, want that of the faster server", d.ttft)
		}
	})
}
