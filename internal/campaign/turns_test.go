package campaign

import (
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

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
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
	serve := func(o sim.Options) (*sim.Running, dialer) {
		o.TTFT, o.TPOT = 20*time.Millisecond, 2*time.Millisecond
		m := sim.NewMemory()
		s := sim.Serve(sim.New(o), m)
		t.Cleanup(func() { s.Close() })
		return s, m.Dial
	}
	c, toCandidate := serve(candidate)
	r, toReference := serve(reference)
	return twoBuilds{c, r}, func(ctx context.Context, network, address string) (net.Conn, error) {
		dial, port := toCandidate, 1
		if strings.HasSuffix(address, ":2") {
			dial, port = toReference, 2
		}
		conn, err := dial(ctx, network, address)
		return named{conn, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}}, err
	}
}

// named is a connection in memory that knows where it leads: the client dials that again.
type named struct {
	net.Conn
	at net.Addr
}

func (n named) RemoteAddr() net.Addr { return n.at }

// inTurn are the options of a campaign over two builds in memory.
func inTurn(t *testing.T, design string, visitRuns int, dial dialer) Options {
	t.Helper()
	c, err := config.Parse("benchgate.yaml", fmt.Appendf(nil, turnsConfig, design, visitRuns))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(c, ".", nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Plan: p, State: t.TempDir(), Key: "key", Commit: "c0ffee", ReferenceCommit: "ba5e", Tool: "benchgate test", ID: "s",
		Host: host.Facts{Machine: fmt.Sprintf("turns-%d-%s", os.Getpid(), filepath.Base(t.TempDir()))},
		Now:  time.Now, Lateness: 60, Dial: dial, Say: func(s string) { t.Log(s) },
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

// TestCutTurnsGoOnInTheirPlace cuts the file at many places, as a kill does.
func TestCutTurnsGoOnInTheirPlace(t *testing.T) {
	for _, design := range []string{"interleaved", "confirm"} {
		t.Run(design, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				_, dial := builds(t, "", "")
				o := inTurn(t, design, 2, dial)
				var err error
				if o.Plan, err = o.Plan.Against([]string{"closed"}); err != nil {
					t.Fatal(err)
				}
				must(t, o)
				file := filepath.Join(o.State, "key", JournalFile)
				whole, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				step := 1
				if testing.Short() {
					step = 4
				}
				for part := 1; part < 12; part += step {
					at := len(whole)*part/12 + part
					if err := os.WriteFile(file, whole[:at], 0o600); err != nil {
						t.Fatal(err)
					}
					log := must(t, o).Log
					for _, scenario := range []string{"closed", "open"} {
						got := visitsOf(bench.CampaignLog{Visits: turnsOf(log), Runs: log.Runs}, scenario, 2)
						if got[reference] != 4 || len(References(log)) != 2 {
							t.Errorf("cut at %d of %d: %s has visits %v", at, len(whole), scenario, got)
						}
					}
					if got := order(log); got != "RCCRRCCR" {
						t.Errorf("cut at %d of %d: sides stand %s", at, len(whole), got)
					}
					if res := must(t, o); res.Measured != 0 {
						t.Errorf("cut at %d of %d: %d more runs were measured", at, len(whole), res.Measured)
					}
				}
			})
		})
	}
}

// turnsOf are the visits in which both sides took turns, each once.
func turnsOf(log bench.CampaignLog) []bench.VisitRecord {
	return slices.CompactFunc(slices.DeleteFunc(slices.Clone(log.Visits), func(v bench.VisitRecord) bool { return v.Stage == 1 }),
		func(a, b bench.VisitRecord) bool { return a.Number == b.Number })
}

func order(log bench.CampaignLog) string { return sidesOf(bench.CampaignLog{Visits: turnsOf(log)}) }

func TestTheBudgetsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		budget time.Duration
		fails  bool
	}{
		"before the first look": {30 * time.Second, true},
		"after it":              {55 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				_, dial := builds(t, "", "")
				o := inTurn(t, "interleaved", 1, dial)
				o.Plan.Config.Campaign.CoolDown = 10 * time.Second
				o.Plan.Config.Campaign.Budget = test.budget
				res, err := Run(t.Context(), o)
				var server *ServerError
				if errors.As(err, &server) != test.fails || (err != nil) != test.fails {
					t.Fatalf("error is %v", err)
				}
				said := slices.ContainsFunc(res.Log.Warnings, func(w bench.Warning) bool {
					return w.Code == "budget" && strings.Contains(w.Message, "that at 2 visits a side decides")
				})
				if said == test.fails {
					t.Errorf("the result says of the budget: %v", res.Log.Warnings)
				}
				o.Plan.Config.Campaign.Budget = 0 // a re-run goes on, to the last look
				if got := sidesOf(must(t, o).Log); got != "RCCRRCCR" {
					t.Errorf("sides stand %s", got)
				}
			})
		})
	}
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

func TestAReferenceThatFailsIsNamedAndMeasuredAgain(t *testing.T) {
	virtual(t, func(t *testing.T) {
		_, dial := builds(t, "", "die-after-150")
		o := inTurn(t, "interleaved", 3, dial)
		o.Plan.Config.Reference.ReadyIn = time.Minute
		res, err := Run(t.Context(), o)
		var server *ServerError
		if !errors.As(err, &server) || !strings.Contains(err.Error(), "reference") {
			t.Fatalf("error is %v, want one about the reference", err)
		}
		if len(res.Log.Runs) == 0 {
			t.Fatal("nothing was measured before it died")
		}
		_, o.Dial = builds(t, "", "")
		log := must(t, o).Log
		if got := order(log); got != "RCCRRCCR" {
			t.Errorf("sides stand %s", got)
		}
		for _, scenario := range []string{"closed", "open"} {
			n := 0
			for _, r := range log.Runs {
				if r.Scenario == scenario && !r.WarmUp && r.Valid() && r.Invalid == "" && VisitOf(log, r.Visit).Side == reference {
					n++
				}
			}
			if n != 12 {
				t.Errorf("%s: %d sound runs of the reference, want 12", scenario, n)
			}
		}
	})
}

func TestACandidateThatFailsStaysOnRecord(t *testing.T) {
	virtual(t, func(t *testing.T) {
		_, dial := builds(t, "die-after-100", "")
		o := inTurn(t, "interleaved", 1, dial)
		_, err := Run(t.Context(), o)
		var server *ServerError
		if !errors.As(err, &server) || !strings.Contains(err.Error(), "candidate") || !strings.Contains(server.Hint, "--fresh") {
			t.Fatalf("error is %v, want one about the candidate with a hint", err)
		}
		_, o.Dial = builds(t, "", "")
		res, err := Run(t.Context(), o)
		if !errors.As(err, &server) || !strings.Contains(server.Hint, "--fresh") {
			t.Errorf("error is %v, want the run that stays on record", err)
		}
		if got := order(res.Log); got != "RCCRRCCR" {
			t.Errorf("sides stand %s", got)
		}
	})
}

func TestVoidRunsAreMeasuredAgainInTheirPlace(t *testing.T) {
	for name, test := range map[string]struct {
		side  string
		spoil int // runs of the open loop
		fails bool
		order string
	}{
		"one of the reference": {reference, 1, false, "RCCRRCCR"},
		"one of the candidate": {candidate, 1, false, "RCCRRCCR"},
		// Three of twelve a side may be void in the end, but at the first look it is one of six.
		"two of the candidate": {candidate, 2, true, "RCCR"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				_, dial := builds(t, "", "")
				o := inTurn(t, "interleaved", 3, dial)
				o.Plan.Scenarios = o.Plan.Scenarios[1:]
				j, err := openJournal(filepath.Join(o.State, o.Key))
				if err != nil {
					t.Fatal(err)
				}
				defer j.close()
				p, left := newProtocol(j, o), test.spoil
				p.o.Progress = func(at Progress) {
					if at.Side == test.side && !at.WarmUp && at.Done == 0 && left > 0 {
						left--
						p.selfTests["open"] = 1000 // seconds of the client's own error
					}
				}
				err = errors.Join(p.within(t.Context()), p.complete())
				if (err != nil) != test.fails || test.fails && !strings.Contains(err.Error(), test.side) {
					t.Errorf("error is %v", err)
				}
				if got := sidesOf(j.log); !strings.HasPrefix(test.order, got) || !test.fails && got != test.order {
					t.Errorf("sides stand %s, want %s", got, test.order)
				}
				void := 0
				for _, r := range j.log.Runs {
					if !r.Valid() {
						void++
					}
				}
				if void != test.spoil {
					t.Errorf("%d void runs stand in the file, want %d", void, test.spoil)
				}
				if got := visitsOf(j.log, "open", 3); !test.fails && (got[candidate] != 4 || got[reference] != 4) {
					t.Errorf("visits with all their runs: %v", got)
				}
			})
		})
	}
}

func TestTurnsRefuseToGoOnWithAnother(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"machine":                {func(o *Options) { o.Host.Machine += "-2" }, "machine"},
		"model of the reference": {func(o *Options) { o.Plan.Config.Reference.Model = "simulated-9b" }, "the reference"},
		"dataset":                {func(o *Options) { o.Plan.Scenarios[0].Dataset.InputTokens = 17 }, "workload"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				_, dial := builds(t, "", "")
				o := inTurn(t, "interleaved", 1, dial)
				o.Plan.Config.Campaign.Looks = []int{2}
				must(t, o)
				o.Plan.Config.Campaign.Looks = []int{4}
				o.Plan.Scenarios = slices.Clone(o.Plan.Scenarios)
				test.change(&o)
				if name == "model of the reference" {
					_, o.Dial = served(t, sim.Options{Model: "simulated-8b"}, sim.Options{Model: "simulated-9b"})
				}
				if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "--fresh") {
					t.Errorf("error is %v, want one that names %s and --fresh", err, test.want)
				}
			})
		})
	}
}

func TestSidesThatCannotBeComparedEndBeforeTheHours(t *testing.T) {
	virtual(t, func(t *testing.T) {
		_, dial := served(t, sim.Options{Model: "simulated-8b"}, sim.Options{Model: "simulated-9b"})
		o := inTurn(t, "interleaved", 1, dial)
		o.Plan.Config.Reference.Model = "simulated-9b"
		res, err := Run(t.Context(), o)
		var server *ServerError
		if !errors.As(err, &server) || !strings.Contains(err.Error(), "model") || server.Hint == "" {
			t.Errorf("error is %v, want one about the model", err)
		}
		if got := sidesOf(res.Log); got != "R" {
			t.Errorf("visits are %s", got)
		}
	})
}

func TestASecondCampaignLeavesLogsOfTheFirst(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{JournalFile: "1", "server-1.log": "a", "server-2-reference.log": "b", "other.txt": "c"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := setAside(filepath.Join(folder, JournalFile)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	want := []string{JournalFile + ".old-1", "other.txt", "server-1.log.old-1", "server-2-reference.log.old-1"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
