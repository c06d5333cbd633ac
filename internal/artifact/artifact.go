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

// Limits of what results may be. Of fifty scenarios, measured in turns, about 300 files and 50 MiB are read whole. A campaign has
// some 27 bytes a token: an hour at 25,000 tokens/s is 2.3 GiB.
const (
	maxFiles   = 5000      // that are read, folders among them
	maxEntries = 50_000    // those that nobody reads among them
	maxDepth   = 6         // parts of a name
	maxFile    = 256 << 20 // bytes of one file that is read whole
	maxTotal   = 512 << 20 // bytes of all of them
	maxStream  = 4 << 30   // bytes of one campaign, which is read a line at a time
	maxStreams = 16 << 30  // bytes of all of them, and of a zip
	maxName    = 100       // bytes of one part of a name
	ratio      = 250       // bytes unpacked from one byte, of a file of more than a MiB
	lowRatio   = 50        // the same, of a file that is too large to be read whole
	maxIndex   = 4 << 20   // bytes of a zip's list of entries
	mostTold   = 120       // characters of a name that an error shows
)

// ErrTooMuch is what an error is where results have more, or larger, files than are read.
var ErrTooMuch = errors.New("more than is read")

// tooMuch is ErrTooMuch in words of its own.
type tooMuch struct{ error }

func (tooMuch) Is(target error) bool { return target == ErrTooMuch }

var (
	// unread are files that nobody reads who judges: copies of runs in another tool's shape, rows, logs of servers. They are
	// held to the rules of names and kinds, are not unpacked, and have no size.
	unread = regexp.MustCompile(`(^|/)vllm/[^/]+-run[0-9]+\.json$|\.log(\.old-[0-9]+)?$|\.rows\.jsonl$`)
	// streamed are campaigns.
	streamed = regexp.MustCompile(`(^|/)campaign\.jsonl(\.old-[0-9]+)?$`)
)

// Open is the folder that holds the results at a path. A folder is checked where it is. A zip is unpacked into a new
// folder under into, which nothing is written outside of, but for the files that nobody reads; what was unpacked is gone again
// where a rule is broken. An error names the entry and the rule, and is ErrTooMuch where that is a limit.
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
	seen         map[string]kind // by the name in lower case
	files        int             // that are read, folders among them
	whole, lines int64           // bytes of the files that are read whole, and of those that are read line by line
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

// beyond is an entry with the limit that it is beyond.
func beyond(name, format string, args ...any) error {
	return tooMuch{refused(name, format, args...)}
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
	if err := r.note(name, mode.IsDir()); err != nil || unread.MatchString(name) && !mode.IsDir() {
		return err
	}
	if r.files++; r.files > maxFiles {
		return beyond(name, "more than %d files and folders that are read", maxFiles)
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
	case len(r.seen) >= maxEntries:
		return beyond(name, "more than %d files and folders", maxEntries)
	}
	r.seen[low] = kind{name, folder}
	return nil
}

func (r *rules) weigh(name string, size int64) error {
	sum, most, which := &r.whole, int64(maxTotal), "files"
	if streamed.MatchString(name) {
		sum, most, which = &r.lines, maxStreams, "campaigns"
	}
	if size < 0 || size > largest(name) {
		return beyond(name, "more than %s", mebibytes(largest(name)))
	}
	if *sum += size; *sum > most {
		return beyond(name, "all %s together have more than %s", which, mebibytes(most))
	}
	return nil
}

// largest is how many bytes a file may have.
func largest(name string) int64 {
	if streamed.MatchString(name) {
		return maxStream
	}
	return maxFile
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

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
