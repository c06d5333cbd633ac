package artifact

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"slices"
	"strings"
)

// unpack checks all entries of a zip by what they say of themselves, and then unpacks them, holding each to it.
func unpack(name string, size int64, into string) (folder string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	entries, err := index(f, size)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return "", err
	}
	folder, err = os.MkdirTemp(into, "results-")
	if err != nil {
		return "", err
	}
	if err := extract(entries, folder); err != nil {
		return "", errors.Join(err, os.RemoveAll(folder))
	}
	return folder, nil
}

// index reads the list of entries and checks it.
func index(f io.ReaderAt, size int64) ([]*zip.File, error) {
	if size > maxStreams {
		return nil, tooMuch{fmt.Errorf("the zip has more than %s", mebibytes(maxStreams))}
	}
	list := &bounded{f, maxIndex}
	z, err := zip.NewReader(list, size)
	if list.left < 0 {
		return nil, tooMuch{fmt.Errorf("the zip's list of entries has more than %s", mebibytes(maxIndex))}
	}
	// A name that could lead outside is for the rules to refuse, by name.
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("it is neither a folder nor a zip that can be read: %w", err)
	}
	list.left = math.MaxInt64 // what is unpacked has limits of its own
	r := newRules()
	for _, e := range z.File {
		if err := r.entry(e); err != nil {
			return nil, err
		}
	}
	return z.File, apart(z.File)
}

// bounded lets so many bytes be read.
type bounded struct {
	r    io.ReaderAt
	left int64
}

func (b *bounded) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errors.New("too much to read")
	}
	return b.r.ReadAt(p, at)
}

// entry checks one entry by what the list says of it.
func (r *rules) entry(e *zip.File) error {
	folder := e.Mode().IsDir()
	switch {
	case e.Flags&1 != 0:
		return refused(e.Name, "it is encrypted")
	case e.Method != zip.Store && e.Method != zip.Deflate:
		return refused(e.Name, "it is packed by method %d, which is not read here", e.Method)
	case folder && e.UncompressedSize64 > 0:
		return refused(e.Name, "a folder that has content")
	case unread.MatchString(e.Name):
		return r.admit(e.Name, e.Mode(), 0)
	case e.UncompressedSize64 > uint64(largest(e.Name)):
		return beyond(e.Name, "more than %s", mebibytes(largest(e.Name)))
	case e.UncompressedSize64 > 1<<20 && e.UncompressedSize64/ratio > e.CompressedSize64:
		return refused(e.Name, "it says that one byte unpacks to more than %d", ratio)
	case e.UncompressedSize64 > maxFile && e.UncompressedSize64/lowRatio > e.CompressedSize64:
		return refused(e.Name, "it says that one byte of so many unpacks to more than %d", lowRatio)
	}
	name := e.Name
	if folder {
		name = strings.TrimSuffix(name, "/")
	}
	return r.admit(name, e.Mode(), int64(e.UncompressedSize64))
}

// apart refuses entries that share their bytes: a small zip could be unpacked to a great deal by telling the same bytes many
// times.
func apart(entries []*zip.File) error {
	type extent struct {
		from, to int64
		name     string
	}
	var all []extent
	for _, e := range entries {
		from, err := e.DataOffset()
		if err != nil {
			return refused(e.Name, "its place in the zip cannot be read: %v", err)
		}
		if e.CompressedSize64 > maxStreams {
			return refused(e.Name, "it says that it is larger than the zip")
		}
		all = append(all, extent{from, from + int64(e.CompressedSize64), e.Name})
	}
	slices.SortFunc(all, func(a, b extent) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for i := 1; i < len(all); i++ {
		if all[i].from < all[i-1].to {
			return refused(all[i].name, "it shares bytes with %s", shown(all[i-1].name))
		}
	}
	return nil
}

func extract(entries []*zip.File, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, e := range entries {
		if unread.MatchString(e.Name) {
			continue
		}
		if err := write(root, e); err != nil {
			return err
		}
	}
	return nil
}

// write unpacks one entry, and holds it to the size it told.
func write(root *os.Root, e *zip.File) error {
	if e.Mode().IsDir() {
		return root.MkdirAll(strings.TrimSuffix(e.Name, "/"), 0o755)
	}
	if err := root.MkdirAll(path.Dir(e.Name), 0o755); err != nil {
		return err
	}
	in, err := e.Open()
	if err != nil {
		return refused(e.Name, "it cannot be unpacked: %v", err)
	}
	defer in.Close()
	out, err := root.OpenFile(e.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in) // an error where it is more, or less, than was told
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return refused(e.Name, "it cannot be unpacked: %v", err)
	}
	return nil
}
