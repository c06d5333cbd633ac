package nightly

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/repo/repotest"
)

// origin is a repository that jobs push to, and a clone in which a person works.
type origin struct {
	t     *testing.T
	url   string
	clone string
}

func newOrigin(t *testing.T) origin {
	t.Helper()
	t.Parallel()
	o := origin{t, filepath.Join(t.TempDir(), "origin.git"), filepath.Join(t.TempDir(), "clone")}
	repotest.Git(t, "", "init", "-q", "--bare", "-b", "main", o.url)
	repotest.Git(t, "", "clone", "-q", o.url, o.clone)
	o.git("checkout", "-q", "-b", "main")
	o.write("engine.txt", "1\n")
	o.save("the engine")
	return o
}

// git runs in the clone.
func (o origin) git(args ...string) string {
	o.t.Helper()
	return repotest.Git(o.t, o.clone, args...)
}

// at runs in the repository that jobs push to.
func (o origin) at(args ...string) string {
	o.t.Helper()
	return repotest.Git(o.t, o.url, args...)
}

func (o origin) write(name, text string) {
	o.t.Helper()
	repotest.Put(o.t, o.clone, name, text)
}

// save commits what lies in the clone, and pushes it.
func (o origin) save(message string) {
	o.t.Helper()
	o.git("add", "-A")
	o.git("commit", "-q", "--allow-empty", "-m", message)
	o.git("push", "-q", "origin", "main")
}

// merge merges the standing pull request, as a person does by its button.
func (o origin) merge(how ...string) {
	o.t.Helper()
	o.git("fetch", "-q", "origin")
	o.git(append(append([]string{"merge", "-q"}, how...), "origin/"+o.repository().Pull())...)
	if o.git("status", "--porcelain") != "" {
		o.git("commit", "-q", "-m", "squashed")
	}
	o.git("push", "-q", "origin", "main")
}

// accept accepts a candidate by hand on main.
func (o origin) accept(a baseline.Acceptance, head ...bench.Digest) {
	o.t.Helper()
	a.Who, a.At = "ada", now
	if _, err := baseline.Accept(filepath.Join(o.clone, baseline.Folder), head, a); err != nil {
		o.t.Fatal(err)
	}
	o.save("accepted by hand")
}

func (o origin) repository() Repository {
	return Repository{URL: o.url, Main: "main", Data: "benchgate-data"}
}

var now = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func acceptance() baseline.Acceptance {
	return baseline.Acceptance{Who: "nightly", Why: "nightly", At: now, Differs: gate.Differs}
}

// night runs the job that keeps a night.
func (o origin) night(n Night) Result {
	o.t.Helper()
	r, err := Keep(o.t.Context(), o.t.TempDir(), o.repository(), n, acceptance())
	if err != nil {
		o.t.Fatal(err)
	}
	return r
}

// list are the files of a branch.
func (o origin) list(branch string) string {
	o.t.Helper()
	return strings.ReplaceAll(o.at("ls-tree", "-r", "--name-only", branch), "\n", " ")
}

// sessions are those of the baseline of chat on a branch: the numbers of the nights.
func (o origin) sessions(branch string) string {
	o.t.Helper()
	text := o.at("show", branch+":baselines/lab/chat.json")
	d, err := bench.ReadDigest(strings.NewReader(text), branch)
	if err != nil {
		o.t.Fatal(err)
	}
	var all []string
	for _, s := range d.Sessions {
		all = append(all, strings.TrimPrefix(s.ID, "night-"))
	}
	return strings.Join(all, " ")
}

// digest is what a night left of a scenario: five runs, so many times slower than the first night's.
func digest(scenario string, day int, slower float64) bench.Digest {
	start := time.Date(2026, 9, day, 2, 0, 0, 0, time.UTC)
	s := bench.Session{ID: fmt.Sprintf("night-%d", day), Started: start, Visits: []bench.Visit{{Number: 1, Started: start}}}
	for i := range 5 {
		wave := 1 + 0.02*math.Sin(float64(3*i+day))
		s.Visits[0].Runs = append(s.Visits[0].Runs, bench.Run{
			Order: i + 1, Started: start.Add(time.Duration(i) * time.Minute), Duration: 20, Sent: 100, OK: 100,
			Metrics: map[string]float64{"ttft.p50": 0.2 * slower * wave, "ttft.p95": 0.4 * slower * wave, "tpot.mean": 0.02 * wave, "error.ratio": 0},
		})
	}
	return bench.Digest{
		Schema: bench.DigestSchema, Runner: "lab", Scenario: scenario, MustMatch: map[string]string{bench.KeyMachine: "m"},
		Sessions: []bench.Session{s},
	}
}

// of is a night of the scenario chat.
func of(day int, slower float64) Night {
	d := digest("chat", day, slower)
	return Night{Name: Name(d.Sessions[0].Started, int64(100+day)), Digests: []bench.Digest{d}}
}

func canonical(t *testing.T, d bench.Digest) string {
	t.Helper()
	var b bytes.Buffer
	if err := bench.WriteDigest(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
