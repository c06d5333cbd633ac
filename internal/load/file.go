package load

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/benchgate/benchgate/internal/config"
)

// Open opens the file of a dataset, whose path is relative to folder. Errors name it as the config does.
func Open(d config.Dataset, folder string) (*os.File, error) {
	path := d.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	// Opening a pipe would wait for a writer.
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("dataset %q: %w", d.Path, err)
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("dataset %q: not a regular file", d.Path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("dataset %q: %w", d.Path, err)
	}
	return f, nil
}

const byteOrderMark = "\xEF\xBB\xBF"

var errNotUTF8 = errors.New("not UTF-8")

// foreign names files that are not datasets but often stand in their place.
func foreign(text []byte) error {
	start := string(text[:min(len(text), 64)])
	switch {
	case strings.HasPrefix(start, "version https://git-lfs"):
		return errors.New("this is a Git LFS pointer, not the file: run git lfs pull")
	case strings.HasPrefix(start, "<<<<<<<"), strings.HasPrefix(start, "======="), strings.HasPrefix(start, ">>>>>>>"):
		return errors.New("this is a conflict marker: resolve the merge")
	case strings.HasPrefix(start, "\xFF\xFE"), strings.HasPrefix(start, "\xFE\xFF"):
		return errors.New("the file is UTF-16: save it as UTF-8")
	case !utf8.Valid(text):
		return errNotUTF8
	}
	return nil
}
