//go:build act

package acttest

import "testing"

// The names of a pull request are its author's, and so is its title.
const (
	hostileBranch = "a`$(id)`-<!--|@octocat"
	hostileTitle  = "Faster ::error::##[error] | x <!-- benchgate --> @octocat $(id)\n::warning::forged"
)

// event is the payload of an event of the user's repository, as far as anything of ours or act reads it. A pull request's
// kind stands behind a colon: fork, deleted (the fork is), closed, queued (the merge queue measures it), or several (so many
// runners).
func event(t *testing.T, name string, c commits) map[string]any {
	t.Helper()
	repository := map[string]any{"full_name": "example/server", "name": "server", "default_branch": "main", "private": false}
	payload := map[string]any{"repository": repository, "sender": map[string]any{"login": "octocat"}}
	switch name {
	case "pull_request", "pull_request:queued", "pull_request:several":
		payload["pull_request"] = pull(c, repository)
	case "pull_request:closed":
		payload["pull_request"] = pull(c, repository)
		payload["pull_request"].(map[string]any)["state"] = "closed"
	case "pull_request:fork":
		payload["pull_request"] = pull(c, map[string]any{"full_name": "octocat/server", "name": "server", "fork": true})
	case "pull_request:deleted":
		payload["pull_request"] = pull(c, nil)
	case "merge_group":
		payload["action"] = "checks_requested"
		payload["merge_group"] = map[string]any{
			"head_sha": c.merge, "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-" + c.base,
			"base_sha": c.base, "base_ref": "refs/heads/main", "head_commit": map[string]any{"id": c.merge, "message": hostileTitle},
		}
	case "schedule", "schedule:second":
		payload["schedule"] = "17 2 * * *"
	case "workflow_dispatch":
		payload["ref"] = "refs/heads/main"
		payload["inputs"] = map[string]any{"pull-request": "7", "head": c.head}
	default:
		t.Fatalf("no event is called %q", name)
	}
	if _, ok := payload["pull_request"]; ok {
		payload["action"], payload["number"] = "synchronize", 7
	}
	return payload
}

func pull(c commits, repository map[string]any) map[string]any {
	head := map[string]any{"ref": hostileBranch, "sha": c.head, "label": "octocat:" + hostileBranch, "repo": nil}
	if repository != nil {
		head["repo"] = repository
	}
	return map[string]any{
		"number": 7, "title": hostileTitle, "body": hostileTitle, "state": "open", "draft": false, "head": head,
		"base":             map[string]any{"ref": "main", "sha": c.base, "repo": map[string]any{"full_name": "example/server", "fork": false}},
		"merge_commit_sha": c.merge, "user": map[string]any{"login": "octocat"},
	}
}
