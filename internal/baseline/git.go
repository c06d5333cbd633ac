package baseline

import (
	"bytes"
	"context"
	"fmt"
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

// Placed is a file of a commit that stands where a baseline does: what is there has to be one.
type Placed struct {
	Path string // from the repository's root
	// Runner and Scenario are what its place says; Runner is empty of a file that stands in no runner's folder.
	Runner, Scenario string
	file             file
}

// PlacedAt lists those of a commit.
func PlacedAt(rev string) ([]Placed, error) {
	files, _, err := atCommit(rev)
	if err != nil {
		return nil, fmt.Errorf("list baselines at commit %.60q: %w", rev, err)
	}
	var all []Placed
	for _, f := range files {
		runner, name := path.Split(f.place)
		all = append(all, Placed{f.name, strings.TrimSuffix(runner, "/"), strings.TrimSuffix(name, ".json"), f})
	}
	return all, nil
}

// Check reads the file, and says why it cannot be the baseline of its place.
func (p Placed) Check() error {
	d, err := p.file.read()
	if err != nil {
		return err
	}
	if p.Runner != "" && (d.Runner != p.Runner || d.Scenario != p.Scenario) {
		return fmt.Errorf("read baseline %q: it is of runner %q, scenario %q", p.Path, d.Runner, d.Scenario)
	}
	return nil
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
