package repo_test

import (
	"testing"

	"github.com/benchgate/benchgate/internal/repo"
	"github.com/benchgate/benchgate/internal/repo/repotest"
)

func TestDefaultBranchIsTheRemotesElseAUsualNameElseTheOneAtHand(t *testing.T) {
	for name, c := range map[string]struct {
		git  [][]string
		want string
	}{
		"main, while another is at hand":   {[][]string{{"checkout", "-q", "-b", "topic"}}, "main"},
		"master, while another is at hand": {[][]string{{"branch", "-m", "master"}, {"checkout", "-q", "-b", "topic"}}, "master"},
		"neither":                          {[][]string{{"branch", "-m", "trunk"}}, "trunk"},
		"neither, and another at hand":     {[][]string{{"branch", "-m", "trunk"}, {"checkout", "-q", "-b", "topic"}}, ""},
		"the remote's, though main exists": {[][]string{{"symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/release/2"}}, "release/2"},
		"no branch":                        {[][]string{{"checkout", "-q", "--detach"}, {"branch", "-D", "main"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder, _ := repotest.New(t, map[string]string{"file": "text"})
			for _, args := range c.git {
				repotest.Git(t, folder, args...)
			}
			if got := repo.DefaultBranch(t.Context(), folder); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	t.Run("before the first commit", func(t *testing.T) {
		folder := t.TempDir()
		repotest.Git(t, folder, "init", "-q", "-b", "trunk")
		if got := repo.DefaultBranch(t.Context(), folder); got != "trunk" {
			t.Errorf("got %q, want trunk", got)
		}
	})
	t.Run("no repository", func(t *testing.T) {
		if got := repo.DefaultBranch(t.Context(), t.TempDir()); got != "" {
			t.Errorf("got %q", got)
		}
	})
}
