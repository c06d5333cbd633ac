package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// checkPlaces refuses to read results, or to write, through a link of the checkout, which is the change's: such a link leads
// wherever its author likes, into .git or into another action.
func (a *action) checkPlaces() error {
	for input, place := range map[string]*string{"results": &a.in.results, "out": &a.in.out} {
		*place = filepath.Clean(*place)
		if err := unlinked(*place); err != nil {
			return withHint(fmt.Errorf("input %s is %q: %w", input, *place, err), "let it lie outside of the checkout: ${{ runner.temp }}/benchgate-out")
		}
	}
	return nil
}

// unlinked is an error where a path leads through a link below the working folder, or is one. What lies elsewhere is the
// workflow's own; a path that leads out and in again is taken for what it is.
func unlinked(path string) error {
	full, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	here, err := os.Stat(".")
	if err != nil {
		return err
	}
	// The outermost folder that is the working folder counts: a link to it may lie below.
	var below []string
	for at := full; at != filepath.Dir(at); at = filepath.Dir(at) {
		below = append(below, at)
	}
	slices.Reverse(below)
	inside := slices.IndexFunc(below, func(at string) bool {
		info, err := os.Stat(at)
		return err == nil && os.SameFile(info, here)
	})
	if inside < 0 {
		return nil
	}
	for _, at := range below[inside+1:] {
		switch info, err := os.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%q is a link in the checkout", filepath.Base(at))
		}
	}
	return nil
}
