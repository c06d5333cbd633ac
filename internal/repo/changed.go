package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Changed are the paths, from the repository's root, that differ between head and the commits where it left base, sorted.
// A file that was moved counts with both its paths. Where a shallow clone does not show where head left base, that is an
// error and never an empty list.
func Changed(ctx context.Context, dir, base, head string) ([]string, error) {
	from, err := Resolve(ctx, dir, base)
	if err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	to, err := Resolve(ctx, dir, head)
	if err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	forks, err := forks(ctx, dir, from, to)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, fork := range forks {
		// diff-tree, since it neither runs an outside program nor detects moves.
		out, err := git(ctx, dir, maxListed, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative", fork, to, "--")
		if err != nil {
			return nil, err
		}
		all = append(all, names(out)...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func names(listing []byte) []string {
	var all []string
	for name := range strings.SplitSeq(string(listing), "\x00") {
		if name != "" {
			all = append(all, name)
		}
	}
	return all
}

// forks are the best common ancestors of two commits: one, or several after branches were merged crosswise. In a shallow
// clone an older ancestor may look like the best; there only base itself is believed.
func forks(ctx context.Context, dir, base, head string) ([]string, error) {
	out, err := git(ctx, dir, maxListed, "merge-base", "--all", base, head)
	if ctx.Err() != nil {
		return nil, err
	}
	all := strings.Fields(string(out))
	if len(all) == 1 && all[0] == base {
		return all, nil
	}
	shallow, askErr := git(ctx, dir, maxListed, "rev-parse", "--is-shallow-repository")
	switch {
	case askErr != nil:
		return nil, askErr
	case strings.TrimSpace(string(shallow)) == "true":
		return nil, fmt.Errorf("where %.12s left %.12s is not in this shallow clone; check out with fetch-depth: 0, or run git fetch --unshallow", head, base)
	case err != nil || len(all) == 0:
		return nil, errors.New("the two commits have no common ancestor")
	}
	return all, nil
}

// Differs reports whether a file is another one at head than at base, or is at one of them alone. Its path starts at dir. Of
// a path that git does not hold, one that leads out of the repository or through a link, nothing is known: it counts as a
// file that is not there.
func Differs(ctx context.Context, dir, base, head, name string) (bool, error) {
	was, err := object(ctx, dir, base, name)
	if err != nil {
		return false, fmt.Errorf("base: %w", err)
	}
	is, err := object(ctx, dir, head, name)
	if err != nil {
		return false, fmt.Errorf("head: %w", err)
	}
	return was != is, nil
}

// object is the id of a file's content; empty where there is none.
func object(ctx context.Context, dir, rev, name string) (string, error) {
	id, err := Resolve(ctx, dir, rev)
	if err != nil {
		return "", err
	}
	full, err := fromRoot(ctx, dir, name)
	if errors.Is(err, errOutside) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	e, err := find(ctx, dir, id, full)
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, new(blocked)) {
		return "", nil
	}
	return e.id, err
}
