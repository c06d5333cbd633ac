package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/repo"
)

// mostConfig is how many bytes of a config file of the head are read; one more than a config may have is enough to be told.
const mostConfig = 1<<20 + 1

// configs are the texts of the config of each runner by the path of its file, with slashes. One side may be unreadable where
// the other is not.
type configs struct {
	// name is that of the file, or of the folder that holds them.
	name             string
	heads, bases     map[string][]byte
	headErr, baseErr error
}

// configs reads the checkout, and the commit whose rules hold; where that is empty there is only the checkout.
func (a *action) configs(rules string) configs {
	c := configs{name: a.configName()}
	c.heads, c.headErr = headConfigs(c.name)
	if rules != "" {
		c.bases, c.baseErr = a.baseConfigs(c.name, rules)
	}
	return c
}

// configName is the path of the file, or of the folder that holds them, with slashes.
func (a *action) configName() string { return filepath.ToSlash(filepath.Clean(a.in.config)) }

// files are the paths of either side, sorted.
func (c configs) files() []string {
	all := map[string]bool{}
	for _, side := range []map[string][]byte{c.heads, c.bases} {
		for name := range side {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// headConfigs reads the checkout. It is of the change that is judged, so no link is followed out of it, and only files are
// read.
func headConfigs(name string) (map[string][]byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, withHint(fmt.Errorf("input config is %q", name), "it takes a path in the repository")
	}
	root, err := os.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := map[string][]byte{}
	names := []string{name}
	switch info, err := root.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return files, nil
	case err != nil:
		return nil, fmt.Errorf("read config %q: %w", name, err)
	case info.IsDir():
		folder, err := fs.Sub(root.FS(), name)
		if err == nil {
			names, err = fs.Glob(folder, "*.yaml")
		}
		if err != nil {
			return nil, fmt.Errorf("read config %q: %w", name, err)
		}
		for i, n := range names {
			names[i] = path.Join(name, n)
		}
	}
	for _, n := range names {
		if files[n], err = plainFile(root, n); err != nil {
			return nil, fmt.Errorf("read config %q: %w", n, err)
		}
	}
	return files, nil
}

func plainFile(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostConfig))
}

// baseConfigs reads those of a commit.
func (a *action) baseConfigs(name, commit string) (map[string][]byte, error) {
	data, err := repo.File(a.sh.ctx, "", commit, name)
	if err == nil {
		return map[string][]byte{name: data}, nil
	}
	entries, folderErr := repo.Files(a.sh.ctx, "", commit, name)
	switch {
	case folderErr != nil || len(entries) == 0 && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case len(entries) == 0:
		return nil, nil
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if path.Ext(e.Name) != ".yaml" || strings.Contains(e.Name, "/") {
			continue
		}
		if files[path.Join(name, e.Name)], err = e.Read(a.sh.ctx); err != nil {
			return nil, fmt.Errorf("read config %q at commit %.12q: %w", e.Path, commit, err)
		}
	}
	return files, nil
}

// gateConfigs are those of a commit that belong to the gate. A job that measures is given the file of its runner, and the one
// of the verdict their folder: both have to say the same of a change, so the file stands for all of benchgate/.
func (a *action) gateConfigs(commit string) (map[string][]byte, error) {
	name := a.configName()
	if folder := path.Dir(name); path.Base(folder) == "benchgate" && path.Ext(name) == ".yaml" {
		name = folder
	}
	return a.baseConfigs(name, commit)
}
