package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	api "github.com/google/go-github/v66/github"
)

// descriptionRunes is what GitHub takes.
const descriptionRunes = 140

const statusPermission = "statuses: write"

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
	return Status{Context: cut(oneLine(s.Context), 100), State: s.State, Description: cut(oneLineOf(s.Description, 500), descriptionRunes)}
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
