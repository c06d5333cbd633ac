package repo

import (
	"testing"

	"github.com/benchgate/benchgate/internal/repo/repotest"
)

// repository is a git repository with one commit.
func repository(t *testing.T) (folder, commit string) {
	t.Helper()
	return repotest.New(t, map[string]string{"benchgate.yaml": "version: 1\n", "ci/benchgate.yaml": "version: 1 # of ci\n"})
}
