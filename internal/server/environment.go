package server

import (
	"os"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/config"
)

// What the command does not inherit: the secrets of a CI job, and the files by which a step of a workflow speaks to its
// runner. A server under test is code under test, of a pull request perhaps. Names are compared without regard to case.
var (
	// What belongs to the job alone is withheld whatever the config says, since a pull request may write pass_env too.
	jobNames    = []string{"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "GITHUB_TOKEN", "GH_TOKEN", "BENCHGATE_TOKEN"}
	jobPrefixes = []string{"ACTIONS_", "INPUT_"}

	withheldNames = []string{
		"CI_JOB_JWT_V2", "DOCKER_AUTH_CONFIG",
		"GOOGLE_APPLICATION_CREDENTIALS", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GIT_ASKPASS", "SSH_ASKPASS", "KUBECONFIG", "NETRC", "PGPASSWORD",
	}
	withheldPrefixes = []string{"AWS_", "AZURE_", "ARM_", "GOOGLE_", "GCP_", "CLOUDSDK_", "VAULT_", "TF_VAR_"}
	withheldSuffixes = []string{
		"_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_PASS", "_PAT", "_JWT", "_API_KEY", "_APIKEY", "_ACCESS_KEY", "_SECRET_KEY",
		"_PRIVATE_KEY", "_SIGNING_KEY", "_SSH_KEY", "_CREDENTIALS", "_AUTH", "_CONNECTION_STRING", "_WEBHOOK_URL",
	}
	// withheldWhole are names that are a suffix and nothing else.
	withheldWhole = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "CREDENTIALS"}
)

// environment is what the command runs with: ours without what is withheld, with what pass_env lets through of it, and with
// target.env, in which {port} is filled in.
func environment(ours []string, t config.Target, port string) []string {
	var env []string
	for _, pair := range ours {
		name, _, _ := strings.Cut(pair, "=")
		_, replaced := t.Env[name]
		if !replaced && !OfJob(name) && (slices.Contains(t.PassEnv, name) || !withheld(name, t.APIKeyEnv)) {
			env = append(env, pair)
		}
	}
	for name, value := range t.Env {
		env = append(env, name+"="+strings.ReplaceAll(value, portMark, port))
	}
	slices.Sort(env)
	return env
}

// OfJob says whether an environment variable is the CI job's own, which nothing under test may have: its tokens, and the files
// by which its steps speak to the runner.
func OfJob(name string) bool {
	n := strings.ToUpper(name)
	return slices.Contains(jobNames, n) || has(n, strings.HasPrefix, jobPrefixes)
}

// withheld says whether a variable is kept from the command unless pass_env names it; keyName is the one that holds our own
// API key.
func withheld(name, keyName string) bool {
	n := strings.ToUpper(name)
	return name == keyName && name != "" || slices.Contains(withheldNames, n) || slices.Contains(withheldWhole, n) ||
		has(n, strings.HasPrefix, withheldPrefixes) || has(n, strings.HasSuffix, withheldSuffixes)
}

func has(name string, test func(string, string) bool, list []string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return test(name, x) })
}

func (o Options) environment(port string) []string { return environment(os.Environ(), o.Target, port) }
