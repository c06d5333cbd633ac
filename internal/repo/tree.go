package repo

import (
	"context"
	"os"
	"path/filepath"
	"slices"
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

// Edited are the files that the work tree of dir has otherwise than its commit has them, from the top of the tree, sorted. What git
// does not track is none of them, nor is what a sparse checkout leaves out. The index of the tree is not believed, since it may say of
// a file not to look at it; those of submodules are.
func Edited(ctx context.Context, dir string) ([]string, error) {
	own, err := git(ctx, dir, maxListed, against("--name-only")...) // also tells what was added
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "benchgate-index-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	index := filepath.Join(temp, "index")
	if _, err := gitBy(ctx, dir, index, maxListed, "read-tree", "HEAD"); err != nil {
		return nil, err
	}
	fresh, err := gitBy(ctx, dir, index, maxListed, against("--name-status")...)
	if err != nil {
		return nil, err
	}
	var other, gone []string
	for pair := range slices.Chunk(names(fresh), 2) {
		if pair[0] == "D" {
			gone = append(gone, pair[len(pair)-1])
			continue
		}
		other = append(other, pair[len(pair)-1])
	}
	if gone, err = notSparse(ctx, dir, gone); err != nil {
		return nil, err
	}
	all := slices.Concat(names(own), other, gone)
	slices.Sort(all)
	return slices.Compact(all), nil
}

// against are the arguments that compare the work tree with its commit.
func against(more ...string) []string {
	args := []string{"diff", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=untracked"}
	return append(append(args, more...), "HEAD", "--")
}

// notSparse are those of some files, which are not there, that the index does not leave out of the work tree.
func notSparse(ctx context.Context, dir string, gone []string) ([]string, error) {
	if len(gone) == 0 {
		return nil, nil
	}
	top, err := Tree(ctx, dir)
	if err != nil {
		return nil, err
	}
	listing, err := git(ctx, top, maxTree, "ls-files", "-t", "-z")
	if err != nil {
		return nil, err
	}
	left := map[string]bool{}
	for _, line := range names(listing) {
		if name, ok := strings.CutPrefix(line, "S "); ok {
			left[name] = true
		}
	}
	return slices.DeleteFunc(gone, func(name string) bool { return left[name] }), nil
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
