package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/github"
	"github.com/benchgate/benchgate/internal/repo/repotest"
)

const aloneConfig = `version: 1
runner: lab
target: {base_url: "http://127.0.0.1:8000/v1", model: exact}
scenarios:
  chat:
    dataset: {kind: jsonl, path: prompts.jsonl}
    output_tokens: 4
    load: {concurrency: 16, requests: 100}
    primary: {metric: ttft.p50, tolerance: 5%, rule_out: 25%}
`

// baselineText is a baseline of a runner and scenario, of so many milliseconds.
func baselineText(t *testing.T, runner, scenario, value string) string {
	t.Helper()
	data, err := digestOf("a.json", "2026-11-01", "ttft.p50", []string{value, value, value})
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte(`"runner": "lab"`), []byte(`"runner": "`+runner+`"`), 1)
	return string(bytes.Replace(data, []byte(`"scenario": "chat"`), []byte(`"scenario": "`+scenario+`"`), 1))
}

// grown is a repository that a row changes, and the path of the config that is changed there.
type grown struct {
	*testing.T
	folder, config string
}

func (g grown) put(name, text string) { repotest.Put(g.T, g.folder, name, text) }
func (g grown) git(args ...string)    { repotest.Git(g.T, g.folder, args...) }
func (g grown) link(to, name string) {
	if err := os.Symlink(to, filepath.Join(g.folder, name)); err != nil {
		g.Fatal(err)
	}
}

// gateChange is a change; want are its files where it is of the gate alone, joined by a blank, and empty where it is not.
type gateChange struct {
	name   string
	change func(g grown)
	want   string
}

// gateChanges has each way in which an author could have code, or another build, taken for a change of the gate.
func gateChanges(t *testing.T) []gateChange {
	sound, slower := baselineText(t, "lab", "chat", "0.3"), baselineText(t, "lab", "chat", "0.6")
	other := strings.Replace(aloneConfig, "runner: lab", "runner: other", 1)
	const code = "time.sleep(1)\n"
	return []gateChange{
		{"a baseline", func(g grown) { g.put("baselines/lab/chat.json", slower) }, "baselines/lab/chat.json"},
		{"a rule", func(g grown) { g.put(g.config, strings.Replace(aloneConfig, "5%", "9%", 1)) }, "benchgate.yaml"},
		{"what lies beside them", func(g grown) { g.put("benchgate.schema.json", "{}"); g.put("baselines/README.md", "x") }, "baselines/README.md benchgate.schema.json"},
		{"the config is gone", func(g grown) { g.git("rm", "-q", g.config) }, "benchgate.yaml"},
		{"a baseline is gone", func(g grown) { g.git("rm", "-q", "baselines/lab/chat.json") }, "baselines/lab/chat.json"},
		{"nothing", func(g grown) {}, ""},
		{"code beside it", func(g grown) { g.put("baselines/lab/chat.json", slower); g.put("server.py", code) }, ""},
		{"code under baselines/", func(g grown) { g.put("baselines/lab/server.py", code) }, ""},
		{"a file without a runner", func(g grown) { g.put("baselines/chat.json", sound) }, ""},
		{"a file too deep", func(g grown) { g.put("baselines/lab/deep/chat.json", sound) }, ""},
		{"what a build may read, called like a baseline", func(g grown) { g.put("baselines/data/weights.json", `{"sleep": 1}`) }, ""},
		{"that in a runner's folder", func(g grown) { g.put("baselines/lab/weights.json", `{"sleep": 1}`) }, ""},
		{"what a build does read is edited", func(g grown) { g.put("baselines/data/flags.json", baselineText(t, "data", "flags", "0.3")) }, ""},
		{"what a build does read is gone", func(g grown) { g.git("rm", "-q", "baselines/data/flags.json") }, ""},
		{"a verdict's name", func(g grown) { g.put("baselines/lab/verdict.json", sound) }, ""},
		{"a hidden file", func(g grown) { g.put("baselines/lab/.chat.json", sound) }, ""},
		{"another's place", func(g grown) { g.put("baselines/lab/batch.json", sound) }, ""},
		{"capitals", func(g grown) { g.put("Benchgate.yaml", aloneConfig) }, ""},
		{"capitals of a folder", func(g grown) { g.put("baselines/LAB/chat.json", baselineText(t, "LAB", "chat", "0.3")) }, ""},
		{"a name with a line break", func(g grown) { g.put("baselines/lab/chat.json\nserver.py", code) }, ""},
		{"a name with a byte that is no text", func(g grown) { g.put("baselines/lab/\xff.json", sound) }, ""},
		{"a name that climbs", func(g grown) { g.put("baselines/lab/..json", sound) }, ""},
		{"code is moved to a baseline", func(g grown) { g.git("mv", "-f", "server.py", "baselines/lab/chat.json") }, ""},
		{"a baseline is moved to code", func(g grown) { g.git("mv", "-f", "baselines/lab/chat.json", "server.py") }, ""},
		{"a link", func(g grown) { g.link("chat.json", "baselines/lab/batch.json") }, ""},
		{"a baseline becomes a link", func(g grown) {
			if err := os.Remove(filepath.Join(g.folder, "baselines/lab/chat.json")); err != nil {
				g.Fatal(err)
			}
			g.link("../../server.py", "baselines/lab/chat.json")
		}, ""},
		{"a submodule", func(g grown) {
			g.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",baselines/lab/sub.json")
			g.git("commit", "-q", "-m", "submodule")
		}, ""},
		{"a program", func(g grown) {
			g.git("update-index", "--chmod=+x", g.config)
			g.git("commit", "-q", "-m", "mode")
			g.git("reset", "-q", "--hard")
		}, ""},
		{"the workflow", func(g grown) { g.put(".github/workflows/benchgate.yml", "x") }, ""},
		{"the dataset", func(g grown) { g.put("prompts.jsonl", "{}") }, ""},
		{"another dataset", func(g grown) { g.put(g.config, strings.Replace(aloneConfig, "prompts.jsonl", "server.py", 1)) }, ""},
		{"the target", func(g grown) {
			g.put(g.config, strings.Replace(aloneConfig, "exact}", "exact, command: [slow]}", 1))
		}, ""},
		{"a reference", func(g grown) {
			g.put(g.config, aloneConfig+"reference: {dir: base, command: [serve], base_url: \"http://127.0.0.1:{port}/v1\"}\n")
		}, ""},
		{"a config that cannot be read", func(g grown) { g.put(g.config, "x") }, ""},
		{"a config where the gate has none", func(g grown) { g.put("benchgate/other.yaml", other) }, ""},
		{"code is merged", func(g grown) {
			g.git("checkout", "-q", "-b", "side", "main")
			g.put("server.py", code)
			repotest.Commit(g.T, g.folder)
			g.git("checkout", "-q", "head")
			g.put("baselines/lab/chat.json", slower)
			repotest.Commit(g.T, g.folder)
			g.git("merge", "-q", "-m", "merge", "side")
		}, ""},
		{"code of main is dropped in a merge", func(g grown) {
			g.git("checkout", "-q", "main")
			g.put("server.py", "fast()\n")
			repotest.Commit(g.T, g.folder)
			g.git("checkout", "-q", "head")
			g.put("baselines/lab/chat.json", slower)
			repotest.Commit(g.T, g.folder)
			g.git("merge", "-q", "-s", "ours", "-m", "merge", "main")
		}, ""},
	}
}

func TestOnlyAChangeOfNothingButTheGateIsOne(t *testing.T) {
	for _, c := range gateChanges(t) {
		t.Run(c.name, func(t *testing.T) {
			folder, _ := repotest.New(t, map[string]string{
				"benchgate.yaml": aloneConfig, "baselines/lab/chat.json": baselineText(t, "lab", "chat", "0.3"), "server.py": "serve()\n", "prompts.jsonl": "", "baselines/data/flags.json": `{"sleep": 0}`,
			})
			repotest.Git(t, folder, "checkout", "-q", "-b", "head")
			c.change(grown{t, folder, "benchgate.yaml"})
			repotest.Commit(t, folder)
			t.Chdir(folder)
			if got := strings.Join(aloneFrom(t, "main").gateFiles(), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// aloneFrom is a job for a pull request into a branch.
func aloneFrom(t *testing.T, base string) *action {
	return &action{
		sh: &shell{ctx: t.Context()}, in: inputs{config: "benchgate.yaml"}, refs: refs{base: base, rules: base, baselines: base},
		job: github.Job{Pull: &github.Pull{Number: 7}},
	}
}

func TestAFolderOfConfigsGrowsByARunnerOfItsOwn(t *testing.T) {
	folder, _ := repotest.New(t, map[string]string{"benchgate/lab.yaml": aloneConfig, "benchgate/notes.txt": "x"})
	repotest.Git(t, folder, "checkout", "-q", "-b", "head")
	repotest.Put(t, folder, "benchgate/other.yaml", strings.Replace(aloneConfig, "runner: lab", "runner: other", 1))
	repotest.Commit(t, folder)
	t.Chdir(folder)
	a := aloneFrom(t, "main")
	a.in.config = "benchgate"
	all, err := a.asked()
	if err != nil {
		t.Fatal(err)
	}
	pardons := map[string]bool{}
	for _, q := range all {
		pardons[q.Runner] = a.pardons(q)
	}
	// The new one is held to its own rules: what base would have measured there nobody knows.
	if diff := cmp.Diff(map[string]bool{"lab": true, "other": false}, pardons); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, name := range []string{"benchgate/notes.txt", "benchgate/deep/x.yaml", "benchgate/__init__.py"} {
		repotest.Git(t, folder, "checkout", "-q", "-f", "head")
		repotest.Put(t, folder, name, "y")
		repotest.Commit(t, folder)
		a.alone = nil
		if got := a.gateFiles(); got != nil {
			t.Errorf("%s: %q", name, got)
		}
		repotest.Git(t, folder, "reset", "-q", "--hard", "HEAD~1")
	}
}

// Of a merge queue, what stands before the change counts too: it may be merged with it, and be judged by it alone.
func TestOfAMergeQueueTheWholeQueueMustBeOfTheGate(t *testing.T) {
	folder, _ := repotest.New(t, map[string]string{"benchgate.yaml": aloneConfig, "server.py": "serve()\n"})
	repotest.Git(t, folder, "update-ref", "refs/remotes/origin/main", "main")
	repotest.Git(t, folder, "checkout", "-q", "-b", "first")
	repotest.Put(t, folder, "server.py", "slow()\n")
	repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "-b", "second")
	repotest.Put(t, folder, "baselines/lab/chat.json", baselineText(t, "lab", "chat", "0.6"))
	repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "-b", "alone", "main")
	repotest.Put(t, folder, "baselines/lab/chat.json", baselineText(t, "lab", "chat", "0.6"))
	repotest.Commit(t, folder)
	t.Chdir(folder)
	for _, c := range []struct {
		head, base, branch string
		want               int
	}{
		{"second", "first", "refs/heads/main", 0},
		{"second", "main", "refs/heads/main", 0},
		{"alone", "main", "refs/heads/main", 1},
		{"alone", "main", "refs/heads/unknown", 0},
	} {
		repotest.Git(t, folder, "checkout", "-q", c.head)
		a := aloneFrom(t, c.base)
		a.job = github.Job{Group: &github.Group{BaseRef: c.branch}}
		if got := a.gateFiles(); len(got) != c.want {
			t.Errorf("%s on %s for %s: %q", c.head, c.base, c.branch, got)
		}
	}
}

func TestWhatCannotBeToldIsNoChangeOfTheGateAlone(t *testing.T) {
	folder, _ := repotest.New(t, map[string]string{"benchgate.yaml": aloneConfig, "sub/benchgate.yaml": aloneConfig})
	repotest.Git(t, folder, "checkout", "-q", "-b", "head")
	repotest.Put(t, folder, "benchgate.yaml", aloneConfig+"\n")
	repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "main")
	repotest.Put(t, folder, "x", "x")
	repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "head")
	shallow := filepath.Join(t.TempDir(), "shallow")
	repotest.Git(t, folder, "clone", "-q", "--depth=1", "--no-single-branch", "file://"+folder, shallow)
	for _, c := range []struct {
		name, folder string
		edit         func(a *action)
		want         int
	}{
		{"as it is", folder, func(*action) {}, 1},
		{"a shallow clone", shallow, func(a *action) { a.refs = refs{"origin/main", "origin/main", "origin/main"} }, 0},
		{"below the top", filepath.Join(folder, "sub"), func(*action) {}, 0},
		{"nothing proposed", folder, func(a *action) { a.job.Pull = nil }, 0},
		{"no base", folder, func(a *action) { a.refs.base = "" }, 0},
		{"rules of another commit", folder, func(a *action) { a.refs.rules = "nowhere" }, 0},
		{"baselines of another commit", folder, func(a *action) { a.refs.baselines = "nowhere" }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(c.folder)
			a := aloneFrom(t, "main")
			c.edit(a)
			if got := a.gateFiles(); len(got) != c.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestTwoConfigsOfOneRunnerAreRefusedAndMended(t *testing.T) {
	other := strings.Replace(aloneConfig, "runner: lab", "runner: other", 1)
	folder, _ := repotest.New(t, map[string]string{"benchgate/a.yaml": aloneConfig, "benchgate/b.yaml": other})
	repotest.Git(t, folder, "checkout", "-q", "-b", "twice")
	repotest.Put(t, folder, "benchgate/b.yaml", aloneConfig)
	repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "-b", "mends")
	repotest.Put(t, folder, "benchgate/b.yaml", other)
	repotest.Commit(t, folder)
	repotest.Git(t, folder, "checkout", "-q", "-b", "mends-and-more")
	repotest.Put(t, folder, "server.py", "slow()\n")
	repotest.Commit(t, folder)
	t.Chdir(folder)
	for _, c := range []struct{ base, head, unread, want string }{
		{"main", "twice", "", "are both of runner"},
		{"twice", "mends", "lab other", ""},
		{"twice", "mends-and-more", "", "are both of runner"},
	} {
		repotest.Git(t, folder, "checkout", "-q", c.head)
		a := aloneFrom(t, c.base)
		a.in.config = "benchgate"
		all, err := a.asked()
		if err == nil {
			_, err = a.sound()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s on %s: error %v", c.head, c.base, err)
		}
		var unread []string
		for _, q := range all {
			if q.unread != nil {
				unread = append(unread, q.Runner)
			}
		}
		if got := strings.Join(unread, " "); got != c.unread {
			t.Errorf("%s on %s: unread %q", c.head, c.base, got)
		}
	}
}

func TestARepairIsMeasuredWithoutWhatCannotBeRead(t *testing.T) {
	folder, _ := repotest.New(t, map[string]string{
		"baselines/lab/chat.json": baselineText(t, "lab", "chat", "0.3"), "baselines/lab/batch.json": "<<<<<<< HEAD\n",
	})
	t.Chdir(folder)
	base, faults, err := runCmd{Baseline: "ref:main", Sound: true}.base("lab")
	if err != nil || len(base) != 1 || len(faults) != 1 || faults[0].File != "baselines/lab/batch.json" {
		t.Errorf("%v, faults %v, error %v", scenarioNames(base), faults, err)
	}
	if base, _, err := (runCmd{Baseline: "ref:main"}).base("lab"); err == nil {
		t.Errorf("a damaged baseline is read: %v", scenarioNames(base))
	}
}
