package github_test

import (
	"context"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/benchgate/benchgate/internal/ghfake"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/benchgate/benchgate/internal/sim"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

const (
	repository = "example/server"
	token      = "ghs_onlyForTests0000000000000000000000"
	headSHA    = "1111111111111111111111111111111111111111"
	olderSHA   = "2222222222222222222222222222222222222222"
	number     = 7
)

// inVirtualTime runs a test against a fake GitHub in memory, in a bubble of virtual time.
func inVirtualTime(t *testing.T, o ghfake.Options, test func(t *testing.T, fake *ghfake.Server, client *github.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		memory := sim.NewMemory()
		o.Listener = memory
		if o.Repository == "" {
			o.Repository = repository
		}
		if len(o.State.Pulls) == 0 {
			o.State.Pulls = []ghfake.Pull{{Number: number, HeadSHA: headSHA, HeadRef: "faster", HeadRepository: repository, BaseSHA: olderSHA}}
		}
		fake := ghfake.New(t, o)
		transport := &http.Transport{DialContext: memory.Dial}
		secret := o.Token
		if secret == "" {
			secret = token
		}
		client, err := github.NewClient(github.ClientOptions{
			API: fake.URL, Token: secret, Repository: repository, Transport: transport,
			Say: func(s string) { t.Log("says: " + s) },
		})
		if err != nil {
			t.Fatal(err)
		}
		test(t, fake, client)
		transport.CloseIdleConnections()
		fake.Close()
		memory.Close()
		synctest.Wait()
	})
}

// job is one of a pull request whose head is the fake's.
func job() github.Job {
	return github.Job{
		Event: "pull_request", Repository: repository, Server: "https://github.com", RunID: 42, RunAttempt: 1,
		Pull: &github.Pull{Number: number, HeadSHA: headSHA},
	}
}

func text(s string) func(int) string { return func(int) string { return s } }

func post(sections ...github.Section) github.Post {
	return github.Post{Job: job(), Key: "gate", Sections: sections}
}

func publish(client *github.Client, p github.Post) github.Posted {
	return client.Publish(context.Background(), p)
}

// environment is a set of variables.
type environment map[string]string

func (e environment) get(name string) string { return e[name] }

// event is the environment of a job that an event file of testdata started.
func event(name, file string) environment {
	return environment{
		"GITHUB_EVENT_NAME": name, "GITHUB_REPOSITORY": repository, "GITHUB_RUN_ID": "42", "GITHUB_RUN_ATTEMPT": "2",
		"GITHUB_SHA": strings.Repeat("a", 40), "GITHUB_EVENT_PATH": file,
	}
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
