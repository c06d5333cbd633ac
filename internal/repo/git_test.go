package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/repo/repotest"
)

// hostile are settings of a repository that name a program, here one that leaves a file.
const hostile = `[core]
	repositoryformatversion = 1
	bare = false
	fsmonitor = "PROGRAM"
	hooksPath = "HOOKS"
	pager = "PROGRAM"
	sshCommand = "PROGRAM"
	alternateRefsCommand = "PROGRAM"
	attributesFile = "ATTRIBUTES"
[extensions]
	partialClone = evil
[remote "evil"]
	promisor = true
	url = "ext::PROGRAM"
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[credential]
	helper = "!PROGRAM"
[diff]
	external = "PROGRAM"
[diff "evil"]
	command = "PROGRAM"
	textconv = "PROGRAM"
[pager]
	diff-tree = "PROGRAM"
	ls-tree = "PROGRAM"
[alias]
	ls-tree = "!PROGRAM"
`

func TestNoSettingOfTheRepositoryStartsAProgram(t *testing.T) {
	folder, commit := repository(t)
	repotest.Put(t, folder, "benchgate.yaml", "version: 1 # another\n")
	head := repotest.Commit(t, folder)
	aside := t.TempDir()
	repotest.Put(t, aside, "program", "#!/bin/sh\nenv >"+filepath.Join(aside, "ran")+"\n")
	repotest.Put(t, aside, "attributes", "* diff=evil\n")
	for _, hook := range []string{"post-index-change", "reference-transaction"} {
		repotest.Put(t, aside, filepath.Join("hooks", hook), "#!/bin/sh\nenv >"+filepath.Join(aside, "ran")+"\n")
		if err := os.Chmod(filepath.Join(aside, "hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(aside, "program"), 0o755); err != nil {
		t.Fatal(err)
	}
	repotest.Put(t, folder, ".git/config", strings.NewReplacer("PROGRAM", filepath.Join(aside, "program"), "HOOKS", filepath.Join(aside, "hooks"),
		"ATTRIBUTES", filepath.Join(aside, "attributes")).Replace(hostile))
	if _, err := Changed(t.Context(), folder, commit, head); err != nil {
		t.Error(err)
	}
	if _, err := Files(t.Context(), folder, head, "."); err != nil {
		t.Error(err)
	}
	diff := Command(t.Context(), folder, "diff", "--no-ext-diff", "--no-textconv", commit, "--", ":/")
	if out, err := diff.Output(); err != nil || !strings.Contains(string(out), "# another") {
		t.Errorf("%s, error %v", out, err)
	}
	// A commit that is not here would be fetched from where the settings say.
	repotest.Put(t, folder, ".git/HEAD", strings.Repeat("0", 39)+"1\n")
	if _, err := Resolve(t.Context(), folder, "HEAD"); err == nil {
		t.Error("a commit that is not there is found")
	}
	if said, err := os.ReadFile(filepath.Join(aside, "ran")); err == nil {
		t.Errorf("a program of the settings ran, in this environment:\n%s", said)
	}
}

func TestGitIsGivenNoTokenOfTheJob(t *testing.T) {
	folder, _ := repository(t)
	for _, name := range []string{"BENCHGATE_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN"} {
		t.Setenv(name, "sesame")
	}
	out, err := Command(t.Context(), folder, "-c", "alias.given=!env", "given").Output()
	if err != nil || !strings.Contains(string(out), "PATH=") || strings.Contains(string(out), "sesame") {
		t.Errorf("git is given this (error %v):\n%s", err, out)
	}
}
