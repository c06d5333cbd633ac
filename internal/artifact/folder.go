package artifact

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// atOnce is how many entries of a folder are read before they are checked: a folder of a million is left at the limit.
const atOnce = 256

// inspect checks a folder where it is. Links are not followed: os.Root would refuse one that leads outside, and here none
// is allowed at all.
func inspect(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return newRules().walk(root, ".", "")
}

func (r *rules) walk(root *os.Root, at, prefix string) error {
	f, err := root.Open(at)
	if err != nil {
		return err
	}
	defer f.Close()
	var folders []string
	for {
		entries, err := f.ReadDir(atOnce)
		for _, e := range entries {
			name := prefix + e.Name()
			size, err := sizeOf(e)
			if err != nil {
				return err
			}
			if err := r.admit(name, e.Type(), size); err != nil {
				return err
			}
			if e.IsDir() {
				folders = append(folders, name)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	for _, name := range folders {
		if err := r.walk(root, name, name+"/"); err != nil {
			return err
		}
	}
	return nil
}

func sizeOf(e fs.DirEntry) (int64, error) {
	if e.IsDir() {
		return 0, nil
	}
	info, err := e.Info()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
