package baseline

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

func by(who string) Acceptance { return Acceptance{Who: who, Why: "nightly", At: noon} }

func adding() Acceptance {
	a := by("ada")
	a.AddSession = true
	return a
}

// level is that of every session of these tests: the fifth root of .1 · .101 · .102 · .103 · .104.
var level = map[string]float64{"ttft.p95": 0.1019901949, "error.ratio": 0}

func TestFirstAcceptanceRecordsWhoAndWhy(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "baselines")
	files, err := Accept(folder, []bench.Digest{candidate("h100", "chat", 0), candidate("h100", "batch", 0)}, by("ada"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(folder, "h100", "batch.json"), filepath.Join(folder, "h100", "chat.json")}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	e, err := Show(folder, "h100", "chat")
	if err != nil {
		t.Fatal(err)
	}
	origin := bench.Origin{Commit: "c0ffee", Engine: "vllm 0.34", Who: "ada", Why: "nightly", Accepted: noon}
	if diff := cmp.Diff(origin, e.Digest.Sessions[0].Origin); diff != "" {
		t.Errorf("origin (-want +got):\n%s", diff)
	}
	epoch := bench.Epoch{Started: noon, Who: "ada", Level: level}
	if d := cmp.Diff(epoch, e.Digest.Epoch); d != "" {
		t.Errorf("epoch of a first baseline (-want +got):\n%s", d)
	}
	if problems, err := Verify(folder); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	if files := tree(t, folder); len(files) != 2 {
		t.Errorf("files left over: %v", slices.Sorted(maps.Keys(files)))
	}
}

func TestCommitAndEngineMayBeSaid(t *testing.T) {
	folder := t.TempDir()
	a := by("ada")
	a.Commit, a.Engine = "0123", "sglang 0.5"
	if _, err := Accept(folder, []bench.Digest{candidate("h100", "chat", 0)}, a); err != nil {
		t.Fatal(err)
	}
	e, err := Show(folder, "h100", "chat")
	if o := e.Digest.Sessions[0].Origin; err != nil || o.Commit != "0123" || o.Engine != "sglang 0.5" {
		t.Errorf("origin %+v, %v", o, err)
	}
}

func TestRecordsAreOneLineWithoutControlCharacters(t *testing.T) {
	folder := t.TempDir()
	a := by(" ada\x1b[31m\n ")
	a.NewEpoch, a.Reason = true, "slower,\r\n\tby design\x00\xff"
	if _, err := Accept(folder, []bench.Digest{candidate("h100", "chat", 0)}, a); err != nil {
		t.Fatal(err)
	}
	e, err := Show(folder, "h100", "chat")
	if err != nil || e.Digest.Epoch.Reason != "slower, by design ?" || e.Digest.Epoch.Who != "ada [31m" {
		t.Errorf("epoch %+v, %v", e.Digest.Epoch, err)
	}
}

// Each case spoils a candidate; what is under the folder must stay as it was.
func TestUnfitCandidatesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(d *bench.Digest)
		want  string
	}{
		"two runs":        {func(d *bench.Digest) { d.Sessions[0].Visits[0].Runs = runsOf(d)[:2] }, "2 valid runs"},
		"no run":          {func(d *bench.Digest) { d.Sessions[0].Visits = nil }, "0 valid runs"},
		"no session":      {func(d *bench.Digest) { d.Sessions = nil }, "no session"},
		"a short session": {func(d *bench.Digest) { d.Sessions = append(d.Sessions, short(1)) }, "2 valid runs"},
		"an invalid run":  {func(d *bench.Digest) { runsOf(d)[3].Invalid = "stream buffered" }, "run 4 is invalid: stream buffered"},
		"all failed":      {func(d *bench.Digest) { allFailed(&runsOf(d)[1]) }, "run 2: all 100 requests failed"},
		"unfinished":      {func(d *bench.Digest) { d.Sessions[0].Planned = 8 }, "5 of 8 planned runs are measured"},
		"two of five lag": {func(d *bench.Digest) { runsOf(d)[0].Void, runsOf(d)[1].Void = "late", "late" }, "2 of 5 runs were void"},
		"bad runner":      {func(d *bench.Digest) { d.Runner = "../x" }, "runner name"},
		"bad scenario":    {func(d *bench.Digest) { d.Scenario = "a/b" }, "scenario name"},
		"NaN":             {func(d *bench.Digest) { runsOf(d)[0].Duration = -1 }, "negative"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			sound, spoilt := candidate("h100", "aaa", 0), candidate("h100", "chat", 0)
			c.spoil(&spoilt)
			files, err := Accept(folder, []bench.Digest{sound, spoilt}, by("ada"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if left := tree(t, folder); len(left) > 0 || len(files) > 0 {
				t.Errorf("written: %v", left)
			}
		})
	}
}

func short(day int) bench.Session {
	s := session(day)
	s.Visits[0].Runs = s.Visits[0].Runs[:2]
	return s
}

func TestSeveralNightsAreAcceptedAtOnce(t *testing.T) {
	folder := first(t, "chat")
	nights := candidate("h100", "chat", 1)
	nights.Sessions = append(nights.Sessions, session(2), session(3))
	if _, err := Accept(folder, []bench.Digest{nights}, adding()); err != nil {
		t.Fatal(err)
	}
	e, err := Show(folder, "h100", "chat")
	if err != nil || len(e.Digest.Sessions) != 4 {
		t.Fatalf("%d sessions, %v", len(e.Digest.Sessions), err)
	}
	for _, s := range e.Digest.Sessions {
		if s.Origin.Who != "ada" {
			t.Errorf("session %s: origin %+v", s.ID, s.Origin)
		}
	}
	if nights.Sessions[0].Origin.Who != "" {
		t.Error("accepting changed the candidate")
	}
}

func allFailed(r *bench.Run) {
	r.OK, r.Failed, r.Metrics = 0, map[bench.Class]int{bench.HTTP5xx: r.Sent}, map[string]float64{"error.ratio": 1}
}

func TestOneVoidRunOfSixIsAccepted(t *testing.T) {
	d := candidate("h100", "chat", 0)
	again := runsOf(&d)[4]
	again.Order = 6
	d.Sessions[0].Visits[0].Runs = append(runsOf(&d), again)
	runsOf(&d)[4].Void = "client late"
	if _, err := Accept(t.TempDir(), []bench.Digest{d}, by("ada")); err != nil {
		t.Error(err)
	}
}

func TestAcceptanceSaysWhoAndHow(t *testing.T) {
	for name, c := range map[string]struct {
		change func(a *Acceptance)
		want   string
	}{
		"nobody":           {func(a *Acceptance) { a.Who = " " }, "--who"},
		"no time":          {func(a *Acceptance) { a.At = time.Time{} }, "time"},
		"both":             {func(a *Acceptance) { a.AddSession, a.NewEpoch, a.Reason = true, true, "x" }, "exclude"},
		"epoch, no reason": {func(a *Acceptance) { a.NewEpoch = true }, "--reason"},
	} {
		a := by("ada")
		c.change(&a)
		folder := t.TempDir()
		if _, err := Accept(folder, []bench.Digest{candidate("h100", "chat", 0)}, a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if left := tree(t, folder); len(left) > 0 {
			t.Errorf("%s: written: %v", name, left)
		}
	}
	if _, err := Accept(t.TempDir(), nil, by("ada")); err == nil {
		t.Error("nothing is accepted")
	}
	twice := []bench.Digest{candidate("h100", "chat", 0), candidate("h100", "chat", 1)}
	if _, err := Accept(t.TempDir(), twice, by("ada")); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a scenario twice: error %v", err)
	}
}

func first(t testing.TB, scenarios ...string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	var head []bench.Digest
	for _, s := range scenarios {
		head = append(head, candidate("h100", s, 0))
	}
	if _, err := Accept(folder, head, by("ada")); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestSecondAcceptanceAsksHow(t *testing.T) {
	folder := first(t, "chat")
	before := tree(t, folder)
	_, err := Accept(folder, []bench.Digest{candidate("h100", "chat", 1)}, by("ada"))
	if err == nil || !strings.Contains(err.Error(), "--add-session") || !strings.Contains(err.Error(), "--new-epoch --reason") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(before, tree(t, folder)); diff != "" {
		t.Errorf("changed:\n%s", diff)
	}
}

func TestSessionsAreAddedOldestFirstAndTheLastTenAreKept(t *testing.T) {
	folder := first(t, "chat")
	for _, day := range []int{2, 1, 5, 4, 3, 6, 7, 8, 9, 10, 11, 12} {
		if _, err := Accept(folder, []bench.Digest{candidate("h100", "chat", day)}, adding()); err != nil {
			t.Fatal(err)
		}
	}
	e, err := Show(folder, "h100", "chat")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range e.Digest.Sessions {
		ids = append(ids, s.ID)
	}
	want := []string{"day-3", "day-4", "day-5", "day-6", "day-7", "day-8", "day-9", "day-10", "day-11", "day-12"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSessionsThatDoNotFitAreNotAdded(t *testing.T) {
	limit := 0.5
	for name, c := range map[string]struct {
		spoil func(d *bench.Digest, a *Acceptance)
		want  string
	}{
		"another machine": {func(d *bench.Digest, _ *Acceptance) { d.MustMatch[bench.KeyMachine] = "m2" }, `machine is "m2", was "m1"`},
		"simulated":       {func(d *bench.Digest, _ *Acceptance) { d.Simulated = true }, "not comparable"},
		"another SLO":     {func(d *bench.Digest, _ *Acceptance) { d.SLO.TTFT = &limit }, "SLO"},
		"the same again":  {func(d *bench.Digest, _ *Acceptance) { d.Sessions[0] = session(0) }, `session "day-0" was accepted already`},
		"another level": {func(_ *bench.Digest, a *Acceptance) {
			a.Differs = func(base, head bench.Digest) (string, bool) {
				return fmt.Sprintf("ttft.p95 over %d and %d sessions", len(base.Sessions), len(head.Sessions)), true
			}
		}, "its level differs: ttft.p95 over 1 and 1 sessions; start anew with --new-epoch --reason TEXT"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := first(t, "aaa", "chat")
			before := tree(t, folder)
			a, sound, odd := adding(), candidate("h100", "aaa", 1), candidate("h100", "chat", 1)
			c.spoil(&odd, &a)
			if name == "another level" {
				sound = candidate("h100", "bbb", 1)
			}
			if _, err := Accept(folder, []bench.Digest{sound, odd}, a); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if diff := cmp.Diff(before, tree(t, folder)); diff != "" {
				t.Errorf("changed:\n%s", diff)
			}
		})
	}
}

func TestSameLevelIsAdded(t *testing.T) {
	folder := first(t, "chat")
	a := adding()
	a.Differs = func(_, _ bench.Digest) (string, bool) { return "", false }
	if _, err := Accept(folder, []bench.Digest{candidate("h100", "chat", 1)}, a); err != nil {
		t.Error(err)
	}
}

func TestNewEpochDropsTheSessionsBeforeAndSaysWhy(t *testing.T) {
	folder := first(t, "chat")
	a := by("grace")
	a.NewEpoch, a.Reason = true, "engine 0.34 is slower by design"
	a.Differs = func(_, _ bench.Digest) (string, bool) { return "slower", true }
	moved := candidate("h100", "chat", 3)
	moved.MustMatch[bench.KeyWorkload] = "another"
	for number := range 2 {
		if _, err := Accept(folder, []bench.Digest{moved}, a); err != nil {
			t.Fatal(err)
		}
		e, err := Show(folder, "h100", "chat")
		if err != nil {
			t.Fatal(err)
		}
		want := bench.Epoch{Number: number + 1, Started: noon, Reason: a.Reason, Who: "grace", Level: level}
		if diff := cmp.Diff(want, e.Digest.Epoch); diff != "" {
			t.Errorf("epoch (-want +got):\n%s", diff)
		}
		if len(e.Digest.Sessions) != 1 || e.Digest.MustMatch[bench.KeyWorkload] != "another" {
			t.Errorf("digest %+v", e.Digest)
		}
	}
	b := adding()
	later := candidate("h100", "chat", 4)
	later.MustMatch[bench.KeyWorkload] = "another"
	if _, err := Accept(folder, []bench.Digest{later}, b); err != nil {
		t.Fatal(err)
	}
	if e, _ := Show(folder, "h100", "chat"); e.Digest.Epoch.Number != 2 || len(e.Digest.Sessions) != 2 {
		t.Errorf("after adding: epoch %+v, %d sessions", e.Digest.Epoch, len(e.Digest.Sessions))
	}
}

func TestDamagedBaselinesStayUntouched(t *testing.T) {
	for name, text := range map[string]string{
		"cut": `{"schema":"benchgate.digest/v1","runner":"h1`, "conflict": "<<<<<<< HEAD\n", "zero bytes": "",
		"LFS pointer": "version https://git-lfs.github.com/spec/v1\n", "newer": `{"schema":"benchgate.digest/v2"}`,
	} {
		for how, a := range map[string]Acceptance{
			"plain": by("ada"), "add": adding(), "epoch": {Who: "ada", At: noon, NewEpoch: true, Reason: "new"},
		} {
			folder := first(t, "aaa", "chat")
			putText(t, filepath.Join(folder, "h100/chat.json"), text)
			before := tree(t, folder)
			_, err := Accept(folder, []bench.Digest{candidate("h100", "aaa", 1), candidate("h100", "chat", 1)}, a)
			if err == nil || how != "plain" && !strings.Contains(err.Error(), "h100/chat.json") {
				t.Errorf("%s, %s: error %v", name, how, err)
			}
			if diff := cmp.Diff(before, tree(t, folder)); diff != "" {
				t.Errorf("%s, %s: changed:\n%s", name, how, diff)
			}
		}
	}
}

// Whoever comes at the same time, no session is lost.
func TestTwoWritersDoNotLoseEachOthersSessions(t *testing.T) {
	folder := first(t, "chat")
	var group sync.WaitGroup
	for day := range 8 {
		group.Go(func() {
			if _, err := Accept(folder, []bench.Digest{candidate("h100", "chat", day+1)}, adding()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if e, err := Show(folder, "h100", "chat"); err != nil || len(e.Digest.Sessions) != 9 {
		t.Errorf("%d sessions, %v", len(e.Digest.Sessions), err)
	}
}

func TestWritingAllPutsBackWhatWasReplaced(t *testing.T) {
	folder := t.TempDir()
	putText(t, filepath.Join(folder, "a/one.json"), "old")
	putText(t, filepath.Join(folder, "c/three.json/in-the-way"), "x") // a folder where a file should be
	before := tree(t, folder)
	_, err := writeAll(map[string][]byte{
		filepath.Join(folder, "a/one.json"):   []byte("new"),
		filepath.Join(folder, "b/two.json"):   []byte("new"),
		filepath.Join(folder, "c/three.json"): []byte("new"),
	})
	if err == nil || !strings.Contains(err.Error(), "three.json") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(before, tree(t, folder)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestFilesMayBeReadByOthers(t *testing.T) {
	folder := first(t, "chat")
	info, err := os.Stat(filepath.Join(folder, "h100/chat.json"))
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// Whatever the order in which nights arrive, the newest ten are kept, oldest first.
func TestNewestSessionsLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		days := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).Draw(t, "days")
		days = days[:rapid.IntRange(1, len(days)).Draw(t, "n")]
		var sessions []bench.Session
		for _, day := range days {
			sessions = newest(append(sessions, session(day)))
		}
		slices.Sort(days)
		days = days[max(0, len(days)-10):]
		for i, s := range sessions {
			if len(sessions) != len(days) || s.ID != fmt.Sprintf("day-%d", days[i]) {
				t.Fatalf("session %d of %d is %s, want day %d of %v", i, len(sessions), s.ID, days[i], days)
			}
		}
	})
}
