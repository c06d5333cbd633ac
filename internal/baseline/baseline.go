// Package baseline keeps the digests that people accepted, one file a scenario under baselines/<runner>/.
//
// A baseline is read from the working tree or from git objects, and written as a whole or not at all. What is damaged is
// named and stays untouched. What may become a baseline is decided in [Accept].
package baseline

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
)

// Folder is where baselines live in a repository.
const Folder = "baselines"

// ErrNone says that a folder or a commit was read well and holds no baseline of the runner: everything is new.
var ErrNone = errors.New("no baseline")

// Source says where digests were read from.
type Source struct {
	// Kind is "file", "folder" or "ref".
	Kind string
	// Ref is what was asked for; of a ref it is "ref:" and the whole commit id.
	Ref string
	// Files are the digests that were read; of a ref they are paths from the repository's root.
	Files []string
}

// Folder reports whether the digests come from a folder, which may hold several runners.
func (s Source) Folder() bool { return s.Kind == "folder" }

// Read reads the digests of a runner. Spec is a file, which is taken whatever its runner; a folder: the root of all
// baselines, the folder of one runner, or a folder of results; or ref:COMMIT, the baselines at that commit of the
// repository around the working folder, from git objects alone. An empty runner will do where there is only one. The
// error is [ErrNone] where there are none.
func Read(spec, runner string) ([]bench.Digest, Source, error) {
	return read(spec, runner, func(_ string, err error) error { return err })
}

// Fault is a file that stands where a baseline does, and cannot be read as one.
type Fault struct {
	File string // as in [Source.Files]
	Err  error
}

// ReadSound is Read without the files that cannot be read: they count as none, and are returned as faults.
func ReadSound(spec, runner string) ([]bench.Digest, Source, []Fault, error) {
	var faults []Fault
	digests, source, err := read(spec, runner, func(file string, err error) error {
		faults = append(faults, Fault{file, err})
		return nil
	})
	if err == nil && len(digests) == 0 {
		err = fmt.Errorf("read baseline %q: %w%s", spec, ErrNone, of(runner))
	}
	return digests, source, faults, err
}

// read asks damaged what is to become of a file that cannot be read: nil leaves it out.
func read(spec, runner string, damaged func(file string, err error) error) ([]bench.Digest, Source, error) {
	if runner != "" {
		if err := bench.CheckName("runner", runner); err != nil {
			return nil, Source{}, err
		}
	}
	source := Source{Kind: "file", Ref: spec}
	var files []file
	if rev, ok := strings.CutPrefix(spec, "ref:"); ok {
		found, commit, err := atCommit(rev)
		if err != nil {
			return nil, source, fmt.Errorf("read baseline %q: %w", spec, err)
		}
		source.Kind, source.Ref, files = "ref", "ref:"+commit, found
	} else {
		info, err := os.Stat(spec)
		if err != nil {
			return nil, source, fmt.Errorf("read baseline: %w", err)
		}
		if !info.IsDir() {
			d, err := onDisk(spec).read()
			if err != nil {
				return nil, source, err
			}
			source.Files = []string{spec}
			return []bench.Digest{d}, source, nil
		}
		source.Kind = "folder"
		if files, err = inFolder(spec); err != nil {
			return nil, source, fmt.Errorf("read baseline: %w", err)
		}
	}
	digests, err := source.read(files, runner, damaged)
	return digests, source, err
}

func (s *Source) read(files []file, runner string, damaged func(file string, err error) error) ([]bench.Digest, error) {
	files, err := choose(files, runner)
	if err != nil {
		return nil, fmt.Errorf("read baseline %q: %w", s.Ref, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read baseline %q: %w%s", s.Ref, ErrNone, of(runner))
	}
	var digests []bench.Digest
	for _, f := range files {
		d, err := f.read()
		if err == nil {
			err = s.fits(digests, d, f)
		}
		if err != nil {
			if err := damaged(f.name, err); err != nil {
				return nil, err
			}
			continue
		}
		digests = append(digests, d)
		s.Files = append(s.Files, f.name)
	}
	return digests, nil
}

// fits refuses a digest of another runner than its folder's or than those before it, or of a scenario that one of them has.
func (s *Source) fits(digests []bench.Digest, d bench.Digest, f file) error {
	if folder := path.Dir(f.place); folder != "." && folder != d.Runner {
		return fmt.Errorf("read baseline %q: it is of runner %q; under the name of another it says nothing", f.name, d.Runner)
	}
	for i, other := range digests {
		if other.Runner != d.Runner {
			return fmt.Errorf("read baseline %q: %q is of runner %q, %q of %q; say which", s.Ref, s.Files[i], other.Runner, f.name, d.Runner)
		}
		if other.Scenario == d.Scenario {
			return fmt.Errorf("read baseline %q: %q and %q both hold scenario %q", s.Ref, s.Files[i], f.name, d.Scenario)
		}
	}
	return nil
}

func of(runner string) string {
	if runner == "" {
		return ""
	}
	return fmt.Sprintf(" of runner %q", runner)
}

// file is one digest somewhere. Place is its path below the folder that was asked for, with slashes.
type file struct {
	name, place string
	open        func() (io.ReadCloser, error)
}

func (f file) read() (bench.Digest, error) {
	r, err := f.open()
	if err != nil {
		return bench.Digest{}, fmt.Errorf("read baseline %q: %w", f.name, err)
	}
	defer r.Close()
	d, err := bench.ReadDigest(r, f.name)
	if err == nil && len(d.Sessions) == 0 {
		return bench.Digest{}, fmt.Errorf("read baseline %q: it holds no session", f.name)
	}
	return d, err
}

// onDisk is a file of the working tree. Only a regular file is opened: a pipe would never end.
func onDisk(name string) file {
	return file{name, filepath.Base(name), func() (io.ReadCloser, error) {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, errors.New("not a regular file")
		}
		return os.Open(name)
	}}
}

// inFolder lists what may be a digest in a folder and one level below.
func inFolder(folder string) ([]file, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		name := filepath.Join(folder, e.Name())
		if isDigest(e.Name()) {
			files = append(files, onDisk(name))
			continue
		}
		if info, err := os.Stat(name); err != nil || !info.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		below, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		for _, b := range below {
			if isDigest(b.Name()) {
				f := onDisk(filepath.Join(name, b.Name()))
				f.place = path.Join(e.Name(), b.Name())
				files = append(files, f)
			}
		}
	}
	return files, nil
}

// isDigest goes by the name: what is called like a digest and is none is an error, not something to skip.
func isDigest(name string) bool {
	return strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") && name != "verdict.json"
}

// foreign are the folders of a results folder that hold JSON of other kinds, and of the other side of a comparison.
var foreign = []string{"vllm", "reference"}

// choose finds the files of one runner: those in the folder of its name, else those at the top, else those of the only
// runner there is.
func choose(files []file, runner string) ([]file, error) {
	groups := map[string][]file{}
	var runners []string
	for _, f := range files {
		folder := path.Dir(f.place)
		if folder != "." && folder != runner && slices.Contains(foreign, folder) {
			continue
		}
		if folder != "." && groups[folder] == nil {
			runners = append(runners, folder)
		}
		groups[folder] = append(groups[folder], f)
	}
	switch {
	case runner != "" && groups[runner] != nil:
		return groups[runner], nil
	case groups["."] != nil:
		return groups["."], nil
	case runner != "" || len(runners) == 0:
		return nil, nil
	case len(runners) > 1:
		return nil, fmt.Errorf("there are several runners, %s; say which", strings.Join(runners, ", "))
	}
	return groups[runners[0]], nil
}
