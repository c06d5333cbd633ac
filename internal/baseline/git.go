package baseline

import (
	"bytes"
	"context"
	"io"
	"path"
	"strings"

	"github.com/benchgate/benchgate/internal/repo"
)

// atCommit lists the baselines at a commit of the repository around the working folder. A working folder below the
// repository's root has its own baselines. Nothing of the working tree is looked at.
func atCommit(rev string) (_ []file, commit string, _ error) {
	ctx := context.Background()
	commit, err := repo.Resolve(ctx, "", rev)
	if err != nil {
		return nil, "", err
	}
	entries, err := repo.Files(ctx, "", commit, Folder)
	return filesOf(entries), commit, err
}

// filesOf takes the entries that may be digests.
func filesOf(entries []repo.Entry) []file {
	var files []file
	for _, e := range entries {
		if !isDigest(path.Base(e.Path)) || strings.Count(e.Name, "/") > 1 {
			continue
		}
		files = append(files, file{e.Path, e.Name, func() (io.ReadCloser, error) {
			data, err := e.Read(context.Background())
			return io.NopCloser(bytes.NewReader(data)), err
		}})
	}
	return files
}
