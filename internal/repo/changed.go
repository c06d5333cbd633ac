package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
)

// Change is one path that differs.
type Change struct {
	Path string // from the repository's root
	// Before and After are the modes that git has of it, such as "100644"; empty on a side that has no such path.
	Before, After string
}

// Regular reports whether the path is a regular file wherever it is there, and no less or more of a program than it was.
func (c Change) Regular() bool {
	plain := func(mode string) bool { return mode == "" || mode == "100644" || mode == "100755" }
	return plain(c.Before) && plain(c.After) && (c.Before == "" || c.After == "" || c.Before == c.After)
}

// Leads says what the path is that stands for files elsewhere, "a submodule" or "a symbolic link"; empty where it is neither.
func (c Change) Leads() string {
	for _, mode := range []string{c.After, c.Before} {
		switch mode {
		case "160000":
			return "a submodule"
		case "120000":
			return "a symbolic link"
		}
	}
	return ""
}

// Changed are the paths that differ between head and the commits where it left base, sorted; a path is there twice where
// it differs from two of them in two ways. A file that was moved counts with both its paths. Where a shallow clone does
// not show where head left base, that is an error and never an empty list.
func Changed(ctx context.Context, dir, base, head string) ([]Change, error) {
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
	var all []Change
	for _, fork := range forks {
		// diff-tree, since it neither runs an outside program nor detects moves.
		out, err := git(ctx, dir, maxListed, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative", fork, to, "--")
		if err != nil {
			return nil, err
		}
		some, err := changes(out)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Before, b.Before), cmp.Compare(a.After, b.After))
	})
	return slices.Compact(all), nil
}

// changes reads a listing of (colon, mode, mode, id, id, status, NUL, path, NUL).
func changes(listing []byte) ([]Change, error) {
	var all []Change
	parts := strings.Split(strings.TrimSuffix(string(listing), "\x00"), "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		fields := strings.Fields(strings.TrimPrefix(parts[i], ":"))
		if len(fields) != 5 || parts[i+1] == "" {
			return nil, fmt.Errorf("git diff-tree says %.100q", parts[i])
		}
		mode := func(s string) string { return strings.TrimPrefix(s, "000000") }
		all = append(all, Change{Path: parts[i+1], Before: mode(fields[0]), After: mode(fields[1])})
	}
	return all, nil
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

// Holds reports whether a commit is another one, or in the history of it.
func Holds(ctx context.Context, dir, rev, earlier string) (bool, error) {
	to, err := Resolve(ctx, dir, rev)
	if err != nil {
		return false, err
	}
	from, err := Resolve(ctx, dir, earlier)
	if err != nil {
		return false, err
	}
	_, err = git(ctx, dir, maxListed, "merge-base", "--is-ancestor", from, to)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// Differs reports whether a file is another one at head than at base, or is at one of them alone. Its path starts at dir. A
// link is followed as far as the commit holds what it leads to; beyond that nothing is known, and it counts as another file. A
// path that by itself leads out of the repository counts as a file that is not there.
func Differs(ctx context.Context, dir, base, head, name string) (bool, error) {
	was, known, err := object(ctx, dir, base, name)
	if err != nil {
		return false, fmt.Errorf("base: %w", err)
	}
	is, alsoKnown, err := object(ctx, dir, head, name)
	if err != nil {
		return false, fmt.Errorf("head: %w", err)
	}
	return was != is || !known || !alsoKnown, nil
}

// object is the id of a file's content; empty where there is none, and not known where a link hides it.
func object(ctx context.Context, dir, rev, name string) (id string, known bool, err error) {
	commit, err := Resolve(ctx, dir, rev)
	if err != nil {
		return "", false, err
	}
	full, err := fromRoot(ctx, dir, name)
	switch {
	case errors.Is(err, errOutside):
		return "", true, nil
	case err != nil:
		return "", false, err
	case strings.Contains(full, "\n"):
		return "", false, nil // git reads a name a line
	}
	out, err := gitOn(ctx, dir, commit+":"+full+"\n", maxListed, "cat-file", "--batch-check", "--follow-symlinks")
	if err != nil {
		return "", false, err
	}
	first, _, _ := strings.Cut(string(out), "\n")
	word, size, _ := strings.Cut(first, " ")
	switch {
	case strings.HasSuffix(first, " missing"):
		return lost(ctx, dir, commit, full)
	case word == "notdir":
		return "", true, nil
	case word == "symlink", word == "dangling", word == "loop":
		return "", false, nil
	}
	return word, size != "", nil
}

// lost is the object of a path at which git finds nothing: a submodule stands for all that lies in it.
func lost(ctx context.Context, dir, commit, full string) (id string, known bool, err error) {
	e, err := find(ctx, dir, commit, full)
	var by blocked
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", true, nil
	case errors.As(err, &by):
		return by.by.id, by.by.kind == "commit", nil
	}
	return e.id, e.mode != "120000", err
}
