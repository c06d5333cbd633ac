package github

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	api "github.com/google/go-github/v66/github"
)

// statusPages bounds how far back the statuses of a commit are looked through.
const statusPages = 10

// Withdrawal says which statuses of the head stand no longer: those that another attempt of this gate left green, and that the
// post itself sets in no way. They become errors.
type Withdrawal struct {
	Branch      string // only where they are about a merge into this branch
	All         bool   // also those of other parts of the gate: which of them there are is not known
	Description string // what they say then
}

// statusURL is where a status leads: to the run. What stands behind the # says which part of which gate set it.
func (p Post) statusURL() string {
	at := p.Job.URL()
	if at == "" || p.Part == "" {
		return at
	}
	return at + "#benchgate:" + safeName(p.Key) + ":" + safeName(p.Part)
}

var statusOrigin = regexp.MustCompile(`^(.*/actions/runs/\d{1,18}/attempts/\d{1,9})#benchgate:` + namePattern + ":" + namePattern + "$")

// stands tells whether a status is none of those that a post withdraws.
func (p Post) stands(s *api.RepoStatus) bool {
	context := s.GetContext()
	runner, _, _ := strings.Cut(strings.TrimPrefix(context, contextPrefix), "/")
	m := statusOrigin.FindStringSubmatch(s.GetTargetURL())
	switch {
	case s.GetState() != "success", m == nil, m[1] == p.Job.URL():
		return true
	case context != StatusContext(runner, p.Withdraw.Branch):
		return true
	}
	return m[2] != safeName(p.Key) || m[3] != safeName(p.Part) && !p.Withdraw.All
}

// withdrawn are the errors that stand in for what other attempts left green.
func (c *Client) withdrawn(ctx context.Context, p Post) ([]Status, error) {
	if p.Withdraw == nil || p.Part == "" {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, s := range p.Statuses {
		seen[s.clean().Context] = true
	}
	var all []Status
	for page := 1; ; {
		found, next, err := c.listStatuses(ctx, p.Job, page)
		if err != nil {
			return all, err
		}
		for _, s := range found { // the newest of each name comes first
			if context := s.GetContext(); !seen[context] {
				seen[context] = true
				if !p.stands(s) {
					all = append(all, Status{Context: context, State: "error", Description: p.Withdraw.Description})
				}
			}
		}
		switch {
		case next <= page:
			return all, nil
		case next > statusPages:
			return all, fmt.Errorf("%w: it has more than %d statuses", errManyStatuses, statusPages*pageSize)
		}
		page = next
		c.wire.most++
	}
}

var errManyStatuses = errors.New("the commit has too many statuses to be searched")

// listStatuses is one page of those of the head, the newest first, and the number of the next; 0 is none.
func (c *Client) listStatuses(ctx context.Context, j Job, page int) (all []*api.RepoStatus, next int, err error) {
	err = c.call(ctx, func() (*api.Response, error) {
		found, r, err := c.api.Repositories.ListStatuses(ctx, c.owner, c.name, j.Head(), &api.ListOptions{Page: page, PerPage: pageSize})
		if err == nil {
			all, next = found, r.NextPage
		}
		return r, err
	})
	if err == nil && all == nil {
		err = fmt.Errorf("%w: no list", errAnswer)
	}
	return all, next, err
}
