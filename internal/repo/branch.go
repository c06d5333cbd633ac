package repo

import (
	"context"
	"strings"
)

// DefaultBranch is the branch that changes are merged into, as far as a clone can know it: the one that its remote origin
// calls so, else main or master where there is one, else the only branch that there is. It is empty where dir lies in no
// repository, and where nothing tells.
func DefaultBranch(ctx context.Context, dir string) string {
	if name := ask(ctx, dir, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); name != "" {
		return strings.TrimPrefix(name, "origin/")
	}
	for _, name := range []string{"main", "master"} {
		if ask(ctx, dir, "rev-parse", "--verify", "--quiet", "refs/heads/"+name) != "" {
			return name
		}
	}
	head := ask(ctx, dir, "symbolic-ref", "--quiet", "--short", "HEAD")
	switch all := ask(ctx, dir, "for-each-ref", "--format=%(refname:short)", "refs/heads"); all {
	case "", head: // before the first commit there is none yet
		return head
	}
	return ""
}

// ask is what git answers, empty where it has no answer.
func ask(ctx context.Context, dir string, args ...string) string {
	out, err := git(ctx, dir, maxListed, args...)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
