package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/gate"
)

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
