// Package repo says what the commits of a repository hold.
//
// Everything but [Tree] and [Edited] is read from git objects: nothing of the working tree is looked at. Names of commits and paths may be
// hostile; none of them is taken for a flag or a pattern. A dir is any folder of the repository; empty is the working
// folder.
package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// Resolve is the whole id of the commit that rev names: a hash or its beginning, a branch, a tag, HEAD~1.
func Resolve(ctx context.Context, dir, rev string) (string, error) {
	if err := checkRev(rev); err != nil {
		return "", err
	}
	out, err := git(ctx, dir, maxListed, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if id := strings.TrimSpace(string(out)); err == nil && id != "" {
		return id, nil
	}
	// Quiet says nothing of a folder that is no repository, or that git does not trust.
	if _, err := git(ctx, dir, maxListed, "rev-parse", "--git-dir"); err != nil {
		return "", err
	}
	if plain(rev) {
		return "", fmt.Errorf("commit %q is not in this repository; fetch it first: git fetch --depth=1 origin %s", rev, rev)
	}
	return "", fmt.Errorf("commit %q is not in this repository; fetch it first, with git fetch", rev)
}

// checkRev refuses what git could take for a flag, or what cannot be a name.
func checkRev(rev string) error {
	switch {
	case rev == "":
		return errors.New("a commit is not named: say which, as in HEAD~1")
	case strings.HasPrefix(rev, "-"):
		return fmt.Errorf("%.60q is not a commit: it begins with -", rev)
	case len(rev) > 400 || strings.ContainsFunc(rev, unicode.IsControl):
		return errors.New("the name of the commit is too long or holds control characters")
	}
	return nil
}

// Parents are the ids of a commit's parents, the first of them first; a merge has several. They are those that the commit
// names, whether or not a shallow clone holds them.
func Parents(ctx context.Context, dir, rev string) ([]string, error) {
	id, err := Resolve(ctx, dir, rev)
	if err != nil {
		return nil, err
	}
	text, err := git(ctx, dir, maxListed, "cat-file", "commit", id)
	if err != nil {
		return nil, err
	}
	header, _, _ := strings.Cut(string(text), "\n\n")
	var all []string
	for line := range strings.Lines(header) {
		if parent, ok := strings.CutPrefix(strings.TrimSpace(line), "parent "); ok {
			all = append(all, parent)
		}
	}
	return all, nil
}

// File is what a file held at a commit. Its path starts at dir, with slashes. The error is [fs.ErrNotExist] where the
// commit was read well and has nothing of that name; a link is refused, and so is a path that leads through one.
func File(ctx context.Context, dir, rev, name string) ([]byte, error) {
	data, err := file(ctx, dir, rev, name)
	if err != nil {
		return nil, fmt.Errorf("read %q at commit %.60q: %w", name, rev, err)
	}
	return data, nil
}

func file(ctx context.Context, dir, rev, name string) ([]byte, error) {
	id, err := Resolve(ctx, dir, rev)
	if err != nil {
		return nil, err
	}
	full, err := fromRoot(ctx, dir, name)
	if err != nil {
		return nil, err
	}
	e, err := find(ctx, dir, id, full)
	if err != nil {
		return nil, err
	}
	return e.Read(ctx)
}

var errOutside = errors.New("the path does not lead into the repository; write it from the folder, such as ci/benchgate.yaml")

// fromRoot is a path as the repository's root sees it.
func fromRoot(ctx context.Context, dir, name string) (string, error) {
	if name == "" || strings.HasPrefix(name, "/") || strings.ContainsRune(name, 0) {
		return "", errOutside
	}
	prefix, err := git(ctx, dir, maxListed, "rev-parse", "--show-prefix")
	if err != nil {
		return "", err
	}
	full := path.Join(strings.TrimSuffix(string(prefix), "\n"), filepath.ToSlash(name))
	if !filepath.IsLocal(full) {
		return "", errOutside
	}
	return full, nil
}

// find is the entry at a path. What is not there is looked for along the path, since a link on the way means that git's
// answer is not that of the working tree.
func find(ctx context.Context, dir, commit, full string) (Entry, error) {
	all, err := list(ctx, dir, commit, full, false)
	if err != nil || len(all) > 0 {
		return first(all), err
	}
	for i, r := range full {
		if r != '/' {
			continue
		}
		on, err := list(ctx, dir, commit, full[:i], false)
		if err != nil {
			return Entry{}, err
		}
		switch e := first(on); {
		case len(on) == 0:
			return Entry{}, fs.ErrNotExist
		case e.kind != "tree":
			return Entry{}, blocked{e}
		}
	}
	return Entry{}, fs.ErrNotExist
}

// blocked is a path that leads through something that is no folder.
type blocked struct{ by Entry }

func (b blocked) Error() string {
	return fmt.Sprintf("%q is no folder in that commit, but %s", b.by.Path, b.by.what())
}

func first(all []Entry) Entry {
	if len(all) == 0 {
		return Entry{}
	}
	return all[0]
}

// Entry is a file of a commit.
type Entry struct {
	Path string // from the repository's root
	Name string // from the folder that was listed
	Size int64  // in bytes; 0 of what is no file
	dir  string
	mode string
	kind string // blob, tree or commit
	id   string
}

// Files lists the files under a folder of a commit, however deep; none where the folder is not there. The folder's path
// starts at dir; "." is dir itself.
func Files(ctx context.Context, dir, rev, folder string) ([]Entry, error) {
	id, err := Resolve(ctx, dir, rev)
	if err != nil {
		return nil, err
	}
	full, err := fromRoot(ctx, dir, folder)
	if err != nil {
		return nil, err
	}
	if full == "." {
		return list(ctx, dir, id, "", true)
	}
	e, err := find(ctx, dir, id, full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case e.kind != "tree":
		return nil, blocked{e}
	}
	return list(ctx, dir, id, full, true)
}

// list asks git for the entry at a path, or deep for all files under it; an empty path is the root.
func list(ctx context.Context, dir, commit, at string, deep bool) ([]Entry, error) {
	args := []string{"ls-tree", "-z", "-l", "--full-tree", commit, "--", at}
	switch {
	case deep && at == "":
		args = []string{"ls-tree", "-r", "-z", "-l", "--full-tree", commit}
	case deep:
		args = []string{"ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--", at + "/"}
	}
	out, err := git(ctx, dir, maxListed, args...)
	if err != nil {
		return nil, err
	}
	return entries(out, dir, at)
}

// entries turns a listing (mode, type, id, size, tab, path) into entries, named from the folder under.
func entries(listing []byte, dir, under string) ([]Entry, error) {
	var all []Entry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(listing), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		about, name, ok := strings.Cut(line, "\t")
		fields := strings.Fields(about)
		if !ok || len(fields) != 4 || name == "" || strings.HasSuffix(name, "/") {
			return nil, fmt.Errorf("git ls-tree says %.100q", line)
		}
		size, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil && fields[3] != "-" || size < 0 {
			return nil, fmt.Errorf("git ls-tree says %.100q", line)
		}
		short := name
		if under != "" && name != under {
			short = strings.TrimPrefix(name, under+"/")
		}
		all = append(all, Entry{Path: name, Name: short, Size: size, dir: dir, mode: fields[0], kind: fields[1], id: fields[2]})
	}
	return all, nil
}

// what says what an entry is, for errors.
func (e Entry) what() string {
	switch {
	case e.kind == "tree":
		return "a folder"
	case e.kind == "commit":
		return "a submodule"
	case e.mode == "120000":
		return "a symbolic link"
	}
	return "a file"
}

// Read is what the file holds: at most 64 MiB, and of a regular file alone.
func (e Entry) Read(ctx context.Context) ([]byte, error) {
	if !strings.HasPrefix(e.mode, "100") {
		return nil, fmt.Errorf("not a regular file in that commit, but %s", e.what())
	}
	if e.Size > maxBlob {
		return nil, fmt.Errorf("%d bytes: larger than %d MiB", e.Size, maxBlob>>20)
	}
	return git(ctx, e.dir, maxBlob, "cat-file", "blob", e.id)
}
