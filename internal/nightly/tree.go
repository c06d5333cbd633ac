package nightly

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mostRead is how many bytes of a branch are read.
const mostRead = mostBytes / 2

// tips asks the remote where branches stand; one that is not there is "".
func (g *scratch) tips(ctx context.Context, branches ...string) (map[string]string, error) {
	args := []string{"ls-remote", "--quiet", "--refs", g.url}
	for _, b := range branches {
		args = append(args, "refs/heads/"+b)
	}
	out, err := g.git(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	tips := map[string]string{}
	for line := range strings.Lines(string(out)) {
		id, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if b, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			tips[b] = id
		}
	}
	return tips, nil
}

// fetch brings the newest commit of a branch, without what came before, and returns it.
func (g *scratch) fetch(ctx context.Context, branch string) (commit string, _ error) {
	ref := "refs/heads/" + branch
	if _, err := g.git(ctx, nil, "fetch", "--quiet", "--no-tags", "--depth=1", g.url, "+"+ref+":"+ref); err != nil {
		return "", err
	}
	return g.line(ctx, nil, "rev-parse", "--verify", ref)
}

// blob is a file of a commit that was not read yet.
type blob struct {
	path, id string
	size     int
}

// list are the files of a commit below a folder, by their path from the root. What is wanted has to be a regular file.
func (g *scratch) list(ctx context.Context, commit, folder string, want func(path string) bool) ([]blob, error) {
	list, err := g.git(ctx, nil, "ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--", folder+"/")
	if err != nil {
		return nil, err
	}
	var blobs []blob
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(about) // mode, type, id, size
		if len(fields) != 4 || !want(path) {
			continue
		}
		size, err := strconv.Atoi(fields[3])
		if err != nil || !strings.HasPrefix(fields[0], "100") {
			return nil, fmt.Errorf("%q of commit %.12s is not a regular file", path, commit)
		}
		blobs = append(blobs, blob{path, fields[2], size})
	}
	return blobs, nil
}

// read reads files, by their path.
func (g *scratch) read(ctx context.Context, blobs []blob) (map[string][]byte, error) {
	var ids bytes.Buffer
	var paths []string
	total := 0
	for _, b := range blobs {
		if total += b.size; total > mostRead {
			return nil, fmt.Errorf("%q and the files beside it are larger than %d MiB", b.path, mostRead>>20)
		}
		paths = append(paths, b.path)
		ids.WriteString(b.id + "\n")
	}
	out, err := g.git(ctx, ids.Bytes(), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	return unbatch(out, paths)
}

// unbatch takes apart what git cat-file --batch prints: "id type size", the content, a line feed, for each path.
func unbatch(out []byte, paths []string) (map[string][]byte, error) {
	files := map[string][]byte{}
	r := bytes.NewBuffer(out)
	for _, path := range paths {
		head, err := r.ReadString('\n')
		fields := strings.Fields(head)
		if err != nil || len(fields) != 3 {
			return nil, fmt.Errorf("git cat-file says %q of %q", strings.TrimSpace(head), path)
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size < 0 || size >= r.Len() {
			return nil, fmt.Errorf("git cat-file says %q of %q: %w", strings.TrimSpace(head), path, io.ErrUnexpectedEOF)
		}
		files[path] = bytes.Clone(r.Next(size))
		r.Next(1)
	}
	return files, nil
}

// commit writes a commit that changes files of its parent and leaves the others; without a parent it is the first of a
// branch. The same input gives the same commit.
func (g *scratch) commit(ctx context.Context, parent string, changed map[string][]byte, at time.Time, message string) (string, error) {
	tree := "--empty"
	if parent != "" {
		tree = parent
	}
	if _, err := g.git(ctx, nil, "read-tree", tree); err != nil {
		return "", err
	}
	var index bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(changed)) {
		id, err := g.line(ctx, changed[path], "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&index, "100644 %s\t%s\x00", id, path)
	}
	if _, err := g.git(ctx, index.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	written, err := g.line(ctx, nil, "write-tree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", written}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	out, err := g.gitAt(ctx, at, []byte(message), args...)
	return strings.TrimSpace(string(out)), err
}

// errRace says that a branch moved while we worked on what it held.
var errRace = errors.New("the branch moved meanwhile")

// push moves a branch from where it was ("" is nowhere) to a commit, and nothing that came in between is lost. The error
// is errRace where it is no longer where it was.
func (g *scratch) push(ctx context.Context, branch, was, commit string) error {
	ref := "refs/heads/" + branch
	_, err := g.git(ctx, nil, "push", "--quiet", "--force-with-lease="+ref+":"+was, g.url, commit+":"+ref)
	if err == nil {
		return nil
	}
	if now, asked := g.tips(ctx, branch); asked == nil && now[branch] != was {
		return errRace
	}
	return fmt.Errorf("push to branch %q: %w", branch, err)
}
