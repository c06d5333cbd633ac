package nightly

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
)

// propose replays the nights on the baselines of main, and moves the branch of the standing pull request to them. Nights
// that somebody else has kept since d was read are replayed as well.
func (g *scratch) propose(ctx context.Context, r Repository, d data, a baseline.Acceptance, result *Result) error {
	tips, err := g.tips(ctx, r.Main, r.Data, r.Pull())
	if err != nil {
		return err
	}
	if tips[r.Data] != d.tip {
		if d, err = g.data(ctx, r.Data, tips[r.Data]); err != nil {
			return err
		}
	}
	if tips[r.Main] == "" {
		return fmt.Errorf("there is no branch %q", r.Main)
	}
	main, err := g.fetch(ctx, r.Main)
	if err != nil {
		return err
	}
	blobs, err := g.list(ctx, main, baseline.Folder, func(p string) bool { return strings.HasSuffix(p, ".json") })
	if err != nil {
		return err
	}
	before, err := g.read(ctx, blobs)
	if err != nil {
		return err
	}
	work, err := layOut(g.dir, before)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if result.Nights, err = baseline.Replay(work, nightsOf(d.files), a); err != nil {
		return err
	}
	changed, err := result.grown(work, before)
	if err != nil {
		return err
	}
	result.Proposed = ""
	if len(changed) == 0 && len(result.Refused()) == 0 {
		return nil
	}
	if result.Proposed, err = g.commit(ctx, main, changed, result.last(), result.message()); err != nil || result.Proposed == tips[r.Pull()] {
		return err
	}
	return g.push(ctx, r.Pull(), tips[r.Pull()], result.Proposed)
}

// layOut writes files of a commit into a new folder, which stands for the folder of baselines.
func layOut(dir string, files map[string][]byte) (string, error) {
	work, err := os.MkdirTemp(dir, "baselines-")
	if err != nil {
		return "", err
	}
	for p, data := range files {
		below, ok := strings.CutPrefix(p, baseline.Folder+"/")
		if !ok || !filepath.IsLocal(filepath.FromSlash(below)) {
			return "", fmt.Errorf("%q is no place for a baseline", p)
		}
		name := filepath.Join(work, filepath.FromSlash(below))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644)); err != nil {
			return "", err
		}
	}
	return work, nil
}

// grown finds the baselines that differ from what they were, and returns their files.
func (r *Result) grown(work string, before map[string][]byte) (map[string][]byte, error) {
	entries, err := baseline.List(work)
	if err != nil {
		return nil, err
	}
	r.Grown = nil
	changed := map[string][]byte{}
	for _, e := range entries {
		data, err := os.ReadFile(e.File)
		if err != nil {
			return nil, err
		}
		p := path.Join(baseline.Folder, e.Runner, e.Scenario+".json")
		if bytes.Equal(data, before[p]) {
			continue
		}
		growth := Growth{Runner: e.Runner, Scenario: e.Scenario, Is: len(e.Digest.Sessions)}
		if old, ok := before[p]; ok {
			d, err := bench.ReadDigest(bytes.NewReader(old), p)
			if err != nil {
				return nil, err
			}
			growth.Was = len(d.Sessions)
		}
		changed[p] = data
		r.Grown = append(r.Grown, growth)
	}
	return changed, nil
}

// last is when the newest night of what is proposed or told began: the time of the commit, so that the same nights on the
// same main give the same commit.
func (r Result) last() time.Time {
	var last time.Time
	for _, n := range r.Nights {
		if (n.Place == baseline.Joined || n.Place == baseline.Refused) && n.Began.After(last) {
			last = n.Began
		}
	}
	if last.Unix() < 0 {
		return time.Unix(0, 0)
	}
	return last
}
