package nightly

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Limits of what is taken from git.
const (
	gitWithin = 5 * time.Minute // one command, a fetch of a large repository among them
	mostBytes = 256 << 20       // of what one command prints
)

// scratch is a bare repository of our own beside no checkout: no hook, no filter and no setting of a working tree has a say
// in what is read or written.
type scratch struct {
	dir string // holds repository.git and an index
	url string
	env []string
}

// newScratch makes the repository in an empty folder.
func newScratch(ctx context.Context, dir string, r Repository) (*scratch, error) {
	g := &scratch{dir: dir, url: r.URL, env: r.environment(os.Environ())}
	_, err := g.git(ctx, nil, "init", "--quiet", "--bare")
	return g, err
}

// environment is that of every git command. The token travels in a header by way of the environment: an argument can be
// read by every process of the machine, and a file would stay. It goes to the host of URL alone, redirected or not.
func (r Repository) environment(env []string) []string {
	settings := [][2]string{
		{"core.hooksPath", os.DevNull},
		{"http.followRedirects", "false"},
		{"credential.helper", ""},
		{"gc.auto", "0"},
		{"maintenance.auto", "false"},
		{"commit.gpgSign", "false"},
		{"push.gpgSign", "false"},
		{"fetch.writeCommitGraph", "false"},
	}
	if at, err := url.Parse(r.URL); err == nil && r.Token != "" && (at.Scheme == "https" || at.Scheme == "http") {
		basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + r.Token))
		settings = append(settings, [2]string{"http." + at.Scheme + "://" + at.Host + "/.extraheader", "AUTHORIZATION: basic " + basic})
	}
	var kept []string
	n := 0
	for _, e := range env {
		switch name, value, _ := strings.Cut(e, "="); {
		case name == "GIT_CONFIG_COUNT":
			n, _ = strconv.Atoi(value) // of anything else git itself complains
		case name == "GIT_DIR", name == "GIT_WORK_TREE", name == "GIT_INDEX_FILE", name == "GIT_OBJECT_DIRECTORY":
		case strings.HasPrefix(name, "GIT_TRACE"), name == "GIT_CURL_VERBOSE": // they may print the header
		case strings.HasPrefix(name, "BENCHGATE_"), strings.HasPrefix(name, "ACTIONS_"), name == "GITHUB_TOKEN", name == "GH_TOKEN":
		default:
			kept = append(kept, e)
		}
	}
	for i, s := range settings {
		kept = append(kept, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n+i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n+i, s[1]))
	}
	return append(kept, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n+len(settings)),
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_LITERAL_PATHSPECS=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME="+author, "GIT_AUTHOR_EMAIL="+address, "GIT_COMMITTER_NAME="+author, "GIT_COMMITTER_EMAIL="+address)
}

// The author of what is written: GitHub shows the bot of its own jobs.
const (
	author  = "github-actions[bot]"
	address = "41898282+github-actions[bot]@users.noreply.github.com"
)

// git runs one command and returns what it prints. Input may be nil. Extra is added to its environment.
func (g *scratch) git(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	return g.gitAt(ctx, time.Time{}, input, args...)
}

// gitAt runs a command that writes a commit of the time at.
func (g *scratch) gitAt(ctx context.Context, at time.Time, input []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = g.dir
	cmd.Env = append(g.env[:len(g.env):len(g.env)], "GIT_DIR="+filepath.Join(g.dir, "repository.git"), "GIT_INDEX_FILE="+filepath.Join(g.dir, "index"))
	if !at.IsZero() {
		date := fmt.Sprintf("@%d +0000", at.Unix())
		cmd.Env = append(cmd.Env, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	}
	cmd.Stdin = bytes.NewReader(input)
	cmd.WaitDelay = 5 * time.Second // a helper that git left behind may hold the pipes
	out, words := bounded{left: mostBytes}, bounded{left: 4096}
	cmd.Stdout, cmd.Stderr = &out, &words
	err := cmd.Run()
	switch {
	case out.full:
		return nil, fmt.Errorf("git %s printed more than %d MiB", args[0], mostBytes>>20)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("git %s took longer than %v", args[0], gitWithin)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && words.kept.Len() > 0:
		return nil, fmt.Errorf("git %s: %s", args[0], strings.Join(strings.Fields(words.kept.String()), " "))
	case err != nil:
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.kept.Bytes(), nil
}

// line runs a command that prints one line.
func (g *scratch) line(ctx context.Context, input []byte, args ...string) (string, error) {
	out, err := g.git(ctx, input, args...)
	return strings.TrimSpace(string(out)), err
}

// bounded keeps the beginning of what is written to it, and takes the rest as if it were written.
type bounded struct {
	kept bytes.Buffer
	left int
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.full = b.full || n < len(p)
	b.left -= n
	b.kept.Write(p[:n])
	return len(p), nil
}
