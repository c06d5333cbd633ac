package github_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/benchgate/benchgate/internal/github"
	"github.com/google/go-cmp/cmp"
)

func TestAJobIsReadFromItsEnvironmentAndEvent(t *testing.T) {
	base := github.Job{
		Repository: repository, Server: "https://github.com", API: "https://api.github.com",
		SHA: strings.Repeat("a", 40), RunID: 42, RunAttempt: 2,
	}
	for _, c := range []struct {
		event, file string
		want        func(*github.Job)
		head, base  string
	}{
		{"pull_request", "pull_request.json", func(j *github.Job) {
			j.Pull = &github.Pull{
				Number: 7, HeadSHA: headSHA, HeadRef: "faster-prefill", HeadRepository: repository, BaseSHA: olderSHA, BaseRef: "main",
			}
		}, headSHA, olderSHA},
		{"pull_request", "pull_request_fork.json", func(j *github.Job) {
			j.Pull = &github.Pull{
				Number: 8, HeadSHA: headSHA, HeadRef: "$(id)", HeadRepository: "somebody/server", BaseSHA: olderSHA, BaseRef: "main",
				Fork: true, Draft: true,
			}
		}, headSHA, olderSHA},
		{"merge_group", "merge_group.json", func(j *github.Job) {
			j.Group = &github.Group{
				HeadSHA: strings.Repeat("3", 40), HeadRef: "refs/heads/gh-readonly-queue/main/pr-7-" + olderSHA,
				BaseSHA: olderSHA, BaseRef: "refs/heads/main",
			}
		}, strings.Repeat("3", 40), olderSHA},
		{"schedule", "absent.json", func(*github.Job) {}, strings.Repeat("a", 40), ""},
		{"push", "absent.json", func(*github.Job) {}, strings.Repeat("a", 40), ""},
	} {
		t.Run(c.event+" "+c.file, func(t *testing.T) {
			want := base
			want.Event = c.event
			c.want(&want)
			got, err := github.ReadJob(event(c.event, filepath.Join("testdata", "events", c.file)).get)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("job (-want +got):\n%s", diff)
			}
			if got.Head() != c.head || got.Base() != c.base {
				t.Errorf("head %q, base %q", got.Head(), got.Base())
			}
			if got.URL() != "https://github.com/example/server/actions/runs/42/attempts/2" {
				t.Errorf("URL %q", got.URL())
			}
		})
	}
}

// pull is an event of a pull request with some of its fields replaced.
func pull(replace ...string) string {
	return strings.NewReplacer(replace...).Replace(`{"pull_request": {"number": 7, "head": {"ref": "a", "sha": "` + headSHA +
		`", "repo": {"full_name": "example/server"}}, "base": {"ref": "main", "sha": "` + olderSHA + `"}}}`)
}

func TestAnEventThatADecisionCannotRestOnIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ event, content, want string }{
		"no JSON":               {"pull_request", `{`, "unexpected end of JSON input"},
		"empty":                 {"pull_request", ``, "unexpected end of JSON input"},
		"null":                  {"pull_request", `null`, "has no pull_request"},
		"a list":                {"pull_request", `[]`, "cannot unmarshal array"},
		"no pull request":       {"pull_request", `{}`, "has no pull_request"},
		"null pull request":     {"pull_request", `{"pull_request": null}`, "has no pull_request"},
		"text for pull request": {"pull_request_target", `{"pull_request": "7"}`, "cannot unmarshal string"},
		"no number":             {"pull_request", pull(`"number": 7,`, ""), "number is missing"},
		"negative number":       {"pull_request", pull(`: 7,`, ": -7,"), "number is missing"},
		"huge number":           {"pull_request", pull(`: 7,`, ": 1e400,"), "cannot unmarshal number"},
		"text for a number":     {"pull_request", pull(`: 7,`, `: "7",`), "cannot unmarshal string"},
		"null head":             {"pull_request", pull(`"head": {`, `"head": null, "x": {`), "head.sha is not"},
		"null hash":             {"pull_request", pull(`"`+headSHA+`"`, "null"), "head.sha is not"},
		"an option for a hash":  {"pull_request", pull(headSHA, "--upload-pack=id"), "head.sha is not"},
		"short base":            {"pull_request", pull(olderSHA, "22222222"), "base.sha is not"},
		"no group":              {"merge_group", `{}`, "has no merge_group"},
		"group without a base":  {"merge_group", `{"merge_group": {"head_sha": "` + headSHA + `"}}`, "base_sha is not"},
		"group without a head":  {"merge_group", `{"merge_group": {"base_sha": "` + headSHA + `"}}`, "head_sha is not"},
		"inputs of another form": {
			"workflow_dispatch", `{"inputs": ["a"]}`,
			"inputs: json: cannot unmarshal array",
		},
		"input that is a list": {"workflow_dispatch", `{"inputs": {"a": [1]}}`, `"a" is neither a text nor a number`},
		"too deep":             {"workflow_dispatch", `{"inputs": ` + strings.Repeat(`[`, 20000), "exceeded max depth"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, filepath.Join(t.TempDir(), "event.json"), c.content)
			_, err := github.ReadJob(event(c.event, path).get)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestAHeadThatNobodyCanNameIsAFork(t *testing.T) {
	const mine = `{"full_name": "example/server"}`
	for name, c := range map[string]struct {
		repo, head string
		fork       bool
	}{
		"this repository":             {mine, repository, false},
		"spelt otherwise":             {`{"full_name": "Example/Server"}`, "Example/Server", false},
		"another":                     {`{"full_name": "somebody/server"}`, "somebody/server", true},
		"deleted":                     {`null`, "", true},
		"without a name":              {`{}`, "", true},
		"a name that is none":         {`{"full_name": "../../etc"}`, "", true},
		"a name with a command in it": {`{"full_name": "example/server\n::set-output name=x::y"}`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, filepath.Join(t.TempDir(), "event.json"), pull(mine, c.repo))
			j, err := github.ReadJob(event("pull_request", path).get)
			if err != nil {
				t.Fatal(err)
			}
			if j.Pull.Fork != c.fork || j.Pull.HeadRepository != c.head {
				t.Errorf("fork %v of %q, want %v of %q", j.Pull.Fork, j.Pull.HeadRepository, c.fork, c.head)
			}
		})
	}
}

func TestInputsOfADispatchAreTexts(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "event.json"), `{"inputs": {"pull": "7", "dry": true, "n": 3, "none": null, "evil": "$(id)\n"}}`)
	j, err := github.ReadJob(event("workflow_dispatch", path).get)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"pull": "7", "dry": "true", "n": "3", "none": "", "evil": "$(id)\n"}, j.Inputs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
}

func TestAnEnvironmentThatNoRunnerSetsIsRefused(t *testing.T) {
	for name, want := range map[string]string{
		"GITHUB_EVENT_NAME=Push it":                "is no name of an event",
		"GITHUB_REPOSITORY=":                       "is not owner/name",
		"GITHUB_REPOSITORY=a/..":                   "is not owner/name",
		"GITHUB_REPOSITORY=-a/b":                   "",
		"GITHUB_SHA=main":                          "is not the hash of a commit",
		"GITHUB_RUN_ID=1e9":                        "is not the number of a run",
		"GITHUB_RUN_ID=99999999999999999999":       "is not the number of a run",
		"GITHUB_RUN_ATTEMPT=0":                     "is not the number of an attempt",
		"GITHUB_API_URL=ftp://host":                "is not an address",
		"GITHUB_API_URL=https://me:secret@host/v3": "is not an address",
		"GITHUB_SERVER_URL=github.com":             "is not an address",
		"GITHUB_EVENT_PATH=":                       "GITHUB_EVENT_PATH is not set",
		"GITHUB_EVENT_PATH=/nowhere/event.json":    "no such file",
		"GITHUB_EVENT_PATH=testdata":               "is not a file",
		"GITHUB_EVENT_PATH=/dev/zero":              "is not a file",
	} {
		t.Run(name, func(t *testing.T) {
			env := event("pull_request", filepath.Join("testdata", "events", "pull_request.json"))
			key, value, _ := strings.Cut(name, "=")
			env[key] = value
			_, err := github.ReadJob(env.get)
			switch {
			case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("error %v, want one with %q", err, want)
			}
		})
	}
	if _, err := github.ReadJob(environment{}.get); !errors.Is(err, github.ErrNoJob) {
		t.Errorf("outside of a job: %v", err)
	}
}

func TestAnEventFileOverItsBoundIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "event.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil {
		t.Fatal(err)
	}
	if _, err := github.ReadJob(event("pull_request", path).get); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("error %v", err)
	}
}

func TestAnEnterpriseServerIsTakenFromTheEnvironment(t *testing.T) {
	env := event("schedule", "")
	env["GITHUB_SERVER_URL"], env["GITHUB_API_URL"] = "https://git.example.com/", "https://git.example.com/api/v3"
	j, err := github.ReadJob(env.get)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{j.Server, j.API, j.URL()}
	want := []string{"https://git.example.com", "https://git.example.com/api/v3", "https://git.example.com/example/server/actions/runs/42/attempts/2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}

func FuzzReadJob(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "events", "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no events: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range []string{"pull_request", "merge_group", "workflow_dispatch"} {
			f.Add(name, string(data))
		}
	}
	path := filepath.Join(f.TempDir(), "event.json")
	f.Fuzz(func(t *testing.T, name, content string) {
		j, err := github.ReadJob(event(name, write(t, path, content)).get)
		if err != nil {
			return
		}
		if p := j.Pull; p != nil {
			if p.Number <= 0 || len(p.HeadSHA) < 40 || len(p.BaseSHA) < 40 || strings.ContainsAny(p.HeadRef+p.BaseRef, "\r\n\x00") {
				t.Errorf("pull request %+v", p)
			}
			if !p.Fork && !strings.EqualFold(p.HeadRepository, repository) {
				t.Errorf("no fork: %q", p.HeadRepository)
			}
			if utf8.RuneCountInString(p.HeadRef) > 255 || !utf8.ValidString(p.HeadRef) {
				t.Errorf("head ref %q", p.HeadRef)
			}
		}
		if (name == "pull_request") != (j.Pull != nil) || (name == "merge_group") != (j.Group != nil) {
			t.Errorf("event %q: pull %v, group %v", name, j.Pull, j.Group)
		}
	})
}
