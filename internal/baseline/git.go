package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Limits of what is taken from git.
const (
	gitWithin = time.Minute
	maxListed = 16 << 20 // bytes of a listing
	maxBlob   = 64 << 20 // bytes of one file; a digest is not read beyond that either
)

// atCommit lists the baselines at a commit of the repository around the working folder. A working folder below the
// repository's root has its own baselines. Nothing of the working tree is looked at.
func atCommit(rev string) (_ []file, commit string, _ error) {
	if err := checkRev(rev); err != nil {
		return nil, "", err
	}
	prefix, err := git(maxListed, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, "", err
	}
	id, err := git(maxListed, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	commit = strings.TrimSpace(string(id))
	if err != nil || commit == "" {
		return nil, "", fmt.Errorf("commit %q is not in this repository; fetch it first: git fetch --depth=1 origin %s", rev, rev)
	}
	root := path.Join(strings.TrimSuffix(string(prefix), "\n"), Folder)
	list, err := git(maxListed, "ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--", root+"/")
	if err != nil {
		return nil, "", err
	}
	files, err := blobs(list, root)
	return files, commit, err
}

// checkRev refuses what git could take for a flag, or what cannot be a name.
func checkRev(rev string) error {
	switch {
	case rev == "":
		return errors.New("ref: needs a commit, as in ref:HEAD~1")
	case strings.HasPrefix(rev, "-"):
		return fmt.Errorf("%q is not a commit: it begins with -", rev)
	case len(rev) > 400 || strings.ContainsFunc(rev, unicode.IsControl):
		return errors.New("the name of the commit is too long or holds control characters")
	}
	return nil
}

// blobs turns a listing (mode, type, id, size, tab, path) into files.
func blobs(list []byte, root string) ([]file, error) {
	var files []file
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		about, name, ok := strings.Cut(entry, "\t")
		if !ok || !isDigest(path.Base(name)) {
			continue
		}
		place := strings.TrimPrefix(name, root+"/")
		if strings.Count(place, "/") > 1 {
			continue
		}
		fields := strings.Fields(about)
		if len(fields) != 4 {
			return nil, fmt.Errorf("git ls-tree says %q", about)
		}
		files = append(files, file{name, place, func() (io.ReadCloser, error) { return blob(fields) }})
	}
	return files, nil
}

func blob(fields []string) (io.ReadCloser, error) {
	if !strings.HasPrefix(fields[0], "100") {
		return nil, errors.New("not a regular file in that commit")
	}
	if size, err := strconv.Atoi(fields[3]); err != nil || size > maxBlob {
		return nil, fmt.Errorf("%s bytes: larger than %d MiB", fields[3], maxBlob>>20)
	}
	data, err := git(maxBlob, "cat-file", "blob", fields[2])
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// git runs one command that only reads, and returns what it prints. It may not ask for a password, nor see replaced
// objects.
func git(limit int64, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1", "LC_ALL=C")
	out, words := bounded{left: limit}, bounded{left: 4096}
	cmd.Stdout, cmd.Stderr = &out, &words
	err := cmd.Run()
	switch {
	case out.full:
		return nil, fmt.Errorf("git %s printed more than %d MiB", args[0], limit>>20)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git %s took longer than %v", args[0], gitWithin)
	case err != nil && words.kept.Len() > 0:
		return nil, fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(words.kept.String()))
	case err != nil:
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.kept.Bytes(), nil
}

// bounded keeps the beginning of what is written to it, and takes the rest as if it were written. The buffer is not
// embedded: io.Copy would fill it by its ReadFrom, past the limit.
type bounded struct {
	kept bytes.Buffer
	left int64
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(int64(len(p)), b.left)
	b.full = b.full || n < int64(len(p))
	b.left -= n
	b.kept.Write(p[:n])
	return len(p), nil
}
