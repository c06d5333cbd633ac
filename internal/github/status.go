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

const contextRunes = 100

// StatusContext names the status of a runner. A commit may be proposed to several branches, and each has a status of its own:
// "benchgate/h100-1x/main". Of no branch it is "benchgate/h100-1x". A name that is long ends in a hash of it.
func StatusContext(runner, branch string) string {
	name := "benchgate/" + oneLine(runner)
	if branch != "" {
		name += "/" + oneLine(branch)
	}
	if utf8.RuneCountInString(name) <= contextRunes {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return string([]rune(name)[:contextRunes-17]) + "~" + hex.EncodeToString(sum[:8])
}

// statuses writes one mark after the other beside the head, those that block first.
func (c *Client) statuses(ctx context.Context, p Post) []string {
	order := map[string]int{"error": -3, "failure": -2, "pending": -1}
	todo := make([]Status, len(p.Statuses))
	for i, s := range p.Statuses {
		todo[i] = s.clean()
	}
	slices.SortStableFunc(todo, func(a, b Status) int { return cmp.Compare(order[a.State], order[b.State]) })
	var errs []string
	for i, s := range todo {
		err := c.status(ctx, p.Job, s)
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

func (c *Client) status(ctx context.Context, j Job, s Status) error {
	want := &api.RepoStatus{State: &s.State, Context: &s.Context, Description: &s.Description}
	if url := j.URL(); url != "" {
		want.TargetURL = &url
	}
	return c.create(ctx, func() (*api.Response, error) {
		got, r, err := c.api.Repositories.CreateStatus(ctx, c.owner, c.name, j.Head(), want)
		if err == nil && (r.StatusCode != http.StatusCreated || got.GetContext() != s.Context) {
			err = fmt.Errorf("%w: it does not show the status", errAnswer)
		}
		return r, err
	}, func() (bool, error) { return c.hasStatus(ctx, j, want) })
}

// hasStatus tells whether the newest status of this name, which is listed first, is the one that was sent.
func (c *Client) hasStatus(ctx context.Context, j Job, want *api.RepoStatus) (bool, error) {
	var all []*api.RepoStatus
	err := c.call(ctx, func() (r *api.Response, err error) {
		all, r, err = c.api.Repositories.ListStatuses(ctx, c.owner, c.name, j.Head(), &api.ListOptions{PerPage: pageSize})
		return r, err
	})
	if err != nil {
		return false, err
	}
	if all == nil {
		return false, fmt.Errorf("%w: no list", errAnswer)
	}
	at := slices.IndexFunc(all, func(s *api.RepoStatus) bool { return s.GetContext() == want.GetContext() })
	return at >= 0 && all[at].GetState() == want.GetState() && all[at].GetTargetURL() == want.GetTargetURL() &&
		all[at].GetDescription() == want.GetDescription(), nil
}
