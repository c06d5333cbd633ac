package baseline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

// Entry is one baseline of a folder.
type Entry struct {
	Runner, Scenario string
	File             string // its path
	Digest           bench.Digest
}

// List reads the baselines under folder, by runner and scenario. A folder that is not there holds none. What can be read
// is listed even where the error names a damaged file.
func List(folder string) ([]Entry, error) {
	var entries []Entry
	var damaged []error
	for _, f := range placedIn(folder) {
		d, err := f.read()
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		entries = append(entries, Entry{d.Runner, d.Scenario, f.name, d})
	}
	return entries, errors.Join(damaged...)
}

// placedIn lists the files at <runner>/<scenario>.json.
func placedIn(folder string) []file {
	var files []file
	names, _ := fs.Glob(os.DirFS(filepath.Clean(folder)), "*/*.json") // the pattern is sound
	for _, name := range names {
		if isDigest(path.Base(name)) && !strings.HasPrefix(name, ".") {
			files = append(files, onDisk(filepath.Join(folder, filepath.FromSlash(name))))
		}
	}
	return files
}

// Show reads one baseline.
func Show(folder, runner, scenario string) (Entry, error) {
	name, err := fileOf(folder, runner, scenario)
	if err != nil {
		return Entry{}, err
	}
	d, err := onDisk(name).read()
	if err != nil {
		return Entry{}, err
	}
	return Entry{runner, scenario, name, d}, nil
}

// Remove deletes one baseline, and the folder of its runner with the last.
func Remove(folder, runner, scenario string) error {
	name, err := fileOf(folder, runner, scenario)
	if err != nil {
		return err
	}
	unlock, err := lock(folder)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Remove(name); err != nil {
		return fmt.Errorf("remove baseline: %w", err)
	}
	if left, err := os.ReadDir(filepath.Dir(name)); err == nil && len(left) == 0 {
		return os.Remove(filepath.Dir(name))
	}
	return settle(filepath.Dir(name))
}

func fileOf(folder, runner, scenario string) (string, error) {
	err := errors.Join(bench.CheckName("runner", runner), bench.CheckName("scenario", scenario))
	return filepath.Join(folder, runner, scenario+".json"), err
}

// Problem is something wrong with a file under a folder of baselines.
type Problem struct{ File, What string }

// String is the problem on one line.
func (p Problem) String() string { return fmt.Sprintf("%q: %s", p.File, p.What) }

// Verify reads every file under folder and returns what is wrong: a file out of place or left half-written, one that
// cannot be read or whose content belongs elsewhere, sessions that should not have been accepted, and scenarios of one
// runner that were measured on different machines. The error says that the folder itself could not be read.
func Verify(folder string) ([]Problem, error) {
	v := verifying{folder: folder, runners: map[string]Entry{}}
	if err := filepath.WalkDir(folder, v.visit); err != nil {
		return nil, fmt.Errorf("verify %q: %w", folder, err)
	}
	return v.problems, nil
}

type verifying struct {
	folder   string
	problems []Problem
	runners  map[string]Entry // the first sound baseline of each runner
}

func (v *verifying) add(file, format string, args ...any) {
	v.problems = append(v.problems, Problem{file, fmt.Sprintf(format, args...)})
}

func (v *verifying) visit(name string, e fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	place, err := filepath.Rel(v.folder, name)
	if err != nil || place == "." {
		return err
	}
	depth := strings.Count(place, string(filepath.Separator))
	base := filepath.Base(name)
	switch {
	case strings.HasPrefix(base, halfWritten):
		v.add(name, "left by an interrupted write; delete it")
	case strings.HasPrefix(base, "."), base == "README.md":
		if e.IsDir() {
			return fs.SkipDir
		}
	case e.IsDir() && depth == 0:
		if err := bench.CheckName("runner", base); err != nil {
			v.add(name, "%v", err)
		}
	case !e.IsDir() && depth == 1 && isDigest(base):
		v.digest(name)
	default:
		v.add(name, "does not belong here: baselines are <runner>/<scenario>.json")
	}
	return nil
}

func (v *verifying) digest(name string) {
	d, err := onDisk(name).read()
	if err != nil {
		v.add(name, "%v", err)
		return
	}
	runner, scenario := filepath.Base(filepath.Dir(name)), strings.TrimSuffix(filepath.Base(name), ".json")
	if d.Runner != runner || d.Scenario != scenario {
		v.add(name, "holds scenario %q of runner %q", d.Scenario, d.Runner)
	}
	if len(d.Sessions) > bench.MostSessions {
		v.add(name, "holds %d sessions, want at most %d", len(d.Sessions), bench.MostSessions)
	}
	if !slices.IsSortedFunc(d.Sessions, func(a, b bench.Session) int { return a.Started.Compare(b.Started) }) {
		v.add(name, "the sessions are not in the order of their start")
	}
	for _, s := range d.Sessions {
		if err := sound(s); err != nil {
			v.add(name, "session %q: %v", s.ID, err)
		}
		if !s.Origin.Accepted.IsZero() && s.Started.After(s.Origin.Accepted.Add(clocksApart)) {
			v.add(name, "session %q began after it was accepted", s.ID)
		}
		if s.Origin.Who == "" || s.Origin.Accepted.IsZero() {
			v.add(name, "session %q: nobody is on record as having accepted it", s.ID)
		}
	}
	v.alike(Entry{runner, scenario, name, d})
}

// alike holds the scenarios of one runner against the first of them: one name is one machine.
func (v *verifying) alike(e Entry) {
	first, ok := v.runners[e.Runner]
	if !ok {
		v.runners[e.Runner] = e
		return
	}
	for _, key := range []string{bench.KeyMachine, bench.KeyAccelerator, bench.KeyDriver} {
		if a, b := first.Digest.MustMatch[key], e.Digest.MustMatch[key]; a != b {
			v.add(e.File, "%s is %q, and %q in %q: one runner is one machine", key, b, a, first.File)
		}
	}
}
