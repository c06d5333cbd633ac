package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// leftovers are the folders that the workflows and the documents make in a checkout and that nobody commits.
var leftovers = []string{"/base/", "/benchgate-out/", "/benchgate-verdict/", "/first-session/", "/head/"}

// ignore is .gitignore with the leftovers that it lacks below its own lines; none where it lacks nothing. A folder that is
// there already is not taken for a leftover.
func (c initCmd) ignore() ([]initFile, error) {
	old, err := os.ReadFile(filepath.Join(c.Dir, ".gitignore"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(old)) {
		known[strings.Trim(strings.TrimSpace(line), "/")] = true
	}
	var more []string
	for _, folder := range leftovers {
		name := strings.Trim(folder, "/")
		if _, err := os.Lstat(filepath.Join(c.Dir, name)); known[name] || err == nil {
			continue
		}
		more = append(more, folder)
	}
	if len(more) == 0 {
		return nil, nil
	}
	if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
		old = append(old, '\n')
	}
	return []initFile{{".gitignore", append(old, strings.Join(more, "\n")+"\n"...)}}, nil
}
