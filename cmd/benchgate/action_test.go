package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/benchgate/benchgate/internal/report"
)

// answered is an answer of so many words: an outcome with its exit code, or an error.
func answered(runner, said string) answer {
	var outcome string
	var code int
	if _, err := fmt.Sscanf(said, "%s %d", &outcome, &code); err != nil {
		return answer{runner: runner, err: errors.New(said)}
	}
	return answer{runner: runner, verdict: gate.Verdict{Runner: runner, Outcome: gate.Outcome(outcome), ExitCode: code, Summary: "why"}}
}

func answersOf(said ...string) judgement {
	var j judgement
	for i, s := range said {
		j.answers = append(j.answers, answered(fmt.Sprintf("runner-%d", i), s))
	}
	j.sort()
	return j
}

func TestOfSeveralRunnersTheWorstDecides(t *testing.T) {
	for _, test := range []struct {
		said     string
		code     int
		word     string
		speaks   bool
		statuses string
	}{
		{"pass 0", 0, "pass", false, "success"},
		{"observed 0", 0, "observed", false, "success"},
		{"improved 0", 0, "improved", true, "success"},
		{"waived 0", 0, "waived", true, "success"},
		{"new 0", 0, "new", true, "success"},
		{"new 3", 3, "new", true, "failure"},
		{"inconclusive 0", 0, "inconclusive", true, "success"},
		{"pass 0, inconclusive 0, new 0", 0, "inconclusive", true, "success success success"},
		{"pass 0, inconclusive 4", 4, "inconclusive", true, "failure success"},
		{"inconclusive 4, missing 3", 3, "missing", true, "failure failure"},
		{"missing 3, invalid 3", 3, "invalid", true, "failure failure"},
		{"missing 3, regressed 1, pass 0", 1, "regressed", true, "failure failure success"},
		{"breached 1, regressed 1", 1, "regressed", true, "failure failure"},
		{"regressed 1, unreadable", 2, "error", true, "error failure"},
	} {
		j := answersOf(strings.Split(test.said, ", ")...)
		var states []string
		for _, s := range j.statuses("main") {
			states = append(states, s.State)
		}
		if j.code() != test.code || j.word() != test.word || j.speaks() != test.speaks || strings.Join(states, " ") != test.statuses {
			t.Errorf("%s: exit code %d, %s, speaks %t, statuses %s; want %+v", test.said, j.code(), j.word(), j.speaks(), states, test)
		}
	}
}

func TestWhatWasNotNeededIsGreen(t *testing.T) {
	j := answersOf("pass 0")
	j.needless = "it touches no file"
	if j.code() != exitOK || j.word() != "not-needed" || j.speaks() || j.statuses("main")[0].State != "success" {
		t.Errorf("exit code %d, %s, speaks %t, %+v", j.code(), j.word(), j.speaks(), j.statuses("main"))
	}
	if got := j.sections()[0].Render(1000); !strings.Contains(got, "not needed") {
		t.Errorf("the comment says %q", got)
	}
}

func TestWhatCouldNotBeWrittenIsNeverGreen(t *testing.T) {
	for said, statuses := range map[string]string{
		"pass 0": "error", "regressed 1": "failure", "missing 3, pass 0": "failure error", "unreadable, pass 0": "error error",
	} {
		for _, needless := range []string{"", "it touches no file"} {
			j := answersOf(strings.Split(said, ", ")...)
			j.needless, j.unwritten = needless, errors.New("no space left on device")
			var states []string
			for _, s := range j.statuses("main") {
				states = append(states, s.State)
			}
			if needless != "" {
				statuses = strings.TrimSpace(strings.Repeat("error ", len(j.answers)))
			}
			if got := strings.Join(states, " "); got != statuses || j.code() != 2 || j.word() != "error" || j.err() == nil || !j.speaks() {
				t.Errorf("%s, needless %q: statuses %s, exit code %d, %s, error %v", said, needless, got, j.code(), j.word(), j.err())
			}
			for _, s := range append(j.sections(), github.Section{Render: func(limit int) string { return j.render(limit, report.Summary) }}) {
				if got := s.Render(2000); !strings.Contains(got, "Not written") || !strings.Contains(got, "no space left on device") || len(got) > 2000 {
					t.Errorf("%s, needless %q: %s", said, needless, got)
				}
			}
			if first := j.remarks()[0]; first.Level != "error" || !strings.Contains(first.Message, "no space left") {
				t.Errorf("%s, needless %q: annotated with %+v", said, needless, first)
			}
		}
	}
}

func TestAChangeOfTheRulesSpeaks(t *testing.T) {
	j := answersOf("pass 0")
	j.answers[0].edited = true
	if !j.speaks() {
		t.Error("a pass of a change that edits its own rules makes no comment")
	}
}

func TestWarningsLeaveRoomForWhatBecameOfPublishing(t *testing.T) {
	var said []string
	for range 30 {
		said = append(said, "new 0")
	}
	warnings := 0
	all := answersOf(said...).remarks()
	for _, n := range all {
		if n.Level == "warning" {
			warnings++
		}
	}
	if warnings != 9 || !strings.HasPrefix(all[len(all)-1].Message, "22 more") {
		t.Errorf("%d warnings, the last %q", warnings, all[len(all)-1].Message)
	}
}

func TestAMistakeIsShownOnItsLine(t *testing.T) {
	at := func(file string) error {
		return fmt.Errorf("read: %w", errors.Join(&config.Error{File: file, Line: 7, Message: "wrong"}, errors.New("more")))
	}
	for file, want := range map[string]string{"benchgate/lab.yaml": "benchgate/lab.yaml:7", "benchgate.yaml at base": ":0", "/etc/passwd": ":0"} {
		if got := remark("title", at(file)); fmt.Sprintf("%s:%d", got.File, got.Line) != want || got.Level != "error" {
			t.Errorf("%s: %+v", file, got)
		}
	}
}

func TestScenariosNarrowThePolicy(t *testing.T) {
	share := 0.05
	p := gate.Policy{
		Scenarios: []string{"chat", "batch"},
		Rules: []gate.Rule{
			{Metric: "ttft.p95", Scenarios: []string{"chat"}, Tolerance: &share},
			{Metric: "ttft.p95", Scenarios: []string{"batch", "chat"}, Tolerance: &share},
			{Metric: "ttft.p50", Scenarios: []string{"batch"}, Tolerance: &share},
			{Metric: "error.ratio", Max: &share},
		},
		Waivers: []gate.Waiver{{Scenario: "chat"}, {Scenario: "batch"}},
	}
	got := only(p, []string{"chat"})
	want := gate.Policy{
		Scenarios: []string{"chat"},
		Rules:     []gate.Rule{p.Rules[0], {Metric: "ttft.p95", Scenarios: []string{"chat"}, Tolerance: &share}, p.Rules[3]},
		Waivers:   []gate.Waiver{{Scenario: "chat"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(p.Scenarios) != 2 || len(p.Rules[1].Scenarios) != 2 || len(p.Waivers) != 2 {
		t.Errorf("the policy itself was changed: %+v", p)
	}
}

func TestResultsMayBeAZip(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results.zip")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	w, err := z.Create("benchgate-1/lab/chat.json")
	if err == nil {
		_, err = w.Write([]byte("{}"))
	}
	if err := errors.Join(err, z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	a := action{in: inputs{results: name}, sh: &shell{getenv: func(string) string { return temp }}}
	root, done, err := a.openResults()
	if err != nil {
		t.Fatal(err)
	}
	found, err := a.results(root, []asked{{Config: config.Config{Runner: "lab"}}})
	if want := map[string]string{"lab": filepath.Join(root, "benchgate-1", "lab")}; err != nil || cmp.Diff(want, found) != "" {
		t.Errorf("found %v (%v), want %v", found, err, want)
	}
	done()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v is left of it (%v)", left, err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
}

func FuzzInputsAreWhatIsKnown(f *testing.F) {
	f.Add("judge", "auto", "true", "success,skipped", "chat,batch", "60m")
	f.Add("run ", "never", "False", "", " ", "1h")
	f.Add("::error::x", "Auto", "1", "success,", "x | y <!-- -->", "60")
	f.Fuzz(func(t *testing.T, mode, comment, status, upstream, scenarios, timeout string) {
		env := map[string]string{"mode": mode, "comment": comment, "status": status, "upstream-result": upstream, "scenarios": scenarios, "lock-timeout": timeout}
		in, err := readInputs(func(name string) string {
			for input, value := range env {
				if envOf(input) == name {
					return value
				}
			}
			return ""
		})
		if err != nil {
			return
		}
		if !slices.Contains([]string{"plan", "run", "judge", "keep"}, in.mode) || !slices.Contains([]string{"auto", "always", "never"}, in.comment) || in.lockTimeout < 0 {
			t.Errorf("%+v", in)
		}
		for _, r := range in.upstream {
			if !slices.Contains(jobResults, r) {
				t.Errorf("upstream %q", r)
			}
		}
		for _, s := range in.scenarios {
			if bench.CheckName("scenario", s) != nil {
				t.Errorf("scenario %q", s)
			}
		}
	})
}
