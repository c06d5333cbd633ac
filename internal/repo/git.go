package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Limits of what is taken from git.
const (
	within    = time.Minute
	withinAll = 10 * time.Minute // where every file of a work tree is read
	maxListed = 16 << 20         // bytes of a listing
	maxBlob   = 64 << 20         // bytes of one file
)

// Command is git in a folder (empty is the working folder), for a command that only reads. The settings of a repository may
// be a stranger's, and can name programs: of those that git runs on its own only the filters of a working tree are left, nothing is
// fetched, nothing is asked for, and no variable with a token of the job is handed on.
func Command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(slices.Clone(tame), args...)...)
	cmd.Dir = dir
	env := slices.DeleteFunc(os.Environ(), func(e string) bool { return ofJob(e) })
	cmd.Env = append(env, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "LC_ALL=C")
	return cmd
}

// tame are settings that win over those of the repository.
var tame = []string{
	"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.sshCommand=false", "-c", "credential.helper=",
	"-c", "core.ignoreStat=false", "-c", "core.splitIndex=false", "-c", "diff.autoRefreshIndex=true",
}

// ofJob reports whether a variable is the job's own and may hold a token.
func ofJob(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return strings.HasPrefix(name, "BENCHGATE_") || strings.HasPrefix(name, "ACTIONS_") || name == "GITHUB_TOKEN" || name == "GH_TOKEN"
}

// git runs one command that only reads, in a folder, and returns what it prints. It may not see replaced objects, nor take
// a path for a pattern.
func git(ctx context.Context, dir string, limit int64, args ...string) ([]byte, error) {
	return gitOn(ctx, dir, "", limit, args...)
}

// gitOn is git with an input.
func gitOn(ctx context.Context, dir, input string, limit int64, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cmd := Command(ctx, dir, args...)
	cmd.Stdin = strings.NewReader(input)
	return outputOf(ctx, cmd, args[0], limit, within)
}

// gitBy is git with another index than that of the repository, with time to read every file.
func gitBy(ctx context.Context, dir, index string, limit int64, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, withinAll)
	defer cancel()
	cmd := Command(ctx, dir, args...)
	cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index)
	return outputOf(ctx, cmd, args[0], limit, withinAll)
}

// outputOf is what a command of git prints; what is its name, and most the time that ctx leaves it.
func outputOf(ctx context.Context, cmd *exec.Cmd, what string, limit int64, most time.Duration) ([]byte, error) {
	cmd.Env = append(cmd.Env, "GIT_NO_REPLACE_OBJECTS=1", "GIT_LITERAL_PATHSPECS=1")
	out, words := bounded{left: limit}, bounded{left: 4096}
	cmd.Stdout, cmd.Stderr = &out, &words
	err := cmd.Run()
	said := strings.TrimSpace(words.kept.String())
	switch {
	case out.full:
		return nil, fmt.Errorf("git %s printed more than %d MiB", what, limit>>20)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("git %s took longer than %v", what, most)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git %s: %w", what, context.Cause(ctx))
	case err != nil && strings.Contains(said, "dubious ownership"):
		return nil, foreign(said)
	case err != nil && said != "":
		return nil, fmt.Errorf("git %s: %s", what, said)
	case err != nil:
		return nil, fmt.Errorf("git %s: %w", what, err)
	}
	return out.kept.Bytes(), nil
}

// foreign says what to do where git does not trust a folder: in a container the checkout often belongs to another user
// than the one that runs. It is not overridden here: the settings of a repository can name programs that git runs.
func foreign(said string) error {
	_, name, _ := strings.Cut(said, "repository at '")
	name, _, found := strings.Cut(name, "'")
	if !found || !plain(name) {
		name = "FOLDER"
	}
	return fmt.Errorf("git does not read this repository, since its folder belongs to another user; if the folder is yours to trust: git config --global --add safe.directory %s", name)
}

// plain reports whether a text can stand in a command that people copy into a shell.
func plain(s string) bool {
	return s != "" && !strings.HasPrefix(s, "-") && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-@", r))
	})
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
