// Package nightly keeps what the nights of a main branch measured on a data branch, from where it proposes them for the
// baselines.
//
// The data branch holds every night, the refused ones among them, and nothing is ever rewritten there:
//
//	nights/<night>/<runner>/<scenario>.json
//
// What is proposed is worked out anew each time, from the baselines that main holds now and the nights that are kept. So a
// merge, a new epoch, a night that failed or a job that ran twice need no memory of their own.
package nightly

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
)

// Repository says where the branches are.
type Repository struct {
	// URL is what git fetches from and pushes to.
	URL string
	// Token may write the contents of the repository; "" where URL needs none.
	Token string
	// Main is the branch that holds the baselines, Data the one that keeps the nights.
	Main, Data string
}

// Pull is the branch of the standing pull request.
func (r Repository) Pull() string { return r.Data + "-pull" }

// Night is what one campaign of the main branch left.
type Night struct {
	// Name is that of its folder, see [Name]; one that is taken by another night gets a number behind it.
	Name string
	// Digests are those of all runners; none where the night failed.
	Digests []bench.Digest
}

// Name is the name of a night: its day, and the number of the run of the workflow that measured it.
func Name(day time.Time, run int64) string {
	return fmt.Sprintf("%s-%d", day.UTC().Format(time.DateOnly), run)
}

// Result is what became of a night and of those before it.
type Result struct {
	// Kept is the name under which the night lies on the data branch; "" where there was nothing to keep.
	Kept string
	// Nights are the newest that are kept, oldest first, and where each stands.
	Nights []baseline.Replayed
	// Grown are the baselines that differ from those of main.
	Grown []Growth
	// Proposed is the commit that the standing pull request offers; "" where there is nothing to merge or to tell.
	Proposed string
}

// Growth is one baseline that nights joined.
type Growth struct {
	Runner, Scenario string
	Was, Is          int // sessions; Was is 0 where there was no baseline
}

// Refused are the nights that nobody has decided about yet.
func (r Result) Refused() []baseline.Replayed { return r.at(baseline.Refused) }

// Joined are the nights that the standing pull request brings.
func (r Result) Joined() []baseline.Replayed { return r.at(baseline.Joined) }

func (r Result) at(p baseline.Place) []baseline.Replayed {
	var all []baseline.Replayed
	for _, n := range r.Nights {
		if n.Place == p {
			all = append(all, n)
		}
	}
	return all
}

// tries is how often a night is put on top of a data branch that somebody else moves.
const tries = 5

// Keep puts a night on the data branch, replays the nights that are kept on the baselines of main, and moves the branch of
// the standing pull request to what comes out. Dir is an empty folder for the work. A lost race is run again on top of what
// won it, at most five times. The night is on the data branch before anything else is tried.
func Keep(ctx context.Context, dir string, r Repository, n Night, a baseline.Acceptance) (Result, error) {
	var result Result
	if err := errors.Join(r.check(), n.check()); err != nil {
		return result, err
	}
	g, err := newScratch(ctx, dir, r)
	if err != nil {
		return result, err
	}
	var d data
	for try := 1; ; try++ {
		result.Kept, d, err = g.keep(ctx, r, n, a.At)
		if !errors.Is(err, errRace) || try == tries {
			break
		}
	}
	if err != nil {
		return result, fmt.Errorf("keep the night on branch %q: %w", r.Data, err)
	}
	for try := 1; ; try++ {
		err = g.propose(ctx, r, d, a, &result)
		if !errors.Is(err, errRace) || try == tries {
			break
		}
	}
	if err != nil {
		return result, fmt.Errorf("propose baselines on branch %q: %w", r.Pull(), err)
	}
	return result, nil
}

var isBranch = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$`)

func (r Repository) check() error {
	for _, b := range []string{r.Main, r.Data} {
		if !isBranch.MatchString(b) || strings.Contains(b, "..") || strings.HasSuffix(b, "/") || strings.HasSuffix(b, ".lock") {
			return fmt.Errorf("%q is no name of a branch", b)
		}
	}
	if strings.HasPrefix(r.URL, "-") || r.URL == "" {
		return fmt.Errorf("%q is no address of a repository", r.URL)
	}
	if r.Main == r.Data || r.Main == r.Pull() {
		return fmt.Errorf("the data branch %q would overwrite the main branch", r.Data)
	}
	return nil
}

// data is what the data branch holds: the files of its newest nights.
type data struct {
	tip   string // its commit; "" where there is no branch
	files map[string][]byte
}

// data reads the branch, which was seen to stand at tip; it may have moved since.
func (g *scratch) data(ctx context.Context, branch, tip string) (data, error) {
	d := data{files: map[string][]byte{}}
	if tip == "" {
		return d, nil
	}
	var err error
	if d.tip, err = g.fetch(ctx, branch); err != nil {
		return d, err
	}
	blobs, err := g.list(ctx, d.tip, folder, func(p string) bool { return placeOf(p).ok })
	if err != nil {
		return d, err
	}
	d.files, err = g.read(ctx, newest(blobs, mostNights, mostRead))
	return d, err
}

// keep puts a night on top of the data branch, and returns its name and what the branch holds then. A night that is there
// already, file by file, is not kept twice.
func (g *scratch) keep(ctx context.Context, r Repository, n Night, at time.Time) (kept string, d data, _ error) {
	tips, err := g.tips(ctx, r.Data)
	if err != nil {
		return "", d, err
	}
	if d, err = g.data(ctx, r.Data, tips[r.Data]); err != nil {
		return "", d, err
	}
	name, fresh, err := n.place(d.files)
	if err != nil || len(fresh) == 0 {
		return name, d, err
	}
	added := maps.Clone(fresh)
	if d.tip == "" {
		added["README.md"] = []byte(readme)
	}
	commit, err := g.commit(ctx, d.tip, added, at, "nights: "+name+"\n")
	if err == nil {
		err = g.push(ctx, r.Data, d.tip, commit)
	}
	if err != nil {
		return "", d, err
	}
	d.tip = commit
	maps.Copy(d.files, fresh)
	return name, d, nil
}
