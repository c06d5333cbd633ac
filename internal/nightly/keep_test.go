package nightly

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
)

// told is a result in a line: where the nights stand, and what would be merged.
func told(r Result) string {
	var all []string
	for _, n := range r.Nights {
		all = append(all, strings.TrimPrefix(n.Night, "2026-09-")+" "+string(n.Place))
	}
	for _, g := range r.Grown {
		all = append(all, fmt.Sprintf("%s %d→%d", g.Scenario, g.Was, g.Is))
	}
	return strings.Join(all, ", ")
}

func hold(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestFirstNightBeginsTheDataBranchAndProposesABaseline(t *testing.T) {
	o := newOrigin(t)
	r := o.night(of(1, 1))
	hold(t, "kept as", r.Kept, "2026-09-01-101")
	hold(t, "told", told(r), "01-101 joined, chat 0→1")
	hold(t, "data branch", o.list("benchgate-data"), "README.md nights/2026-09-01-101/lab/chat.json")
	hold(t, "its history", o.at("rev-list", "--count", "benchgate-data"), "1")
	hold(t, "the pull request", o.list("benchgate-data-pull"), "baselines/lab/chat.json engine.txt")
	hold(t, "its parent", o.at("rev-parse", "benchgate-data-pull^"), o.at("rev-parse", "main"))
	hold(t, "title", r.Title(), "baselines: 1 night joins")
	if diff := cmp.Diff(canonical(t, digest("chat", 1, 1)), o.at("show", "benchgate-data:nights/2026-09-01-101/lab/chat.json")+"\n"); diff != "" {
		t.Errorf("the digest that is kept (-want +got):\n%s", diff)
	}
}

func TestNightsGatherUntilAPersonMerges(t *testing.T) {
	for name, how := range map[string][]string{"by a merge": {"--no-ff", "-m", "merged"}, "by a squash": {"--squash"}, "by fast forward": {"--ff-only"}} {
		if testing.Short() && len(how) == 1 { // each leaves the same sessions on main
			continue
		}
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			o.night(of(1, 1))
			o.night(of(2, 1.01))
			o.write("engine.txt", "2\n")
			o.save("main moves")
			r := o.night(of(4, 0.99)) // night 3 was missed
			hold(t, "told", told(r), "01-101 joined, 02-102 joined, 04-104 joined, chat 0→3")
			hold(t, "the pull request", o.list("benchgate-data-pull"), "baselines/lab/chat.json engine.txt")
			hold(t, "its engine", o.at("show", "benchgate-data-pull:engine.txt"), "2")
			o.merge(how...)
			hold(t, "main", o.sessions("main"), "1 2 4")
			r = o.night(Night{Name: "2026-09-05-105"}) // this one failed: nothing to keep
			hold(t, "after the merge", told(r), "01-101 held, 02-102 held, 04-104 held")
			hold(t, "kept, proposed", r.Kept+r.Proposed, "")
			r = o.night(of(6, 1))
			hold(t, "the next night", told(r), "01-101 held, 02-102 held, 04-104 held, 06-106 joined, chat 3→4")
			hold(t, "the pull request", o.sessions("benchgate-data-pull"), "1 2 4 6")
		})
	}
}

func TestSameNightTwiceIsKeptOnce(t *testing.T) {
	o := newOrigin(t)
	first := o.night(of(1, 1))
	tip := o.at("rev-parse", "benchgate-data", "benchgate-data-pull")
	again := of(1, 1)
	again.Name += "-2" // as a second attempt of the same run
	second := o.night(again)
	hold(t, "branches", o.at("rev-parse", "benchgate-data", "benchgate-data-pull"), tip)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}

// A campaign that was cut off goes on in the next attempt: both are kept, and the finished one joins.
func TestOtherResultsOfTheSameRunAreKeptBeside(t *testing.T) {
	o := newOrigin(t)
	half := of(1, 1)
	runs := half.Digests[0].Sessions[0].Visits[0].Runs
	half.Digests[0].Sessions[0].Visits[0].Runs, half.Digests[0].Sessions[0].Planned = runs[:3:3], 5
	r := o.night(half)
	hold(t, "told", told(r), "01-101 refused")
	r = o.night(of(1, 1))
	hold(t, "kept as", r.Kept, "2026-09-01-101-2")
	hold(t, "told", told(r), "01-101 held, 01-101-2 joined, chat 0→1")
}

func TestRefusedNightStaysAndThePullRequestSaysSo(t *testing.T) {
	o := newOrigin(t)
	o.accept(baseline.Acceptance{}, digest("chat", 1, 1))
	r := o.night(of(2, 1.5))
	hold(t, "told", told(r), "02-102 refused")
	hold(t, "title", r.Title(), "baselines: 1 night is refused")
	hold(t, "data branch", o.list("benchgate-data"), "README.md nights/2026-09-02-102/lab/chat.json")
	hold(t, "the pull request changes", o.at("diff", "--name-only", "main", "benchgate-data-pull"), "")
	hold(t, "and is ahead", o.at("rev-list", "--count", "main..benchgate-data-pull"), "1")
	for _, want := range []string{
		"nothing to merge here yet", `2026-09-02-102 lab REFUSED: scenario "chat" of runner "lab" cannot join its baseline: its level differs: ttft.p50 regressed`,
		"start anew with --new-epoch --reason TEXT", "benchgate baseline accept ../kept/nights/2026-09-02-102/lab --new-epoch --reason",
	} {
		if !strings.Contains(strings.Join(strings.Fields(r.Body(o.repository())), " "), want) {
			t.Errorf("the pull request lacks %q:\n%s", want, r.Body(o.repository()))
		}
	}
	r = o.night(of(3, 1.01))
	hold(t, "the next night", told(r), "02-102 refused, 03-103 joined, chat 1→2")
	hold(t, "title", r.Title(), "baselines: 1 night joins, 1 is refused")
	o.merge()
	r = o.night(of(4, 1.01))
	hold(t, "a person went on without it", told(r), "02-102 passed, 03-103 held, 04-104 joined, chat 2→3")
}

// What the pull request advises is done: the refused night begins an epoch, and the next night follows.
func TestNewEpochOnMainIsFollowed(t *testing.T) {
	o := newOrigin(t)
	o.night(of(1, 1))
	o.merge()
	o.night(of(2, 1.5))
	hold(t, "before", told(o.night(of(3, 1.52))), "01-101 held, 02-102 refused, 03-103 refused")
	o.git("fetch", "-q", "origin", "benchgate-data")
	o.git("worktree", "add", "-q", "--detach", "../kept", "FETCH_HEAD")
	head, _, err := baseline.Read(filepath.Join(o.clone, "../kept/nights/2026-09-02-102/lab"), "")
	if err != nil {
		t.Fatal(err)
	}
	o.accept(baseline.Acceptance{NewEpoch: true, Reason: "another scheduler"}, head...)
	r := o.night(of(4, 1.48))
	hold(t, "after", told(r), "01-101 before, 02-102 held, 03-103 joined, 04-104 joined, chat 1→3")
	hold(t, "the pull request", o.sessions("benchgate-data-pull"), "2 3 4")
}

// Two jobs at once: whoever loses works on top of what won.
func TestLostRaceIsRunAgain(t *testing.T) {
	o := newOrigin(t)
	o.night(of(1, 1))
	hook := filepath.Join(o.url, "hooks", "pre-receive")
	// The first push meets somebody who was faster: the hook lets another night in before it refuses.
	script := `#!/bin/sh
read was is ref
test "$ref" = refs/heads/benchgate-data || exit 0
test -e raced && exit 0
touch raced
unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
tree=$(git rev-parse "$was^{tree}")
other=$(GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com git commit-tree "$tree" -p "$was" -m other)
git update-ref refs/heads/benchgate-data "$other"
echo lost >&2
exit 1
`
	if err := os.WriteFile(hook, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	r := o.night(of(2, 1))
	hold(t, "told", told(r), "01-101 joined, 02-102 joined, chat 0→2")
	hold(t, "history", strings.ReplaceAll(o.at("log", "--format=%s", "benchgate-data"), "\n", ", "), "nights: 2026-09-02-102, other, nights: 2026-09-01-101")
}

// Jobs that run at the same moment, as nothing but a setting of the workflow keeps them from doing, lose no night.
func TestJobsAtOnceLoseNoNight(t *testing.T) {
	o := newOrigin(t)
	var jobs sync.WaitGroup
	for day := 1; day <= 3; day++ {
		dir := t.TempDir()
		jobs.Go(func() {
			if _, err := Keep(t.Context(), dir, o.repository(), of(day, 1), acceptance()); err != nil {
				t.Error(err)
			}
		})
	}
	jobs.Wait()
	hold(t, "data branch", o.list("benchgate-data"), "README.md nights/2026-09-01-101/lab/chat.json nights/2026-09-02-102/lab/chat.json nights/2026-09-03-103/lab/chat.json")
	hold(t, "the pull request", o.sessions("benchgate-data-pull"), "1 2 3")
}

// A branch that moves under every try ends the job in words, not in an endless loop.
func TestEndlessRaceIsGivenUp(t *testing.T) {
	o := newOrigin(t)
	o.night(of(1, 1))
	script := `#!/bin/sh
read was is ref
unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
echo try >>tries
other=$(GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com git commit-tree "$was^{tree}" -p "$was" -m other)
git update-ref refs/heads/benchgate-data "$other"
exit 1
`
	if err := os.WriteFile(filepath.Join(o.url, "hooks", "pre-receive"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Keep(t.Context(), t.TempDir(), o.repository(), of(2, 1), acceptance())
	if err == nil || !strings.Contains(err.Error(), `keep the night on branch "benchgate-data": the branch moved meanwhile`) {
		t.Errorf("error %v", err)
	}
	if tries, err := os.ReadFile(filepath.Join(o.url, "tries")); err != nil || string(tries) != strings.Repeat("try\n", 5) {
		t.Errorf("tries %q, %v", tries, err)
	}
}

func TestRefusedPushIsToldAtOnce(t *testing.T) {
	o := newOrigin(t)
	if err := os.WriteFile(filepath.Join(o.url, "hooks", "pre-receive"), []byte("#!/bin/sh\necho 'protected branch' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Keep(t.Context(), t.TempDir(), o.repository(), of(1, 1), acceptance())
	if err == nil || !strings.Contains(err.Error(), `push to branch "benchgate-data": git push: remote: protected branch`) {
		t.Errorf("error %v", err)
	}
}

func TestWhatCannotBeKeptIsRefused(t *testing.T) {
	o := newOrigin(t)
	climbing := digest("chat", 1, 1)
	climbing.Runner = "../../etc"
	for name, c := range map[string]struct {
		repository Repository
		night      Night
		want       string
	}{
		"a runner that climbs":    {o.repository(), Night{Name: "2026-09-01-1", Digests: []bench.Digest{climbing}}, "runner"},
		"a name that climbs":      {o.repository(), Night{Name: "../main"}, `"../main" is no name of a night`},
		"a scenario twice":        {o.repository(), Night{Name: "2026-09-01-1", Digests: []bench.Digest{digest("chat", 1, 1), digest("chat", 2, 1)}}, `"chat" of runner "lab" is there twice`},
		"main as data branch":     {Repository{o.url, "", "main", "main"}, of(1, 1), "would overwrite the main branch"},
		"main as its pull":        {Repository{o.url, "", "x-pull", "x"}, of(1, 1), "would overwrite the main branch"},
		"a flag for a branch":     {Repository{o.url, "", "main", "--all"}, of(1, 1), `"--all" is no name of a branch`},
		"a flag for a repository": {Repository{"--upload-pack=x", "", "main", "data"}, of(1, 1), "no address"},
		"no such main":            {Repository{o.url, "", "trunk", "data"}, Night{Name: "2026-09-01-1"}, `there is no branch "trunk"`},
		"no such repository":      {Repository{o.url + "x", "", "main", "data"}, of(1, 1), "git ls-remote"},
	} {
		if _, err := Keep(t.Context(), t.TempDir(), c.repository, c.night, acceptance()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	hold(t, "branches", o.at("branch", "--format=%(refname:short)"), "main")
}

// Whoever can write to the data branch may put anything there: nothing of it leaves its place, and what cannot be read is said.
func TestHostileDataBranchIsReadAsHostile(t *testing.T) {
	o := newOrigin(t)
	o.git("checkout", "-q", "--orphan", "benchgate-data")
	o.git("rm", "-q", "-rf", ".")
	o.write("nights/2026-09-01-1/lab/chat.json", "{")
	o.write("nights/2026-09-01-1/LAB/chat.json", "{")
	o.write("nights/today/lab/chat.json", "{")
	o.write("nights/2026-09-02-2/lab/chat.json", canonical(t, digest("batch", 2, 1)))
	o.git("add", "-A")
	o.git("commit", "-q", "-m", "x")
	o.git("push", "-q", "origin", "benchgate-data")
	r := o.night(of(3, 1))
	hold(t, "told", told(r), "01-1 refused, 02-2 refused, 03-103 joined, chat 0→1")
	o.git("checkout", "-q", "-f", "benchgate-data")
	o.git("pull", "-q", "origin", "benchgate-data")
	if err := os.Symlink("/etc/passwd", filepath.Join(o.clone, "nights/2026-09-02-2/lab/link.json")); err != nil {
		t.Fatal(err)
	}
	o.git("add", "-A")
	o.git("commit", "-q", "-m", "x")
	o.git("push", "-q", "origin", "benchgate-data")
	_, err := Keep(t.Context(), t.TempDir(), o.repository(), of(4, 1), acceptance())
	if err == nil || !strings.Contains(err.Error(), "link.json\" of commit") {
		t.Errorf("a link: %v", err)
	}
}

func TestDamagedBaselineOfMainStopsTheProposalAndNotTheNight(t *testing.T) {
	o := newOrigin(t)
	o.write("baselines/lab/chat.json", "<<<<<<< ours\n")
	o.save("a conflict")
	_, err := Keep(t.Context(), t.TempDir(), o.repository(), of(1, 1), acceptance())
	if err == nil || !strings.Contains(err.Error(), "the baselines stay as they are") {
		t.Errorf("error %v", err)
	}
	hold(t, "data branch", o.list("benchgate-data"), "README.md nights/2026-09-01-101/lab/chat.json")
}

func TestInterruptedJobEnds(t *testing.T) {
	o := newOrigin(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Keep(ctx, t.TempDir(), o.repository(), of(1, 1), acceptance()); err == nil {
		t.Error("no error")
	}
}

// A branch that has grown for years is not read whole: the newest nights are, as far as there is room for them.
func TestNewestNightsAreLookedAt(t *testing.T) {
	var all []blob
	for _, night := range []string{"2025-01-01-7", "2026-09-01-101", "2026-09-02-102", "2026-09-03-103"} {
		all = append(all, blob{path: "nights/" + night + "/lab/batch.json", size: 40}, blob{path: "nights/" + night + "/lab/chat.json", size: 60})
	}
	for _, c := range []struct{ most, room, files int }{{400, 1000, 8}, {2, 1000, 4}, {400, 399, 6}, {400, 250, 4}, {400, 99, 0}, {0, 1000, 0}} {
		got := newest(all, c.most, c.room)
		if len(got) != c.files || c.files > 0 && got[0].path != all[8-c.files].path {
			t.Errorf("at most %d nights of %d bytes: %v", c.most, c.room, got)
		}
	}
}
