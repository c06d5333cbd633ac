package baseline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

// farther calls a level different when it is more than a tenth away from the newest session's.
func farther(base, head bench.Digest) (string, bool) {
	was, is := base.Sessions[len(base.Sessions)-1].Level()["ttft.p95"], head.Sessions[0].Level()["ttft.p95"]
	return fmt.Sprintf("ttft.p95 is %.2f times what it was", is/was), is > 1.1*was || was > 1.1*is
}

func nightlies() Acceptance {
	return Acceptance{Who: "nightly", Why: "nightly", At: noon, Differs: farther}
}

// nightOf is the night of a day, as many times slower as is said.
func nightOf(day int, slower float64) Night {
	return Night{Name: fmt.Sprintf("night-%02d", day), Runner: "h100", Digests: []bench.Digest{night(day, slower)}}
}

// nightsOf are several nights at one level.
func nightsOf(days ...int) []Night {
	var all []Night
	for _, day := range days {
		all = append(all, nightOf(day, 1))
	}
	return all
}

// committed is a folder of baselines that holds the days.
func committed(t *testing.T, days ...int) string {
	t.Helper()
	folder := t.TempDir()
	for _, day := range days {
		if _, err := Accept(folder, []bench.Digest{night(day, 1)}, adding()); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func days(d bench.Digest) string {
	var all []string
	for _, s := range d.Sessions {
		all = append(all, strings.TrimPrefix(s.ID, "day-"))
	}
	return strings.Join(all, " ")
}

func places(told []Replayed) string {
	var all []string
	for _, r := range told {
		all = append(all, strings.TrimPrefix(r.Night, "night-")+" "+string(r.Place))
	}
	return strings.Join(all, ", ")
}

func TestNightsJoinTheBaselinesThatAreThere(t *testing.T) {
	long := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	for _, c := range []struct {
		name   string
		main   []int
		nights []Night
		holds  string // days of the baseline afterwards
		told   string
	}{
		{"the first night begins a baseline", nil, nightsOf(3), "3", "03 joined"},
		{"in the order of their days", nil, nightsOf(5, 3, 4), "3 4 5", "03 joined, 04 joined, 05 joined"},
		{"what was merged is held", []int{1, 2}, nightsOf(1, 2, 3), "1 2 3", "01 held, 02 held, 03 joined"},
		{"a night that a merge missed joins later", []int{1, 3}, nightsOf(1, 2, 3), "1 2 3", "01 held, 02 joined, 03 held"},
		{"nights before the first session belong to another level", []int{4}, nightsOf(1, 2, 4, 5), "4 5", "01 before, 02 before, 04 held, 05 joined"},
		{"a night that is missing leaves no gap", []int{1}, nightsOf(2, 4), "1 2 4", "02 joined, 04 joined"},
		{"the same night twice", []int{1}, nightsOf(2, 2), "1 2", "02 joined, 02 held"},
		{"ten sessions are kept", long[:10], nightsOf(10, 11), "2 3 4 5 6 7 8 9 10 11", "10 joined, 11 joined"},
		{
			"of a long history the last ten begin", nil, nightsOf(long...), "2 3 4 5 6 7 8 9 10 11",
			"00 before, 01 before, 02 joined, 03 joined, 04 joined, 05 joined, 06 joined, 07 joined, 08 joined, 09 joined, 10 joined, 11 joined",
		},
		{"a night that differs stops no other", []int{1}, []Night{nightOf(2, 1), nightOf(3, 2), nightOf(4, 1)}, "1 2 4", "02 joined, 03 refused, 04 joined"},
		{"a person went on without it", []int{1, 4}, []Night{nightOf(3, 2), nightOf(5, 1)}, "1 4 5", "03 passed, 05 joined"},
		{"nothing is there", nil, nil, "", ""},
		{"no night", []int{1}, nil, "1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := committed(t, c.main...)
			told, err := Replay(folder, c.nights, nightlies())
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if e, err := Show(folder, "h100", "chat"); err == nil {
				got = days(e.Digest)
			}
			if got != c.holds || places(told) != c.told {
				t.Errorf("holds %q, want %q\ntold %q\nwant %q", got, c.holds, places(told), c.told)
			}
			if problems, err := Verify(folder); err != nil || len(problems) > 0 {
				t.Errorf("verify: %v, %v", problems, err)
			}
		})
	}
}

func TestReplayOfTheSameNightsGivesTheSameBytes(t *testing.T) {
	nights := nightsOf(2, 3, 4)
	first, again := committed(t, 1), committed(t, 1)
	if _, err := Replay(first, nights, nightlies()); err != nil {
		t.Fatal(err)
	}
	later := nightlies()
	later.At = noon.AddDate(0, 0, 3)
	slices.Reverse(nights)
	if _, err := Replay(again, nights, later); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree(t, first), tree(t, again)); diff != "" {
		t.Errorf("(-first +again):\n%s", diff)
	}
	if o := shown(t, first).Sessions[1].Origin; o.Who != "nightly" || !o.Accepted.Equal(session(2).Started.Add(4*60e9+20e9)) {
		t.Errorf("origin of the second session: %+v", o)
	}
}

// Where a person begins anew with the night that was refused, the nights after it follow, and those before it do not return.
func TestNewEpochIsFollowed(t *testing.T) {
	folder := committed(t, 1, 2)
	nights := []Night{nightOf(1, 1), nightOf(2, 1), nightOf(3, 1), nightOf(4, 2), nightOf(5, 2.05), nightOf(6, 1.95)}
	told, err := Replay(folder, nights, nightlies())
	if err != nil {
		t.Fatal(err)
	}
	if want := "01 held, 02 held, 03 joined, 04 refused, 05 refused, 06 refused"; places(told) != want {
		t.Fatalf("told %q, want %q", places(told), want)
	}
	if why := told[3].Why; !strings.Contains(why, "ttft.p95 is 2.00 times what it was; start anew with --new-epoch --reason TEXT") {
		t.Errorf("why: %s", why)
	}
	folder = committed(t, 1, 2)
	epoch := by("ada")
	epoch.NewEpoch, epoch.Reason = true, "the scheduler is another one"
	if _, err := Accept(folder, nights[3].Digests, epoch); err != nil {
		t.Fatal(err)
	}
	if told, err = Replay(folder, nights, nightlies()); err != nil {
		t.Fatal(err)
	}
	if want := "01 before, 02 before, 03 before, 04 held, 05 joined, 06 joined"; places(told) != want {
		t.Errorf("told %q, want %q", places(told), want)
	}
	if d := shown(t, folder); days(d) != "4 5 6" || d.Epoch.Number != 1 || d.Epoch.Who != "ada" {
		t.Errorf("holds %s of epoch %+v", days(d), d.Epoch)
	}
}

// A night is of one runner and joins as a whole: what was odd about the machine for one scenario may have been for all.
func TestNightIsRefusedAsAWholeAndRunnersApart(t *testing.T) {
	folder := t.TempDir()
	two := func(runner string, day int, slower float64) Night {
		chat, batch := night(day, slower), candidate(runner, "batch", day)
		chat.Runner = runner
		return Night{Name: fmt.Sprintf("night-%02d", day), Runner: runner, Digests: []bench.Digest{chat, batch}}
	}
	nights := []Night{two("h100", 1, 1), two("mac", 1, 1), two("h100", 2, 2), two("mac", 2, 1)}
	told, err := Replay(folder, nights, nightlies())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range told {
		got = append(got, r.Runner+" "+string(r.Place))
	}
	if diff := cmp.Diff([]string{"h100 joined", "mac joined", "h100 refused", "mac joined"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for place, want := range map[string]string{"h100/chat": "1", "h100/batch": "1", "mac/chat": "1 2", "mac/batch": "1 2"} {
		runner, scenario, _ := strings.Cut(place, "/")
		if e, err := Show(folder, runner, scenario); err != nil || days(e.Digest) != want {
			t.Errorf("%s holds %q, want %q: %v", place, days(e.Digest), want, err)
		}
	}
}

// One scenario was begun anew with a night; its other scenario joins with that night still.
func TestScenarioThatHoldsTheNightLetsTheOthersJoin(t *testing.T) {
	folder := committed(t, 1)
	both := Night{Name: "night-02", Runner: "h100", Digests: []bench.Digest{night(2, 1), candidate("h100", "batch", 2)}}
	if _, err := Accept(folder, both.Digests[:1], adding()); err != nil {
		t.Fatal(err)
	}
	told, err := Replay(folder, []Night{both}, nightlies())
	if err != nil {
		t.Fatal(err)
	}
	if e, err := Show(folder, "h100", "batch"); err != nil || days(e.Digest) != "2" || places(told) != "02 joined" {
		t.Errorf("batch holds %q, told %s: %v", days(e.Digest), places(told), err)
	}
}

func TestNightsThatCannotJoinAreToldAndStopNoOther(t *testing.T) {
	half := nightOf(2, 1)
	half.Digests[0].Sessions[0].Planned = 6
	future := nightOf(40, 1)
	damaged := Night{Name: "night-03", Runner: "h100", Damaged: errors.New("read digest: not JSON")}
	empty := Night{Name: "night-02", Runner: "h100"}
	two := nightOf(2, 1)
	two.Digests[0].Sessions = append(two.Digests[0].Sessions, session(3))
	for name, c := range map[string]struct {
		night Night
		why   string
	}{
		"two sessions":    {two, `scenario "chat" of runner "h100" holds 2 sessions, and a night is one`},
		"half measured":   {half, "5 of 6 planned runs are measured"},
		"from the future": {future, "set the clock that is wrong"},
		"damaged":         {damaged, "not JSON"},
		"empty":           {empty, "nothing to accept"},
	} {
		folder := committed(t, 1)
		told, err := Replay(folder, []Night{c.night, nightOf(4, 1)}, nightlies())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(told, func(r Replayed) bool { return r.Night == c.night.Name })
		if told[i].Place != Refused || !strings.Contains(told[i].Why, c.why) {
			t.Errorf("%s: told %+v", name, told[i])
		}
		if d := shown(t, folder); days(d) != "1 4" {
			t.Errorf("%s: holds %q", name, days(d))
		}
	}
}

// A campaign that was cut off is kept, and kept again once it was finished: the second copy settles the first.
func TestLaterCopyOfANightSettlesTheFirst(t *testing.T) {
	half := nightOf(2, 1)
	half.Digests[0].Sessions[0].Planned = 6
	whole := nightOf(2, 1)
	whole.Name = "night-02-again"
	folder := committed(t, 1)
	told, err := Replay(folder, []Night{half, whole}, nightlies())
	if err != nil {
		t.Fatal(err)
	}
	if want := "02 held, 02-again joined"; places(told) != want {
		t.Errorf("told %q, want %q", places(told), want)
	}
}

func TestDamagedBaselineStopsTheReplay(t *testing.T) {
	folder := committed(t, 1)
	name := filepath.Join(folder, "h100", "chat.json")
	if err := os.WriteFile(name, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Replay(folder, nightsOf(2), nightlies()); err == nil || !strings.Contains(err.Error(), "stay as they are") {
		t.Errorf("error %v", err)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "{" {
		t.Errorf("the file was touched: %q, %v", data, err)
	}
}

func TestNightThatBeganTooSoonJoinsAndIsToldOf(t *testing.T) {
	soon := nightOf(2, 1)
	soon.Digests[0].Sessions[0].Started = session(1).Started.Add(40 * time.Minute)
	told, err := Replay(committed(t, 1), []Night{soon, nightOf(3, 1)}, nightlies())
	if err != nil {
		t.Fatal(err)
	}
	const want = `sessions "day-1" and "day-2" began within 40m0s: they do not show how far days differ`
	if places(told) != "02 joined, 03 joined" || !strings.HasPrefix(told[0].Why, want) || told[1].Why != "" {
		t.Errorf("told %+v", told)
	}
}
