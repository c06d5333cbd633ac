package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/repo"
	"github.com/benchgate/benchgate/internal/server"
)

// usedPath is a file or folder that a target uses, and the key that names it.
type usedPath struct{ key, path string }

// placesOf are what a target may name from the folder of its config: where it runs, and whatever its command and its env hold that can
// be read as a path.
func placesOf(t config.Target, folder string) []usedPath {
	dir := under(folder, t.Dir)
	all := []usedPath{{"target.dir", dir}}
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		for _, part := range namesIn(t.Env[name]) {
			all = append(all, usedPath{"target.env." + name, under(dir, part)})
		}
	}
	for i, arg := range t.Command {
		for _, part := range namesIn(arg) {
			all = append(all, usedPath{fmt.Sprintf("target.command[%d]", i), under(dir, part)})
		}
	}
	return all
}

// namesIn are the texts in a text that can be names of files: all of it, the words of a shell line, the parts of a list, what an
// option is set to, and what follows the letter of one, as in -Cbase. It takes too many rather than too few.
func namesIn(text string) []string {
	var all []string
	for _, word := range append([]string{text}, strings.FieldsFunc(text, endsWord)...) {
		all = append(all, word)
		if _, value, set := strings.Cut(word, "="); set {
			all = append(all, value)
		}
		all = append(all, strings.FieldsFunc(word, endsPart)...)
	}
	for _, word := range all {
		if len(word) > 2 && word[0] == '-' && word[1] != '-' {
			all = append(all, word[2:])
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return name == "" })
}

// endsWord reports whether a rune stands between two words of a shell line.
func endsWord(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`;&|()<>", r) }

// endsPart reports whether a rune stands between two parts of a word.
func endsPart(r rune) bool { return r == os.PathListSeparator || r == '=' || r == ',' }

// under is a path, from a folder unless it is absolute.
func under(folder, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(folder, name)
}

// lies reports whether a path, as it is written, is a folder or lies in it. Of an absolute and a relative path the latter starts at
// the working folder.
func lies(name, folder string) bool {
	var err error
	if filepath.IsAbs(name) != filepath.IsAbs(folder) {
		if name, err = filepath.Abs(name); err != nil {
			return false
		}
		if folder, err = filepath.Abs(folder); err != nil {
			return false
		}
	}
	inside, err := filepath.Rel(folder, name)
	return err == nil && filepath.IsLocal(inside)
}

// turned reports whether a config compares its target with a reference.
func turned(conf config.Config) bool {
	return conf.Reference != nil && conf.Campaign.Design != "committed"
}

// apartAsWritten refuses a target that names what lies in the folder of its reference: both builds would be one. What was so in the
// target before the change is meant, and where the reference is all around the config nothing can be told.
func apartAsWritten(conf config.Config, was config.Target) error {
	folder := filepath.Dir(conf.File)
	base := under(folder, conf.Reference.Dir)
	if lies(folder, base) {
		return nil
	}
	for _, p := range newPlaces(conf, was) {
		if lies(p.path, base) {
			return oneBuild(conf, p.key, p.path)
		}
	}
	return nil
}

// newPlaces are what a target names that it did not name before.
func newPlaces(conf config.Config, was config.Target) []usedPath {
	folder := filepath.Dir(conf.File)
	meant := map[string]bool{}
	for _, p := range placesOf(was, folder) {
		meant[p.path] = true
	}
	return slices.DeleteFunc(placesOf(conf.Target, folder), func(p usedPath) bool { return meant[p.path] })
}

// oneBuild is the error of a target that leads into the folder of its reference.
func oneBuild(conf config.Config, key, leads string) error {
	return withHint(fmt.Errorf("%s: %s leads to %q, which lies in the folder of the reference (reference.dir %q): both builds would be one", conf.File, key, leads, conf.Reference.Dir),
		"let the target run what the change holds: a folder and a program outside of reference.dir, and no link into it")
}

// apartOnDisk refuses a target whose folder or program a link on this machine leads into the folder of its reference.
func apartOnDisk(conf config.Config) error {
	if !turned(conf) {
		return nil
	}
	folder := filepath.Dir(conf.File)
	base := under(folder, conf.Reference.Dir)
	at, err := os.Stat(base)
	if err != nil || lies(folder, base) {
		return nil // what is not there is told when it is started
	}
	for _, p := range []usedPath{{"target.dir", under(folder, conf.Target.Dir)}, {"target.command", server.Program(conf.Target, folder)}} {
		real, err := filepath.EvalSymlinks(p.path)
		if err == nil && !lies(p.path, base) && isIn(real, at) {
			return oneBuild(conf, p.key, p.path)
		}
	}
	return nil
}

// isIn reports whether a file is a folder or lies in it, under whatever name.
func isIn(file string, folder os.FileInfo) bool {
	full, err := filepath.Abs(file)
	if err != nil {
		return false
	}
	for ; ; full = filepath.Dir(full) {
		if info, err := os.Stat(full); err == nil && os.SameFile(info, folder) {
			return true
		}
		if full == filepath.Dir(full) {
			return false
		}
	}
}

// twoBuilds refuses a change that makes both builds one, by what its config says and by the links that it tracks.
func (a *action) twoBuilds(q asked) error {
	if !turned(q.Config) || a.refs.rules == "" {
		return nil
	}
	was := q.Target
	if q.again != nil {
		was = q.edits.Was
	}
	if err := apartAsWritten(q.Config, was); err != nil {
		return err
	}
	folder := path.Dir(q.name)
	base := filepath.ToSlash(under(folder, q.Reference.Dir))
	if filepath.IsAbs(base) || lies(folder, base) || lies(filepath.Join(folder, was.Dir), base) {
		return nil
	}
	return a.apartByLinks(q, was, base)
}

// apartByLinks refuses a link that the change adds, or leads elsewhere, into the folder of its reference, and a target that newly
// goes by one that base has as well.
func (a *action) apartByLinks(q asked, was config.Target, base string) error {
	links, err := repo.LinksInto(a.sh.ctx, "", "HEAD", base)
	if err != nil {
		return fmt.Errorf("whether the change tracks a link to its reference cannot be told: %w", err)
	}
	if len(links) == 0 {
		return nil
	}
	before, err := repo.LinksInto(a.sh.ctx, "", a.refs.rules, base)
	if err != nil {
		return fmt.Errorf("whether base tracks a link to its reference cannot be told: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		if says, had := before[name]; had && says == links[name] {
			continue
		}
		return withHint(fmt.Errorf("%s: the change tracks the link %q, which leads to the folder of the reference (reference.dir %q): both builds may be one", q.name, name, q.Reference.Dir),
			"take the link out: the base commit is checked out into a folder that the change does not hold and does not lead to")
	}
	places := newPlaces(q.Config, was)
	var names []string
	for _, p := range places {
		names = append(names, p.path)
	}
	led, err := repo.LedInto(a.sh.ctx, "", "HEAD", base, names)
	if err != nil {
		return fmt.Errorf("whether target leads to the reference cannot be told: %w", err)
	}
	for _, p := range places {
		if slices.Contains(led, p.path) {
			return oneBuild(q.Config, p.key, p.path)
		}
	}
	return nil
}
