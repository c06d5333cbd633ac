package campaign

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/sim"
)

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
		// Three of twelve a side may be void in the end; the first look, of six a side, would have room for one.
		"three of the candidate": {candidate, 3, false, "RCCRRCCR"},
		"four of the candidate":  {candidate, 4, true, "RC"},
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
						p.selfTests["open"] = clientError{ttft99: 1000} // seconds of the client's own error
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
	folder := filepath.Join(t.TempDir(), "state[1]*")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{JournalFile: "1", "server-1.log": "a", "server-2-reference.log": "b", "other.txt": "c"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := setAside(filepath.Join(folder, JournalFile)); err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(os.DirFS(folder), "*")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{JournalFile + ".old-1", "other.txt", "server-1.log.old-1", "server-2-reference.log.old-1"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What is measured after the look that decides, the budget's end before the next, takes nothing away from it.
func TestAVoidRunAfterTheLookThatDecidesIsNoFault(t *testing.T) {
	for name, test := range map[string]struct {
		first, last int // visits in which runs of the candidate are void
		fails       bool
	}{
		"after it":  {6, 7, false},
		"before it": {2, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				_, dial := builds(t, "", "")
				o := inTurn(t, "interleaved", 3, dial)
				o.Plan.Config.Campaign.CoolDown = 10 * time.Second
				o.Plan.Config.Campaign.Budget = 75 * time.Second
				o.Plan.Scenarios = o.Plan.Scenarios[1:]
				j, err := openJournal(filepath.Join(o.State, o.Key))
				if err != nil {
					t.Fatal(err)
				}
				defer j.close()
				p, left := newProtocol(j, o), 2
				p.o.Progress = func(at Progress) {
					n := len(j.log.Visits)
					if n >= test.first && n <= test.last && at.Side == candidate && !at.WarmUp && at.Done == 0 && left > 0 {
						left--
						p.selfTests["open"] = clientError{ttft99: 1000} // seconds of the client's own error
					}
				}
				err = errors.Join(p.within(t.Context()), p.complete())
				if left > 0 || p.overAt != 2 {
					t.Fatalf("%d runs were not spoilt, the look at %d visits decides; sides stand %s", left, p.overAt, sidesOf(j.log))
				}
				if errors.Is(err, ErrSpoilt) != test.fails || (err != nil) != test.fails {
					t.Errorf("error is %v", err)
				}
			})
		})
	}
}

func TestAServerThatCannotBeStoppedIsNoSuccessAtTheBudgetsEnd(t *testing.T) {
	for name, budget := range map[string]time.Duration{"before the first look": 30 * time.Second, "after it": 55 * time.Second} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				_, dial := builds(t, "", "")
				o := inTurn(t, "interleaved", 1, dial)
				o.Plan.Config.Campaign.CoolDown = 10 * time.Second
				o.Plan.Config.Campaign.Budget = budget
				j, err := openJournal(filepath.Join(o.State, o.Key))
				if err != nil {
					t.Fatal(err)
				}
				defer j.close()
				p := newProtocol(j, o)
				p.unstopped = errors.New("it would not stop")
				if err := p.within(t.Context()); !errors.Is(err, p.unstopped) {
					t.Errorf("error is %v", err)
				}
			})
		})
	}
}
