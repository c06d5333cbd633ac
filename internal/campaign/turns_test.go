package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/sim"
)

// turnsConfig is a small campaign against a reference, both in memory.
const turnsConfig = `version: 1
runner: lab
target: {base_url: http://127.0.0.1:1/v1, model: simulated-8b}
reference: {base_url: http://127.0.0.1:2/v1}
campaign: {design: %s, runs: 3, looks: [2, 4], visit_runs: %d, cooldown: 5s, warmup: {requests: 4}}
scenarios:
  closed:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 4
    load: {concurrency: 4, requests: 24}
    primary: {metric: ttft.p50}
  open:
    dataset: {kind: random, input_tokens: 16}
    output_tokens: 4
    load: {rate: 40, requests: 24}
    primary: {metric: ttft.p50}
`

// twoBuilds are two simulated builds in memory, each behind an address of its own.
type twoBuilds struct{ candidate, reference *sim.Running }

func builds(t *testing.T, candidate, reference string) (twoBuilds, dialer) {
	t.Helper()
	return served(t, sim.Options{Seed: 1, RunSD: 0.03, Fault: candidate}, sim.Options{Seed: 2, RunSD: 0.03, Fault: reference})
}

func served(t *testing.T, candidate, reference sim.Options) (twoBuilds, dialer) {
	t.Helper()
	ports := sim.Ports{}
	serve := func(port int, o sim.Options) *sim.Running {
		o.TTFT, o.TPOT = 20*time.Millisecond, 2*time.Millisecond
		ports[port] = sim.NewMemory()
		s := sim.Serve(sim.New(o), ports[port])
		t.Cleanup(func() { s.Close() })
		return s
	}
	return twoBuilds{serve(1, candidate), serve(2, reference)}, ports.Dial
}

// inTurn are the options of a campaign over two builds in memory.
func inTurn(t *testing.T, design string, visitRuns int, dial dialer) Options {
	t.Helper()
	p := patiently(t, fmt.Sprintf(turnsConfig, design, visitRuns))
	return Options{
		Plan: p, State: t.TempDir(), Key: "key", Commit: "c0ffee", ReferenceCommit: "ba5e", Tool: "benchgate test", ID: "s",
		Host: host.Facts{Machine: fmt.Sprintf("turns-%d-%s", os.Getpid(), filepath.Base(t.TempDir()))},
		Now:  time.Now, Dial: dial, Say: func(s string) { t.Log(s) },
	}
}

// virtual runs a test in virtual time.
func virtual(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func must(t *testing.T, o Options) Result {
	t.Helper()
	res, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// sidesOf is the order of the sides, a letter a visit.
func sidesOf(log bench.CampaignLog) string {
	letters := ""
	for _, v := range log.Visits {
		switch {
		case v.Stage == 1:
			letters += "1"
		case v.Side == reference:
			letters += "R"
		default:
			letters += "C"
		}
	}
	return letters
}

// visitsOf counts a scenario's visits with all their runs, by side.
func visitsOf(log bench.CampaignLog, scenario string, visitRuns int) map[string]int {
	runs := map[int]int{}
	for _, r := range log.Runs {
		if r.Scenario == scenario && !r.WarmUp && r.Valid() {
			runs[r.Visit]++
		}
	}
	n := map[string]int{}
	for visit, k := range runs {
		if k == visitRuns {
			n[VisitOf(log, visit).Side]++
		}
	}
	return n
}

func TestSidesTakeTurnsInBalance(t *testing.T) {
	virtual(t, func(t *testing.T) {
		_, dial := builds(t, "", "")
		log := must(t, inTurn(t, "interleaved", 2, dial)).Log
		if got := sidesOf(log); got != "RCCRRCCR" {
			t.Errorf("sides stand %s", got)
		}
		for _, look := range []int{2, 4} {
			sum := map[string]int{}
			for _, r := range log.Runs {
				if r.Visit <= 2*look && !r.WarmUp && r.Scenario == "open" {
					sum[VisitOf(log, r.Visit).Side] += r.Order
				}
			}
			if sum[reference] != sum[candidate] {
				t.Errorf("up to %d visits a side the mean orders differ: %v", look, sum)
			}
		}
		for _, scenario := range []string{"closed", "open"} {
			if diff := cmp.Diff(map[string]int{reference: 4, candidate: 4}, visitsOf(log, scenario, 2)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", scenario, diff)
			}
		}
	})
}

func TestEachVisitWarmsEveryScenarioUpAndNoMore(t *testing.T) {
	virtual(t, func(t *testing.T) {
		_, dial := builds(t, "", "")
		log := must(t, inTurn(t, "interleaved", 1, dial)).Log
		warm := map[int]int{}
		for _, r := range log.Runs {
			if r.WarmUp {
				warm[r.Visit] += r.Sent
			}
		}
		for _, v := range log.Visits {
			if warm[v.Number] != 8 {
				t.Errorf("visit %d: %d warm-up requests, want 4 of each scenario", v.Number, warm[v.Number])
			}
		}
	})
}

func TestPairsSendTheSamePromptsAndNobodyElseDoes(t *testing.T) {
	virtual(t, func(t *testing.T) {
		both, dial := builds(t, "", "")
		o := inTurn(t, "interleaved", 1, dial)
		log := must(t, o).Log
		prompts := func(s *sim.Running, side string) (visits []string) {
			records := s.Server().Drain()
			for _, v := range log.Visits {
				if v.Side != side {
					continue
				}
				end := v.Started
				for _, r := range log.Runs {
					if r.Visit == v.Number {
						end = r.Started.Add(time.Duration(r.Duration * float64(time.Second)))
					}
				}
				var keys []string
				for _, r := range records {
					if !r.Received.Before(v.Started) && !r.Received.After(end) { // virtual time: the first comes at once
						keys = append(keys, fmt.Sprint(r.Prompt))
					}
				}
				slices.Sort(keys)
				visits = append(visits, strings.Join(keys, " "))
			}
			return visits
		}
		c, r := prompts(both.candidate, candidate), prompts(both.reference, reference)
		if diff := cmp.Diff(r, c); diff != "" {
			t.Errorf("the sides' prompts differ (-reference +candidate):\n%s", diff)
		}
		seen := map[string]int{}
		for visit, keys := range c {
			for key := range strings.FieldsSeq(keys) {
				if was, twice := seen[key]; twice {
					t.Errorf("visits %d and %d of a side share prompt %s", was, visit, key)
				}
				seen[key] = visit
			}
		}
		if len(seen) != 4*(24+24+4+4) {
			t.Errorf("%d prompts, want those of four visits", len(seen))
		}
	})
}

func TestBothSidesHaveADigestOfTheSameSession(t *testing.T) {
	virtual(t, func(t *testing.T) {
		_, dial := builds(t, "", "")
		log := must(t, inTurn(t, "interleaved", 1, dial)).Log
		for side, digests := range map[string][]bench.Digest{candidate: Digests(log), reference: References(log)} {
			if len(digests) != 2 {
				t.Fatalf("%s: %d digests", side, len(digests))
			}
			for _, d := range digests {
				s := d.Sessions[0]
				if len(d.Sessions) != 1 || s.ID != "s" || !s.Interleaved || len(s.Visits) != 4 || s.Planned != 0 || !slices.Equal(s.Looks, []int{2, 4}) {
					t.Errorf("%s: session %+v", side, s)
				}
				want := map[string]string{candidate: "c0ffee", reference: "ba5e"}[side]
				if s.UnderTest[bench.KeyCommit] != want {
					t.Errorf("%s: commit %q, want %q", side, s.UnderTest[bench.KeyCommit], want)
				}
			}
		}
		if c := bench.Compare(References(log)[0], Digests(log)[0]); len(c.Incomparable) > 0 {
			t.Errorf("the sides are not comparable: %v", c.Incomparable)
		}
	})
}

func TestOnlyOpenScenariosGoOnAfterALook(t *testing.T) {
	for name, test := range map[string]struct {
		open         []string
		closed, both int // visits a side of the closed loop, and of the open one
		sides        string
	}{
		"one is open":       {[]string{"open"}, 2, 4, "RCCRRCCR"},
		"none is":           {nil, 2, 2, "RCCR"},
		"all are":           {[]string{"closed", "open"}, 4, 4, "RCCRRCCR"},
		"a name unheard of": {[]string{"nobody"}, 2, 2, "RCCR"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				_, dial := builds(t, "", "")
				o := inTurn(t, "interleaved", 1, dial)
				calls := 0
				o.Look = func(r, c []bench.Digest) []string {
					calls++
					if len(r) != 2 || len(c) != 2 || len(c[0].Sessions[0].Visits) != 2 {
						t.Errorf("the look sees %d and %d digests", len(r), len(c))
					}
					return test.open
				}
				log := must(t, o).Log
				if got := sidesOf(log); got != test.sides {
					t.Errorf("sides stand %s, want %s", got, test.sides)
				}
				got := []int{visitsOf(log, "closed", 1)[candidate], visitsOf(log, "open", 1)[reference]}
				if diff := cmp.Diff([]int{test.closed, test.both}, got); diff != "" {
					t.Errorf("visits (-want +got):\n%s", diff)
				}
				if calls != 1 {
					t.Errorf("the first look was asked %d times", calls)
				}
			})
		})
	}
}

func TestCoolDownParts(t *testing.T) {
	virtual(t, func(t *testing.T) {
		_, dial := builds(t, "", "")
		log := must(t, inTurn(t, "interleaved", 1, dial)).Log
		for i, v := range log.Visits[1:] {
			last := log.Visits[i]
			end := last.Started
			for _, r := range log.Runs {
				if r.Visit == last.Number {
					end = r.Started.Add(time.Duration(r.Duration * float64(time.Second)))
				}
			}
			if pause := v.Started.Sub(end); pause < 5*time.Second {
				t.Errorf("between visits %d and %d are %s, want campaign.cooldown at least", last.Number, v.Number, pause)
			}
		}
	})
}

func TestAnInterruptEndsTheCoolDown(t *testing.T) {
	virtual(t, func(t *testing.T) {
		_, dial := builds(t, "", "")
		o := inTurn(t, "interleaved", 1, dial)
		o.Plan.Config.Campaign.CoolDown = time.Hour
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("interrupted")
		time.AfterFunc(10*time.Minute, func() { cancel(stop) })
		began := time.Now()
		res, err := Run(ctx, o)
		if !errors.Is(err, stop) || time.Since(began) > 11*time.Minute {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if len(res.Log.Visits) != 1 {
			t.Errorf("%d visits", len(res.Log.Visits))
		}
	})
}

func TestConfirm(t *testing.T) {
	for name, test := range map[string]struct {
		based, unconfirmed []string
		sides              string
		sessions           map[string][]string // of the candidate
	}{
		"all is well": {
			[]string{"closed", "open"},
			nil, "1",
			map[string][]string{"closed": {"s-1"}, "open": {"s-1"}},
		},
		"one is to be confirmed": {
			[]string{"closed", "open"},
			[]string{"open"},
			"1RCCRRCCR",
			map[string][]string{"closed": {"s-1"}, "open": {"s-1", "s-2"}},
		},
		"one has no baseline": {
			[]string{"closed"},
			nil, "1RCCRRCCR",
			map[string][]string{"closed": {"s-1"}, "open": {"s-2"}},
		},
		"none has a baseline": {
			nil, nil, "RCCRRCCR",
			map[string][]string{"closed": {"s-2"}, "open": {"s-2"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				_, dial := builds(t, "", "")
				o := inTurn(t, "confirm", 1, dial)
				var err error
				if o.Plan, err = o.Plan.Against(test.based); err != nil {
					t.Fatal(err)
				}
				asked := 0
				o.Stage1 = func(head []bench.Digest) []string {
					asked++
					for _, d := range head {
						if n := len(d.Sessions[0].Runs()); n != 3 || d.Sessions[0].Planned != 3 || d.Sessions[0].Interleaved {
							t.Errorf("the first stage of %s has %d runs", d.Scenario, n)
						}
					}
					return test.unconfirmed
				}
				log := must(t, o).Log
				if got := sidesOf(log); got != test.sides {
					t.Errorf("visits are %s, want %s", got, test.sides)
				}
				got := map[string][]string{}
				for _, d := range Digests(log) {
					for _, s := range d.Sessions {
						got[d.Scenario] = append(got[d.Scenario], s.ID)
					}
				}
				if diff := cmp.Diff(test.sessions, got); diff != "" {
					t.Errorf("sessions (-want +got):\n%s", diff)
				}
				for _, d := range References(log) {
					if d.Sessions[0].ID != "s-2" || len(d.Sessions) != 1 {
						t.Errorf("reference of %s: %v", d.Scenario, d.Sessions[0].ID)
					}
				}
				if want := min(1, len(test.based)); asked != want {
					t.Errorf("the first stage was asked about %d times, want %d", asked, want)
				}
				if res := must(t, o); res.Measured != 0 {
					t.Errorf("%d runs were measured again", res.Measured)
				}
			})
		})
	}
}
