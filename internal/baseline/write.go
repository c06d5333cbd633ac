package baseline

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// halfWritten begins the name of a file that is not yet in place.
const halfWritten = ".benchgate-"

// writeAll puts all files in place or none, as far as a file system without transactions can: every new content is on the
// disk under another name before the first is renamed, and a rename that fails puts back what the others replaced.
func writeAll(files map[string][]byte) (_ []string, err error) {
	names := slices.Sorted(maps.Keys(files))
	ready := map[string]string{}
	defer func() {
		for _, temp := range ready {
			err = errors.Join(err, ignore(os.Remove(temp), fs.ErrNotExist))
		}
	}()
	for _, name := range names {
		temp, err := prepare(name, files[name])
		if temp != "" {
			ready[name] = temp
		}
		if err != nil {
			return nil, fmt.Errorf("write %q: %w", name, err)
		}
	}
	var undo []func() error
	for _, name := range names {
		restore, err := replace(ready[name], name)
		if err != nil {
			for _, back := range slices.Backward(undo) {
				err = errors.Join(err, back())
			}
			return nil, fmt.Errorf("write %q: %w", name, err)
		}
		undo = append(undo, restore)
	}
	return names, nil
}

// prepare writes data to the disk, beside where it will be.
func prepare(name string, data []byte) (temp string, err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(name), halfWritten+filepath.Base(name)+"-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	return f.Name(), errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
}

// replace renames a prepared file into place and returns what undoes it.
func replace(temp, name string) (restore func() error, _ error) {
	before, err := os.ReadFile(name)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err != nil && !fresh {
		return nil, err
	}
	if err := os.Rename(temp, name); err != nil {
		return nil, err
	}
	restore = func() error {
		if fresh {
			return os.Remove(name)
		}
		temp, err := prepare(name, before)
		if err != nil {
			return err
		}
		return os.Rename(temp, name)
	}
	return restore, settle(filepath.Dir(name))
}

// settle makes a rename last. Some file systems cannot: then the rename itself still stands.
func settle(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(ignore(d.Sync(), errors.ErrUnsupported), d.Close())
}

func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}
