package repo

import (
	"context"
	"strings"
)

// Tree is the topmost folder of the work tree that dir lies in; empty where it lies in none.
func Tree(ctx context.Context, dir string) (string, error) {
	out, err := git(ctx, dir, maxListed, "rev-parse", "--show-toplevel")
	if err != nil {
		for _, none := range []string{"not a git repository", "must be run in a work tree"} {
			if strings.Contains(err.Error(), none) {
				return "", nil
			}
		}
		return "", err
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// Edited are the files that the work tree of dir has otherwise than its commit has them, from the top of the tree. What git does
// not track is none of them.
func Edited(ctx context.Context, dir string) ([]string, error) {
	out, err := git(ctx, dir, maxListed, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative",
		"--ignore-submodules=untracked", "HEAD", "--")
	return names(out), err
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
