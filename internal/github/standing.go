package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	api "github.com/google/go-github/v66/github"
)

// closed is what became of a pull request that has nothing to propose any more.
const closed = "closed"

// Standing is a pull request that a job keeps up to date: there is one, open, from Head into Base.
type Standing struct {
	Head, Base  string // branches of the repository
	Title, Body string // Markdown, of at most 65,536 characters
	Empty       bool   // there is nothing to propose: one that is open is closed, and none is opened
}

// Stood is what became of a standing pull request.
type Stood struct {
	State  string // created, updated, unchanged, closed, or skipped where there is none and none is needed
	Number int    // 0 unless there is one
	URL    string // where people read it
}

// StandingPull opens the pull request, or brings the one that is open up to date.
func (c *Client) StandingPull(ctx context.Context, s Standing) (Stood, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	open, err := c.openPull(ctx, s)
	switch {
	case err != nil:
		return Stood{}, c.standingError("look for the standing pull request", err)
	case open == nil && s.Empty:
		return Stood{State: skipped}, nil
	case open == nil:
		open, err = c.openNew(ctx, s)
		if err != nil {
			return Stood{}, c.standingError("open the standing pull request", err)
		}
		return stood(created, open), nil
	}
	change := &api.PullRequest{Title: &s.Title, Body: &s.Body}
	state := updated
	switch {
	case s.Empty:
		change.State, state = &closedWord, closed
	case sameText(open.GetTitle(), s.Title) && sameText(open.GetBody(), s.Body):
		return stood(unchanged, open), nil
	}
	err = c.call(ctx, func() (*api.Response, error) {
		_, r, err := c.api.PullRequests.Edit(ctx, c.owner, c.name, open.GetNumber(), change)
		return r, err
	})
	if err != nil {
		return stood(failed, open), c.standingError(fmt.Sprintf("bring pull request %d up to date", open.GetNumber()), err)
	}
	return stood(state, open), nil
}

var closedWord = closed

func stood(state string, p *api.PullRequest) Stood {
	return Stood{State: state, Number: p.GetNumber(), URL: p.GetHTMLURL()}
}

// openPull finds the open pull request from Head into Base; nil where there is none. A branch of the same name in a fork of
// the same owner is another one.
func (c *Client) openPull(ctx context.Context, s Standing) (*api.PullRequest, error) {
	var found []*api.PullRequest
	err := c.call(ctx, func() (_ *api.Response, err error) {
		var r *api.Response
		found, r, err = c.api.PullRequests.List(ctx, c.owner, c.name, &api.PullRequestListOptions{
			State: "open", Head: c.owner + ":" + s.Head, Base: s.Base, ListOptions: api.ListOptions{PerPage: pageSize},
		})
		return r, err
	})
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		if p.GetNumber() > 0 && p.GetHead().GetRef() == s.Head && strings.EqualFold(p.GetHead().GetRepo().GetFullName(), c.owner+"/"+c.name) {
			return p, nil
		}
	}
	return nil, nil
}

// openNew opens the pull request. Where the answer is lost, it looks before it asks again.
func (c *Client) openNew(ctx context.Context, s Standing) (*api.PullRequest, error) {
	var made *api.PullRequest
	err := c.create(ctx, func() (*api.Response, error) {
		p, r, err := c.api.PullRequests.Create(ctx, c.owner, c.name, &api.NewPullRequest{Title: &s.Title, Body: &s.Body, Head: &s.Head, Base: &s.Base})
		if err == nil && (p.GetNumber() <= 0 || p.GetHead().GetRef() != s.Head) {
			err = fmt.Errorf("%w: it shows another pull request", errAnswer)
		}
		made = p
		return r, err
	}, func() (bool, error) {
		p, err := c.openPull(ctx, s)
		made = p
		return p != nil, err
	})
	return made, err
}

// standingError adds what a setting of the repository may forbid even to a token that may write pull requests.
func (c *Client) standingError(what string, err error) error {
	sentence := c.sentence(what, commentPermission, err)
	if f := c.failure(err); f.kind == denied && strings.Contains(f.said, "not permitted to create") {
		sentence += `; turn on "Allow GitHub Actions to create and approve pull requests" under Settings > Actions > General`
	}
	return errors.New(sentence)
}
