package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchgate/benchgate/internal/bench"
)

// TestBaselinesPageWorks runs the console blocks of docs/baselines.md in order, in one folder with the examples. Days are
// not compared: that of an acceptance is today. A command after which the page shows "benchgate: " is refused with exit 2.
func TestBaselinesPageWorks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/baselines.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, _ := commands(string(page))
	if len(shown) < 5 {
		t.Fatalf("the page shows only %d commands: is the test looking in the right place?", len(shown))
	}
	var b bytes.Buffer
	for i, e := range shown {
		code, stream := 0, "stdout"
		if strings.HasPrefix(e.output, "benchgate: ") {
			code, stream = 2, "stderr"
		}
		fmt.Fprintf(&b, "exits %d %s\nundated %s output%d\n", code, strings.ReplaceAll(e.command, `"`, `'`), stream, i)
	}
	for i, e := range shown {
		fmt.Fprintf(&b, "-- output%d --\n%s", i, e.output)
	}
	script := filepath.Join(t.TempDir(), "page.txtar")
	if err := os.WriteFile(script, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p := pageParams(script)
	p.Cmds["undated"] = undated
	testscript.Run(t, p)
}

var date = regexp.MustCompile(`\d{4}-\d\d-\d\d`)

// undated STREAM FILE holds the beginning of the last command's output against a file, whatever the days in both.
func undated(ts *testscript.TestScript, neg bool, args []string) {
	want, got := date.ReplaceAllString(ts.ReadFile(args[1]), "DATE"), date.ReplaceAllString(ts.ReadFile(args[0]), "DATE")
	if neg || !strings.HasPrefix(got, want) {
		ts.Fatalf("the page shows\n%s\nand the command printed\n%s", want, got)
	}
}

// aNight is what a night's campaign leaves: five runs, so many times slower than the first night's.
func aNight(night int, by float64) bench.Digest {
	start := time.Date(2026, 9, 1+night, 2, 0, 0, 0, time.UTC)
	s := bench.Session{ID: fmt.Sprintf("night-%d", night), Started: start, Visits: []bench.Visit{{Number: 1, Started: start}}}
	for i := range 5 {
		wave := 1 + 0.02*math.Sin(float64(3*i+night))
		s.Visits[0].Runs = append(s.Visits[0].Runs, bench.Run{
			Order: i + 1, Started: start.Add(time.Duration(i) * time.Minute), Duration: 20, Sent: 100, OK: 100,
			Metrics: map[string]float64{"ttft.p50": 0.2 * by * wave, "ttft.p95": 0.4 * by * wave, "tpot.mean": 0.02 * wave, "error.ratio": 0},
		})
	}
	return bench.Digest{
		Schema: bench.DigestSchema, Runner: "lab", Scenario: "chat", MustMatch: map[string]string{bench.KeyMachine: "m"},
		Sessions: []bench.Session{s},
	}
}

// told runs the program and returns all that it said.
func told(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	getenv := func(name string) string { return map[string]string{"GITHUB_ACTOR": "ada"}[name] }
	if code := run(t.Context(), args, nil, &out, &out, getenv); code != want {
		t.Errorf("benchgate %s: exit %d, want %d\n%s", strings.Join(args, " "), code, want, out.String())
	}
	return out.String()
}

func put(t *testing.T, d bench.Digest) string {
	t.Helper()
	var b bytes.Buffer
	if err := bench.WriteDigest(&b, d); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "chat.json")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A baseline grows by a night at a time, forgets the oldest, and remembers where it began although each step was small.
func TestBaselineGrowsAndRemembersWhereItBegan(t *testing.T) {
	t.Chdir(t.TempDir())
	told(t, 0, "baseline", "accept", put(t, aNight(0, 1)))
	for night := 1; night <= 13; night++ {
		told(t, 0, "baseline", "accept", put(t, aNight(night, math.Pow(1.02, float64(night)))), "--add-session", "--reason", "nightly")
	}
	if got := told(t, 0, "baseline", "list"); !regexp.MustCompile(`lab +chat +10 +50 +2026-09-14`).MatchString(got) {
		t.Errorf("list:\n%s", got)
	}
	show := told(t, 0, "baseline", "show", "lab", "chat")
	for _, want := range []string{
		"chat on lab: epoch 0, 10 of at most 10 sessions, 50 runs", "since the epoch began:", "ttft.p95 is 18 % slower (from ",
		"10 sessions since ", "tpot.mean is 0 % ", "night-13", "nightly",
	} {
		if !strings.Contains(show, want) {
			t.Errorf("show lacks %q:\n%s", want, show)
		}
	}
	if strings.Contains(show, "night-3 ") {
		t.Errorf("night 3 is kept:\n%s", show)
	}
	told(t, 0, "baseline", "accept", put(t, aNight(14, 1.3)), "--new-epoch", "--reason", "engine 0.35 by design")
	show = told(t, 0, "baseline", "show", "lab", "chat")
	for _, want := range []string{"epoch 1, 1 of at most 10 sessions, 5 runs", "accepted by ada: engine 0.35 by design", "5.0 % (assumed)", "nothing to compare yet"} {
		if !strings.Contains(show, want) {
			t.Errorf("show lacks %q:\n%s", want, show)
		}
	}
	told(t, 0, "baseline", "verify")
}

func TestNightsThatDoNotBelongAreRefused(t *testing.T) {
	failing := aNight(3, 0.6)
	for i := range failing.Sessions[0].Visits[0].Runs {
		r := &failing.Sessions[0].Visits[0].Runs[i]
		r.OK, r.Failed, r.Metrics["error.ratio"] = 88, map[bench.Class]int{bench.HTTP5xx: 12}, 0.12
	}
	renamed := aNight(0, 1)
	renamed.Sessions[0].ID = "imported again"
	future := aNight(3, 1)
	future.Sessions[0].Started = time.Now().AddDate(1, 0, 0)
	for name, test := range map[string]struct {
		d    bench.Digest
		want string
	}{
		"slower":                   {aNight(3, 1.5), "its level differs: ttft.p50 regressed"},
		"faster":                   {aNight(3, 0.6), "its level differs: ttft.p50 improved"},
		"faster, with many errors": {failing, "12 % of requests failed here and 0.0 % at base, and a failed request has no latency; start anew with --new-epoch"},
		"the same night":           {aNight(0, 1), `session "night-0" was accepted already`},
		"the same results":         {renamed, `run 1 of session "imported again" is run 1 of session "night-0" once more`},
		"a year from now":          {future, "set the clock that is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			told(t, 0, "baseline", "accept", put(t, aNight(0, 1)))
			told(t, 0, "baseline", "accept", put(t, aNight(1, 1.01)), "--add-session")
			before, err := os.ReadFile("baselines/lab/chat.json")
			if err != nil {
				t.Fatal(err)
			}
			if got := told(t, 2, "baseline", "accept", put(t, test.d), "--add-session"); !strings.Contains(got, test.want) {
				t.Errorf("said %q, want %q", got, test.want)
			}
			if after, err := os.ReadFile("baselines/lab/chat.json"); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the baseline was touched: %v", err)
			}
		})
	}
}

func TestSessionsOfOneDayAreWarnedOf(t *testing.T) {
	t.Chdir(t.TempDir())
	told(t, 0, "baseline", "accept", put(t, aNight(0, 1)))
	soon := aNight(1, 1)
	soon.Sessions[0].Started = aNight(0, 1).Sessions[0].Started.Add(40 * time.Minute)
	const want = `sessions "night-0" and "night-1" began within 40m0s: they do not show how far days differ`
	if got := told(t, 0, "baseline", "accept", put(t, soon), "--add-session"); !strings.Contains(got, want) {
		t.Errorf("said %q", got)
	}
	if got := told(t, 0, "baseline", "show", "lab", "chat"); !strings.Contains(got, want) {
		t.Errorf("show says %q", got)
	}
	if got := told(t, 0, "baseline", "accept", put(t, aNight(2, 1)), "--add-session"); strings.Contains(got, "began within") {
		t.Errorf("a night later: %q", got)
	}
}
