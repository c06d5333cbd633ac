package config

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// always are the files that a change of is measured whatever gate.paths says: else a change could loosen the rules, or
// replace what it is held against, without a look at it.
var always = []string{"**/benchgate.yaml", "**/benchgate/*.yaml", "**/baselines/**"}

// Needed reports whether a change has to be measured, and why or why not, as half a sentence. Paths are gate.paths; changed
// are the files that differ, from the root of the repository with slashes; inputs are more files that count whatever the
// paths say, such as those of [Config.Inputs]. Without paths every change is measured.
func Needed(paths, changed []string, inputs ...string) (needed bool, why string) {
	if len(paths) == 0 {
		return true, "gate.paths is not set, so every change is measured"
	}
	for _, name := range changed {
		for _, p := range slices.Concat(always, paths) {
			if touches(p, name) {
				return true, fmt.Sprintf("it touches %s, which counts by %s", quote(name), quote(p))
			}
		}
		if slices.ContainsFunc(inputs, func(i string) bool { return strings.EqualFold(i, name) }) {
			return true, fmt.Sprintf("it touches %s, which the config reads", quote(name))
		}
	}
	switch len(changed) {
	case 0:
		return false, "it touches no file"
	case 1:
		return false, fmt.Sprintf("the one file it touches, %s, does not count by gate.paths: %s", quote(changed[0]), few(paths))
	}
	return false, fmt.Sprintf("none of the %d files it touches (%s) counts by gate.paths: %s", len(changed), first(changed), few(paths))
}

// mostNamed is how many of the files that do not count are named.
const mostNamed = 3

func first(files []string) string {
	var all []string
	for _, f := range files[:min(len(files), mostNamed)] {
		all = append(all, quote(f))
	}
	if len(files) > mostNamed {
		all = append(all, "…")
	}
	return strings.Join(all, ", ")
}

// few quotes the first globs.
func few(globs []string) string {
	var all []string
	for i, g := range globs {
		if i == 4 && len(globs) > 5 {
			all = append(all, fmt.Sprintf("and %d more", len(globs)-i))
			break
		}
		all = append(all, quote(g))
	}
	return strings.Join(all, ", ")
}

// touches reports whether a glob is about a file. What names a folder is about all that lies in it. Names that differ only in
// case are the same file on some machines, so they count.
func touches(glob, name string) bool {
	glob = strings.TrimRight(glob, "/")
	for _, g := range []string{glob, glob + "/**"} {
		for _, fold := range []func(string) string{strings.Clone, strings.ToLower} {
			if ok, err := doublestar.Match(fold(g), fold(name)); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// Inputs are the files that a campaign of this config reads: the config itself and its datasets, from the root of the
// repository. Folder is where the config lies, from there; what lies outside the repository is left out.
func (c Config) Inputs(folder string) []string {
	names := []string{filepath.Base(c.File)}
	for _, s := range c.Scenarios {
		if s.Dataset.Path != "" {
			names = append(names, s.Dataset.Path)
		}
	}
	var inputs []string
	for _, n := range names {
		full := path.Join(filepath.ToSlash(folder), filepath.ToSlash(n))
		if filepath.IsLocal(full) && !filepath.IsAbs(n) {
			inputs = append(inputs, full)
		}
	}
	slices.Sort(inputs)
	return slices.Compact(inputs)
}

// mostBraces bounds the alternatives in a glob: each doubles what has to be tried.
const mostBraces = 4

// paths reads globs, from the root of the repository.
func (r *reader) paths(list []text) []string {
	for _, t := range list {
		s := t.written()
		switch {
		case strings.HasPrefix(s, "!"):
			r.fail(t.node, quote(s)+" takes files out, and paths only add", "list the files that count")
		case strings.Count(s, "{") > mostBraces:
			r.fail(t.node, fmt.Sprintf("%s has more than %d braces", quote(s), mostBraces), "make it several globs")
		case !doublestar.ValidatePattern(s) || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || slices.Contains(strings.Split(s, "/"), ".."):
			r.fail(t.node, quote(s)+" is no glob of files in the repository", "write it from the root of the repository, such as engine/** or go.mod")
		case anyDepth(s) != s:
			r.fail(t.node, quote(s)+" looks into no folder: ** means folders of any depth only between slashes", "write "+anyDepth(s))
		}
	}
	return r.texts(list)
}

// anyDepth is a glob with every ** between slashes. In the paths of a GitHub workflow **.go is any Go file; a glob takes it for
// *.go, and a change of nearly every file would not count.
func anyDepth(glob string) string {
	parts := strings.Split(glob, "/")
	for i, part := range parts {
		head, tail, found := strings.Cut(part, "**")
		switch tail = strings.TrimLeft(tail, "*"); {
		case !found || head == "" && tail == "":
		case head == "":
			parts[i] = "**/*" + tail
		case tail == "":
			parts[i] = head + "*/**"
		default:
			parts[i] = head + "*/**/*" + tail
		}
	}
	return strings.Join(parts, "/")
}
