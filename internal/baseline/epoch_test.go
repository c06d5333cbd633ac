package baseline

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/benchgate/benchgate/internal/bench"
)

// night is a candidate whose times are so many times longer.
func night(day int, by float64) bench.Digest {
	d := candidate("h100", "chat", day)
	for i := range runsOf(&d) {
		runsOf(&d)[i].Metrics["ttft.p95"] *= by
	}
	return d
}

func shown(t testing.TB, folder string) bench.Digest {
	t.Helper()
	e, err := Show(folder, "h100", "chat")
	if err != nil {
		t.Fatal(err)
	}
	return e.Digest
}

func TestLevelOfTheEpochOutlivesItsFirstSession(t *testing.T) {
	folder := first(t, "chat")
	for day := range 14 {
		if _, err := Accept(folder, []bench.Digest{night(day+1, 1+0.04*float64(day+1))}, adding()); err != nil {
			t.Fatal(err)
		}
	}
	d := shown(t, folder)
	if len(d.Sessions) != 10 || d.Sessions[0].ID != "day-5" {
		t.Fatalf("%d sessions, the first is %s", len(d.Sessions), d.Sessions[0].ID)
	}
	if diff := cmp.Diff(bench.Epoch{Started: noon, Who: "ada", Level: level}, d.Epoch); diff != "" {
		t.Errorf("epoch (-want +got):\n%s", diff)
	}
}

func TestLevelIsThatOfTheOldestSessionOfACandidate(t *testing.T) {
	folder := t.TempDir()
	several := night(5, 3)
	for day := range 11 { // twelve nights at once, and not in their order
		several.Sessions = append(several.Sessions, night([]int{8, 2, 9, 1, 6, 7, 3, 4, 10, 12, 11}[day], 2).Sessions...)
	}
	several.Sessions = append(several.Sessions, session(0))
	if _, err := Accept(folder, []bench.Digest{several}, by("ada")); err != nil {
		t.Fatal(err)
	}
	d := shown(t, folder)
	if diff := cmp.Diff(level, d.Epoch.Level); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(d.Sessions) != 10 || d.Sessions[0].ID != "day-3" || d.Sessions[9].ID != "day-12" {
		t.Errorf("%d sessions from %s", len(d.Sessions), d.Sessions[0].ID)
	}
}

// Baselines from before a level was recorded get it while somebody can still know it.
func TestLevelOfAnOldBaselineIsFilledInWhileItsFirstSessionIsKept(t *testing.T) {
	for _, test := range []struct {
		name     string
		sessions int
		want     map[string]float64
	}{
		{"one", 1, level}, {"nine", 9, level}, {"ten: one may have been dropped", 10, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			old := candidate("h100", "chat", 0)
			old.Sessions = many(test.sessions)
			put(t, filepath.Join(folder, "h100", "chat.json"), old)
			for extra := range 3 {
				if _, err := Accept(folder, []bench.Digest{night(test.sessions+extra, 1.01)}, adding()); err != nil {
					t.Fatal(err)
				}
			}
			d := shown(t, folder)
			if diff := cmp.Diff(test.want, d.Epoch.Level, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLevelThatCannotBeStopsAnAcceptance(t *testing.T) {
	folder := first(t, "chat")
	name := filepath.Join(folder, "h100", "chat.json")
	text := tree(t, folder)["h100/chat.json"]
	for _, value := range []string{"-0.1", "NaN", "0", "null"} {
		putText(t, name, strings.Replace(text, `"ttft.p95": 0.1019901949`, `"ttft.p95": `+value, 1))
		before := tree(t, folder)
		for how, a := range map[string]Acceptance{"add": adding(), "epoch": {Who: "ada", At: noon, NewEpoch: true, Reason: "new"}} {
			if _, err := Accept(folder, []bench.Digest{night(1, 1.01)}, a); err == nil || !strings.Contains(err.Error(), "stays as it is") {
				t.Errorf("a level of %s, %s: error %v", value, how, err)
			}
		}
		if diff := cmp.Diff(before, tree(t, folder)); diff != "" {
			t.Errorf("changed:\n%s", diff)
		}
	}
}

func TestSessionsOutOfTheirTimeAreRefused(t *testing.T) {
	full := func(t *testing.T) string {
		folder := t.TempDir()
		d := candidate("h100", "chat", 0)
		d.Sessions = many(11)[1:]
		put(t, filepath.Join(folder, "h100", "chat.json"), d)
		return folder
	}
	soon := func(after time.Duration) bench.Digest {
		d := candidate("h100", "chat", 20)
		d.Sessions[0].Started = noon.Add(after)
		return d
	}
	for _, test := range []struct {
		name string
		d    bench.Digest
		a    Acceptance
		want string
	}{
		{"next year", soon(400 * 24 * time.Hour), adding(), `session "day-20" began 2028-01-04 12:00:00, and now it is 2026-11-30 12:00:00`},
		{"next year, as a new epoch", soon(400 * 24 * time.Hour), Acceptance{Who: "ada", At: noon, NewEpoch: true, Reason: "x"}, "set the clock that is wrong"},
		{"a clock of another zone", soon(14 * time.Hour), adding(), ""},
		{"older than the ten that are kept", candidate("h100", "chat", 0), adding(), `session "day-0" is older than the 10 that are kept`},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := full(t)
			before := tree(t, folder)
			_, err := Accept(folder, []bench.Digest{test.d}, test.a)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if diff := cmp.Diff(before, tree(t, folder)); (diff == "") != (test.want != "") {
				t.Errorf("changed:\n%s", diff)
			}
		})
	}
}

func TestResultsThatAreThereAlreadyAreNotCountedTwice(t *testing.T) {
	renamed := func(day int, id string) bench.Session {
		s := session(day)
		s.ID = id
		return s
	}
	for _, test := range []struct {
		name string
		head []bench.Session
		want string
	}{
		{"the same files under another name", []bench.Session{renamed(0, "again")}, `run 1 of session "again" is run 1 of session "day-0" once more`},
		{"one of them among others", []bench.Session{mixed(3, 0)}, `run 6 of session "day-3" is run 2 of session "day-0" once more`},
		{"twice in one candidate", []bench.Session{session(4), renamed(4, "copy")}, `session "day-4" once more`},
		{"twice in one session", []bench.Session{mixed(5, 5)}, `run 6 of session "day-5" is run 2 of session "day-5" once more`},
		{"the same values on another day", []bench.Session{session(6)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := first(t, "chat")
			d := candidate("h100", "chat", 0)
			d.Sessions = test.head
			_, err := Accept(folder, []bench.Digest{d}, adding())
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// mixed is a session of one day with a run of another.
func mixed(day, other int) bench.Session {
	s := session(day)
	r := session(other).Visits[0].Runs[1]
	r.Order = 6
	s.Visits[0].Runs = append(s.Visits[0].Runs, r)
	return s
}

// Whatever the levels of the nights and their order after the first, the epoch stays where it began.
func TestEpochStaysWhereItBeganLaw(t *testing.T) {
	folder, n := t.TempDir(), 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		inside := filepath.Join(folder, strconv.Itoa(n))
		if _, err := Accept(inside, []bench.Digest{candidate("h100", "chat", 0)}, by("ada")); err != nil {
			r.Fatal(err)
		}
		days := rapid.Permutation([]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).Draw(r, "days")
		for len(days) > 0 {
			n := rapid.IntRange(1, len(days)).Draw(r, "at once")
			several := night(days[0], rapid.Float64Range(0.1, 10).Draw(r, "by"))
			for _, day := range days[1:n] {
				several.Sessions = append(several.Sessions, session(day))
			}
			days = days[n:]
			_, err := Accept(inside, []bench.Digest{several}, adding())
			if err != nil && !strings.Contains(err.Error(), "older than the 10") {
				r.Fatal(err)
			}
		}
		d := shown(t, inside)
		if diff := cmp.Diff(level, d.Epoch.Level); diff != "" {
			r.Fatalf("(-want +got):\n%s", diff)
		}
		if problems, err := Verify(inside); err != nil || len(problems) > 0 {
			r.Fatalf("verify: %v, %v", problems, err)
		}
	})
}
