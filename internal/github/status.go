package github

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	api "github.com/google/go-github/v66/github"
)

// descriptionRunes is what GitHub takes.
const descriptionRunes = 140

const statusPermission = "statuses: write"

const (
	contextPrefix = "benchgate/"
	contextRunes  = 100
)

// StatusContext names the status of a runner. A commit may be proposed to several branches, and each has a status of its own:
// "benchgate/h100-1x/main". Of no branch it is "benchgate/h100-1x". A name that is long ends in a hash of it.
func StatusContext(runner, branch string) string {
	name := contextPrefix + oneLine(runner)
	if branch != "" {
		name += "/" + oneLine(branch)
	}
	if utf8.RuneCountInString(name) <= contextRunes {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return string([]rune(name)[:contextRunes-17]) + "~" + hex.EncodeToString(sum[:8])
}

// statuses writes one mark after the other beside the head, those that block first; what others left green is looked for before.
func (c *Client) statuses(ctx context.Context, p Post) []string {
	var errs []string
	old, err := c.withdrawn(ctx, p)
	if err != nil {
		errs = append(errs, c.sentence("look for statuses that an earlier attempt left green", statusPermission, err))
	}
	order := map[string]int{"error": -3, "failure": -2, "pending": -1}
	var todo []Status
	for _, s := range slices.Concat(p.Statuses, old) {
		if s = s.clean(); !p.Blocking || s.State != "success" && s.State != "pending" {
			todo = append(todo, s)
		}
	}
	slices.SortStableFunc(todo, func(a, b Status) int { return cmp.Compare(order[a.State], order[b.State]) })
	for i, s := range todo {
		err := c.status(ctx, p, s)
		if err == nil {
			continue
		}
		left := todo[i:]
		if f := c.failure(err); !f.stops() && f.kind != denied && f.kind != gone && f.kind != unmet && f.kind != redirect && f.kind != spent {
			left = left[:1]
		}
		var names []string
		for _, l := range left {
			names = append(names, strconv.Quote(l.Context))
		}
		what := "write status " + cut(strings.Join(names, ", "), 200)
		errs = append(errs, c.sentence(what, statusPermission, err))
		if len(left) > 1 {
			break
		}
	}
	return errs
}

func (s Status) clean() Status {
	switch s.State {
	case "success", "failure", "pending":
	default:
		s.State = "error"
	}
	return Status{Context: cut(oneLine(s.Context), contextRunes), State: s.State, Description: cut(oneLineOf(s.Description, 500), descriptionRunes)}
}

func (c *Client) status(ctx context.Context, p Post, s Status) error {
	want := &api.RepoStatus{State: &s.State, Context: &s.Context, Description: &s.Description}
	if url := p.statusURL(); url != "" {
		want.TargetURL = &url
	}
	return c.create(ctx, func() (*api.Response, error) {
		got, r, err := c.api.Repositories.CreateStatus(ctx, c.owner, c.name, p.Job.Head(), want)
		if err == nil && (r.StatusCode != http.StatusCreated || got.GetContext() != s.Context) {
			err = fmt.Errorf("%w: it does not show the status", errAnswer)
		}
		return r, err
	}, func() (bool, error) { return c.hasStatus(ctx, p.Job, want) })
}

// hasStatus tells whether the newest status of this name, which is listed first, is the one that was sent.
func (c *Client) hasStatus(ctx context.Context, j Job, want *api.RepoStatus) (bool, error) {
	all, _, err := c.listStatuses(ctx, j, 1)
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(all, func(s *api.RepoStatus) bool { return s.GetContext() == want.GetContext() })
	return at >= 0 && all[at].GetState() == want.GetState() && all[at].GetTargetURL() == want.GetTargetURL() &&
		all[at].GetDescription() == want.GetDescription(), nil
}
