package github_test

import (
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/github"
)

func TestAStatusNamesTheBranch(t *testing.T) {
	long := strings.Repeat("é/", 100)
	for _, c := range []struct{ runner, branch, want string }{
		{"h100-1x", "main", "benchgate/h100-1x/main"},
		{"h100-1x", "release/1.0", "benchgate/h100-1x/release/1.0"},
		{"h100-1x", "", "benchgate/h100-1x"},
		{"h100-1x", "a\nb\x1b", "benchgate/h100-1x/ab"},
	} {
		if got := github.StatusContext(c.runner, c.branch); got != c.want {
			t.Errorf("%s into %q: %s, want %s", c.runner, c.branch, got, c.want)
		}
	}
	one, another := github.StatusContext("h100-1x", long+"1"), github.StatusContext("h100-1x", long+"2")
	if one == another || len([]rune(one)) != 100 || !strings.HasPrefix(one, "benchgate/h100-1x/é/é/") {
		t.Errorf("two long names are %q and %q", one, another)
	}
}
