// Package artifact opens results that come from another job.
//
// Whoever ran that job may have put anything there: every entry is checked before it is used, and one that breaks a rule
// spoils the whole. The rules: regular files and folders alone, names of a plain alphabet, no name twice in whatever case,
// and limits on their number, depth and size.
package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// Limits of what results may be. A campaign of fifty scenarios, measured in turns, has about 1,500 files and 200 MiB.
const (
	maxFiles = 5000      // folders among them
	maxDepth = 6         // parts of a name
	maxFile  = 256 << 20 // bytes of one file
	maxTotal = 512 << 20 // bytes of all files
	maxName  = 100       // bytes of one part of a name
	ratio    = 250       // bytes unpacked from one byte, of a file of more than a MiB
	maxIndex = 4 << 20   // bytes of a zip's list of entries
	mostTold = 120       // characters of a name that an error shows
)

// Open is the folder that holds the results at a path. A folder is checked where it is. A zip is unpacked into a new
// folder under into, which nothing is written outside of; what was unpacked is gone again where a rule is broken. An error
// names the entry and the rule.
func Open(path, into string) (folder string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("open results: %w", err)
	}
	switch {
	case info.IsDir():
		folder, err = path, inspect(path)
	case info.Mode().IsRegular():
		folder, err = unpack(path, info.Size(), into)
	default:
		err = errors.New("it is neither a folder nor a zip")
	}
	if err != nil {
		return "", fmt.Errorf("open results %q: %w", path, err)
	}
	return folder, nil
}

// rules checks entries one after the other, and remembers what it has seen.
type rules struct {
	seen  map[string]kind // by the name in lower case
	total int64
}

type kind struct {
	name   string
	folder bool
}

func newRules() *rules { return &rules{seen: map[string]kind{}} }

// refused is an entry with the rule that it breaks.
func refused(name, format string, args ...any) error {
	return fmt.Errorf("entry %s: %s", shown(name), fmt.Sprintf(format, args...))
}

// shown is a name for an error: quoted, and cut where it is long.
func shown(name string) string {
	if r := []rune(name); len(r) > mostTold {
		name = string(r[:mostTold]) + "…"
	}
	return fmt.Sprintf("%q", name)
}

// part is one part of a name. It begins with a letter or a digit, so that none is hidden, a flag, or leads upwards.
var part = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._+-]*[A-Za-z0-9_+-])?$`)

// admit takes an entry, a slash-separated path from the top, or says which rule it breaks.
func (r *rules) admit(name string, mode fs.FileMode, size int64) error {
	if t := mode.Type(); t != 0 && t != fs.ModeDir {
		return refused(name, "%s; results are files and folders", what(t))
	}
	parts := strings.Split(name, "/")
	for _, p := range parts {
		if len(p) > maxName || !part.MatchString(p) {
			return refused(name, "%s is no name that results have: letters, digits and . _ + - are, and a letter or a digit first", shown(p))
		}
	}
	if len(parts) > maxDepth {
		return refused(name, "more than %d folders deep", maxDepth-1)
	}
	for i := 1; i < len(parts); i++ {
		if err := r.note(strings.Join(parts[:i], "/"), true); err != nil {
			return err
		}
	}
	if err := r.note(name, mode.IsDir()); err != nil {
		return err
	}
	return r.weigh(name, size)
}

// note remembers a name. A folder may be met again, as the parent of an entry or as one itself.
func (r *rules) note(name string, folder bool) error {
	low := strings.ToLower(name)
	switch k, met := r.seen[low]; {
	case met && k.name == name && k.folder && folder:
		return nil
	case met:
		return refused(name, "it has the same name as %s", shown(k.name))
	case len(r.seen) >= maxFiles:
		return refused(name, "more than %d files and folders", maxFiles)
	}
	r.seen[low] = kind{name, folder}
	return nil
}

func (r *rules) weigh(name string, size int64) error {
	if size < 0 || size > maxFile {
		return refused(name, "more than %d MiB", maxFile>>20)
	}
	if r.total += size; r.total > maxTotal {
		return refused(name, "all files together have more than %d MiB", maxTotal>>20)
	}
	return nil
}

func what(t fs.FileMode) string {
	switch {
	case t&fs.ModeSymlink != 0:
		return "it is a symbolic link"
	case t&fs.ModeDevice != 0:
		return "it is a device"
	case t&fs.ModeNamedPipe != 0:
		return "it is a pipe"
	case t&fs.ModeSocket != 0:
		return "it is a socket"
	}
	return "it is no regular file"
}
