// Package github publishes a verdict where a pull request is read: in its comment, its status, and its job.
package github

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Job is the job of a workflow that this process runs in: what the runner says of it, and the event that started it. The
// texts in it come from outside and may hold anything that fits on one line; hashes and Repository are checked.
type Job struct {
	Event      string // the name of the event: "pull_request", "merge_group", "schedule", …; never empty
	Repository string // "owner/name" of the repository that the workflow belongs to
	Server     string // where people read it, such as "https://github.com"; without a slash at its end
	API        string // base address of the API, without a slash at its end
	Workflow   string // name of the workflow
	Name       string // id of the job in it
	SHA        string // the commit that was checked out; of a pull request GitHub's merge commit
	Ref        string // the ref that started it
	Workspace  string // the folder that the repository is checked out in
	RunID      int64  // grows from run to run; 0 unknown
	RunAttempt int    // 1, and one more for each re-run of the same run
	Pull       *Pull  // nil unless the event is one of a pull request
	Group      *Group // nil unless the event is one of a merge queue
	// Inputs are those of a workflow_dispatch as text; nil for any other event.
	Inputs map[string]string
}

// Pull is a pull request at one moment.
type Pull struct {
	Number         int // greater than 0
	HeadSHA        string
	HeadRef        string
	HeadRepository string // "owner/name"; "" where it was deleted, and Fork is true then
	BaseSHA        string
	BaseRef        string
	Fork           bool // the head is not a branch of Job.Repository, or nobody can say that it is one
	Draft          bool
	Closed         bool // it was merged, or given up
}

// Group is a group of pull requests in a merge queue.
type Group struct {
	HeadSHA string
	HeadRef string
	BaseSHA string
	BaseRef string
}

const (
	githubServer = "https://github.com"
	githubAPI    = "https://api.github.com"
)

var (
	isHash       = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	isRepository = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}/[A-Za-z0-9._-]{1,100}$`)
	isEvent      = regexp.MustCompile(`^[a-z_]{1,40}$`)
)

// ErrNoJob says that this process does not run in a job of GitHub Actions.
var ErrNoJob = errors.New("not in a job of GitHub Actions: GITHUB_EVENT_NAME is not set")

// ReadJob reads the job from the environment and from the event file that it names. Both are taken as hostile: a field
// that a decision rests on and that is missing, null or of another type is an error that names it.
func ReadJob(getenv func(string) string) (Job, error) {
	j := Job{
		Event:      getenv("GITHUB_EVENT_NAME"),
		Repository: getenv("GITHUB_REPOSITORY"),
		Workflow:   oneLine(getenv("GITHUB_WORKFLOW")),
		Name:       oneLine(getenv("GITHUB_JOB")),
		SHA:        getenv("GITHUB_SHA"),
		Ref:        oneLine(getenv("GITHUB_REF")),
		Workspace:  getenv("GITHUB_WORKSPACE"),
		RunAttempt: 1,
	}
	switch {
	case j.Event == "":
		return Job{}, ErrNoJob
	case !isEvent.MatchString(j.Event):
		return Job{}, fmt.Errorf("read job: GITHUB_EVENT_NAME %q is no name of an event", cut(j.Event, 80))
	case !validRepository(j.Repository):
		return Job{}, fmt.Errorf("read job: GITHUB_REPOSITORY %q is not owner/name", cut(j.Repository, 80))
	case j.SHA != "" && !isHash.MatchString(j.SHA):
		return Job{}, fmt.Errorf("read job: GITHUB_SHA %q is not the hash of a commit", cut(j.SHA, 80))
	}
	if err := j.readNumbers(getenv); err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	var err error
	if j.Server, err = address(getenv("GITHUB_SERVER_URL"), githubServer); err != nil {
		return Job{}, fmt.Errorf("read job: GITHUB_SERVER_URL %w", err)
	}
	if j.API, err = address(getenv("GITHUB_API_URL"), githubAPI); err != nil {
		return Job{}, fmt.Errorf("read job: GITHUB_API_URL %w", err)
	}
	if err := j.readEvent(getenv("GITHUB_EVENT_PATH")); err != nil {
		return Job{}, fmt.Errorf("read event %q: %w", j.Event, err)
	}
	return j, nil
}

func (j *Job) readNumbers(getenv func(string) string) error {
	var err error
	if s := getenv("GITHUB_RUN_ID"); s != "" {
		if j.RunID, err = strconv.ParseInt(s, 10, 64); err != nil || j.RunID < 0 {
			return fmt.Errorf("GITHUB_RUN_ID %q is not the number of a run", cut(s, 80))
		}
	}
	if s := getenv("GITHUB_RUN_ATTEMPT"); s != "" {
		if j.RunAttempt, err = strconv.Atoi(s); err != nil || j.RunAttempt < 1 {
			return fmt.Errorf("GITHUB_RUN_ATTEMPT %q is not the number of an attempt", cut(s, 80))
		}
	}
	return nil
}

// address is a base address of http or https without a slash at its end; an empty one is the default.
func address(s, otherwise string) (string, error) {
	if s == "" {
		return otherwise, nil
	}
	if strings.Contains(s, "@") { // and the message does not repeat it
		return "", fmt.Errorf("is not an address such as %s: it holds a name or a password", otherwise)
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" ||
		(u.Scheme != "https" && u.Scheme != "http") {
		return "", fmt.Errorf("%q is not an address such as %s", cut(s, 80), otherwise)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func validRepository(s string) bool {
	_, name, _ := strings.Cut(s, "/")
	return isRepository.MatchString(s) && name != "." && name != ".."
}

// Head is the commit that a status belongs to: the head of the pull request or of the group, else the commit that was
// checked out.
func (j Job) Head() string {
	switch {
	case j.Pull != nil:
		return j.Pull.HeadSHA
	case j.Group != nil:
		return j.Group.HeadSHA
	}
	return j.SHA
}

// Base is the commit to hold the head against, and "" where the event has none.
func (j Job) Base() string {
	switch {
	case j.Pull != nil:
		return j.Pull.BaseSHA
	case j.Group != nil:
		return j.Group.BaseSHA
	}
	return ""
}

// URL is where people read this run; "" where the run is unknown.
func (j Job) URL() string {
	if j.RunID == 0 {
		return ""
	}
	return fmt.Sprintf("%s/%s/actions/runs/%d/attempts/%d", j.Server, j.Repository, j.RunID, j.RunAttempt)
}

// nameRunes is how much of a foreign name is kept.
const nameRunes = 255

// oneLine is a foreign text without controls, on one line, cut to what a name may need.
func oneLine(s string) string { return oneLineOf(s, nameRunes) }

func oneLineOf(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	return cut(s, most)
}

// cut is at most so many runes of a text; the last of them says that something was cut.
func cut(s string, most int) string {
	last, n := 0, 0
	for i := range s {
		if n++; n == most {
			last = i
		}
		if n > most {
			return s[:last] + "…"
		}
	}
	return s
}
