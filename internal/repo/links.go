package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// maxTree is how many bytes a listing of a whole commit may have.
const maxTree = 256 << 20

// LinksInto are the links of a commit that lead into a folder, and those that lie on the way to it, by their paths from the
// repository's root: what each of them says. The folder's path starts at dir; links that lie in it do not count. Links are followed
// within the commit, one after another: what an absolute one leads to, or one that leaves the repository, is not known. Case makes no
// difference, as on some machines.
func LinksInto(ctx context.Context, dir, rev, folder string) (map[string]string, error) {
	full, links, err := linksBefore(ctx, dir, rev, folder)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for name, says := range links {
		to, ok := follow(links, name)
		if below(name, full) && !strings.EqualFold(name, full) {
			continue
		}
		if below(full, name) || ok && below(to, full) {
			found[name] = says
		}
	}
	return found, nil
}

// LedInto are those of some paths that the links of a commit lead into a folder, as LinksInto follows them. All paths start at dir.
func LedInto(ctx context.Context, dir, rev, folder string, names []string) ([]string, error) {
	full, links, err := linksBefore(ctx, dir, rev, folder)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	here, err := fromRoot(ctx, dir, ".")
	if err != nil {
		return nil, err
	}
	var led []string
	for _, name := range names {
		if to, ok := follow(links, path.Join(here, filepath.ToSlash(name))); ok && !filepath.IsAbs(name) && below(to, full) {
			led = append(led, name)
		}
	}
	return led, nil
}

// linksBefore are a folder's path from the root, and the links of a commit; there are none where the folder lies outside.
func linksBefore(ctx context.Context, dir, rev, folder string) (full string, links map[string]string, err error) {
	id, err := Resolve(ctx, dir, rev)
	if err != nil {
		return "", nil, err
	}
	full, err = fromRoot(ctx, dir, folder)
	if errors.Is(err, errOutside) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	links, err = linksOf(ctx, dir, id)
	return full, links, err
}

// below reports whether a path is a folder or lies in it; all do in the root.
func below(name, folder string) bool {
	name, folder = strings.ToLower(name), strings.ToLower(folder)
	return folder == "." || name == folder || strings.HasPrefix(name, folder+"/")
}

// follow is where a path leads by way of the links, from the root; false where that leaves it, or never ends.
func follow(links map[string]string, name string) (string, bool) {
	const most = 40 // links on one way, as the system allows
	var at []string
	todo := strings.Split(name, "/")
	for met := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && len(at) == 0:
			return "", false
		case part == "..":
			at = at[:len(at)-1]
			continue
		}
		at = append(at, part)
		to, ok := links[strings.Join(at, "/")]
		if !ok {
			continue
		}
		if met++; met > most || path.IsAbs(to) {
			return "", false
		}
		at = at[:len(at)-1]
		todo = append(strings.Split(to, "/"), todo...)
	}
	return strings.Join(at, "/"), true
}

// linksOf are the links of a commit and what each of them says, by path.
func linksOf(ctx context.Context, dir, commit string) (map[string]string, error) {
	listing, err := git(ctx, dir, maxTree, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var paths, ids []string
	for line := range strings.SplitSeq(string(listing), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(about); len(fields) == 3 && fields[0] == "120000" {
			paths, ids = append(paths, name), append(ids, fields[2])
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := gitOn(ctx, dir, strings.Join(ids, "\n")+"\n", maxBlob, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	links := map[string]string{}
	for _, name := range paths {
		var text []byte
		if text, out, err = blob(out); err != nil {
			return nil, fmt.Errorf("read link %q: %w", name, err)
		}
		links[name] = string(text)
	}
	return links, nil
}

// blob takes the first object (id, kind, size, newline, text, newline) off what git printed.
func blob(out []byte) (text, rest []byte, err error) {
	line, rest, _ := bytes.Cut(out, []byte("\n"))
	fields := strings.Fields(string(line))
	if len(fields) != 3 || fields[1] != "blob" {
		return nil, nil, fmt.Errorf("git cat-file says %.100q", line)
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size < 0 || size >= len(rest) {
		return nil, nil, fmt.Errorf("git cat-file says %.100q", line)
	}
	return rest[:size], rest[size+1:], nil
}
