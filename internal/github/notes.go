package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	api "github.com/google/go-github/v66/github"
)

// pagesMost bounds how long a conversation may be: a comment of ours beyond would be overlooked, and written twice.
const pagesMost = 50

var errTooMany = errors.New("the conversation is too long to be searched")

// note is one comment that bears our marker.
type note struct {
	id    int64
	login string
	bot   bool
	body  string
	url   string
	page  int // of the list it was found on
	mark
}

// listing is what a search has found, oldest first, and on how many pages.
type listing struct {
	notes []note
	last  int
}

// from is the page that a later search may begin with: no comment that bears our marker stands before it.
func (l listing) from() int {
	if len(l.notes) == 0 {
		return l.last
	}
	return l.notes[0].page
}

// notes are the comments of the conversation that bear the marker of the post, whoever wrote them. Every
// page from the given one on is read; those after the first do not count against the calls of a client.
func (c *Client) notes(ctx context.Context, p Post, page int) (listing, error) {
	var l listing
	for first := page; ; {
		var found []*api.IssueComment
		var answer *api.Response
		err := c.call(ctx, func() (_ *api.Response, err error) {
			found, answer, err = c.api.Issues.ListComments(ctx, c.owner, c.name, p.Job.Pull.Number,
				&api.IssueListCommentsOptions{ListOptions: api.ListOptions{Page: page, PerPage: pageSize}})
			return answer, err
		})
		if err != nil {
			return listing{}, err
		}
		if found == nil {
			return listing{}, fmt.Errorf("%w: no list", errAnswer)
		}
		for _, one := range found {
			if n, ok := noteOf(one, p, page); ok {
				l.notes = append(l.notes, n)
			}
		}
		if answer.NextPage <= page {
			break
		}
		if page = answer.NextPage; page-first >= pagesMost {
			return listing{}, fmt.Errorf("%w: it has more than %d comments", errTooMany, pagesMost*pageSize)
		}
		c.wire.most++
	}
	l.last = page
	slices.SortFunc(l.notes, func(a, b note) int { return cmp.Compare(a.id, b.id) })
	return l, nil
}

// noteOf is a comment that bears the marker of the post's key in its first line, is built as this program builds one, and
// comes from a run that there can be.
func noteOf(one *api.IssueComment, p Post, page int) (note, bool) {
	m, ok := markOf(one.GetBody(), safeName(p.Key))
	return note{
		id: one.GetID(), login: one.GetUser().GetLogin(), bot: one.GetUser().GetType() == "Bot",
		body: one.GetBody(), url: one.GetHTMLURL(), page: page, mark: m,
	}, ok && m.credible(p.Job) && composed(one.GetBody(), m)
}

// actionsLogin is who the GITHUB_TOKEN of a job writes as.
const actionsLogin = "github-actions[bot]"

// own are the comments that the token itself wrote. Anybody may copy a comment, so the author decides, and GitHub names
// the author: nothing is asked as long as no comment bears the marker; where one does,
//   - a token of an app ("ghs_…", and GITHUB_TOKEN is one) that finds a comment of github-actions[bot] is taken for
//     GITHUB_TOKEN: only workflows of the same repository write as that bot;
//   - any other token is asked for its login. Where GitHub does not tell, nothing is taken for ours, and the login is
//     learnt from the comment that is then created.
func (c *Client) own(ctx context.Context, all []note) ([]note, error) {
	if len(all) == 0 {
		return nil, nil
	}
	if c.login == "" {
		app := strings.HasPrefix(c.token, "ghs_")
		bots := slices.DeleteFunc(slices.Clone(all), func(n note) bool { return !n.bot })
		switch {
		case app && len(bots) == 0:
			return nil, nil
		case app && slices.ContainsFunc(bots, func(n note) bool { return n.login == actionsLogin }):
			c.login = actionsLogin
		default:
			if err := c.whoami(ctx, app); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(n note) bool { return !c.wrote(n) }), nil
}

// wrote tells whether a comment is by the login of the token. A bot's login ends with "[bot]", which no person's can.
func (c *Client) wrote(n note) bool {
	return c.login != "" && strings.EqualFold(n.login, c.login) && n.bot == strings.HasSuffix(c.login, "[bot]")
}

// whoami asks for the login of the token; that of an app is told by the GraphQL API alone. A refusal leaves it unknown.
func (c *Client) whoami(ctx context.Context, app bool) error {
	ask := []func(context.Context) error{c.askUser, c.askViewer}
	if app {
		ask = ask[1:]
	}
	for _, one := range ask {
		err := one(ctx)
		switch f := c.failure(err); f.kind {
		case worked:
			if c.login != "" {
				return nil
			}
		case denied, gone, invalid:
		default:
			return err
		}
	}
	return nil
}

func (c *Client) askUser(ctx context.Context) error {
	return c.call(ctx, func() (*api.Response, error) {
		u, r, err := c.api.Users.Get(ctx, "")
		c.login = u.GetLogin()
		return r, err
	})
}

func (c *Client) askViewer(ctx context.Context) error {
	// Of GitHub Enterprise Server the REST API is at /api/v3 and GraphQL at /api/graphql; of github.com both are at the root.
	path := strings.TrimSuffix(c.api.BaseURL.Path, "v3/") + "graphql"
	return c.call(ctx, func() (*api.Response, error) {
		request, err := c.api.NewRequest("POST", path, map[string]string{"query": "{viewer{login}}"})
		if err != nil {
			return nil, err
		}
		var answer struct {
			Data struct {
				Viewer struct {
					Login string `json:"login"`
				} `json:"viewer"`
			} `json:"data"`
		}
		r, err := c.api.Do(ctx, request, &answer)
		c.login = answer.Data.Viewer.Login
		return r, err
	})
}
