package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	api "github.com/google/go-github/v66/github"
)

// What became of a comment.
const (
	created    = "created"
	updated    = "updated"
	unchanged  = "unchanged"  // it says all of this already
	superseded = "superseded" // a later run has written, or the head of the pull request has moved
	skipped    = "skipped"    // nothing was written, because nothing had to be or nothing may be
	failed     = "failed"     // it could not be written
)

const commentPermission = "pull-requests: write"

// sticky is the work on the one comment of a post.
type sticky struct {
	c    *Client
	post Post
	done Posted
	stop bool // no call after this can succeed
	// sameHead says that the run that came before this one is of the same commit.
	sameHead bool
}

// comment writes the comment of a post.
func (c *Client) comment(ctx context.Context, p Post) *sticky {
	s := &sticky{c: c, post: p, done: Posted{Comment: skipped}}
	if p.Job.Pull == nil || len(p.Sections) == 0 {
		return s
	}
	pull, err := c.pull(ctx, p.Job.Pull.Number)
	switch {
	case err != nil:
		s.fail("read the pull request before its comment is written", err, skipped)
		return s
	case pull.HeadSHA != p.Job.Head():
		s.done.Comment = superseded
		return s
	}
	found, err := c.notes(ctx, p, 1)
	if err != nil {
		s.fail("look for the comment among those there are", err, skipped)
		return s
	}
	own, err := c.own(ctx, found.notes)
	if err != nil {
		s.fail("find out who the token writes as", err, skipped)
		return s
	}
	s.write(ctx, own, found)
	return s
}

// fail records why something was not done.
func (s *sticky) fail(what string, err error, state string) {
	f := s.c.failure(err)
	s.stop = s.stop || f.stops()
	if f.stops() {
		state = failed
	}
	s.done.Comment = state
	s.done.Errors = append(s.done.Errors, s.c.sentence(what, commentPermission, err))
}

// write updates the newest comment of ours, or creates one.
func (s *sticky) write(ctx context.Context, own []note, found listing) {
	s.renew(own)
	if len(own) == 0 {
		if s.post.Quiet {
			return
		}
		s.create(ctx, nil, found)
		return
	}
	target := own[len(own)-1]
	s.done.CommentURL = target.url
	if at := slices.IndexFunc(own, func(n note) bool { return n.newer(s.post.Job.mark()) }); at >= 0 {
		s.done.Comment, s.done.CommentURL = superseded, own[at].url
		s.sameHead = own[at].head == s.post.Job.Head()
		return
	}
	others := s.others(own)
	body := s.post.compose(others, commentBytes)
	if sameText(body, target.body) {
		s.done.Comment = unchanged
		s.clear(ctx, own[:len(own)-1])
		return
	}
	err := s.update(ctx, target, others, body)
	if s.c.failure(err).kind == unknown && s.holds(ctx, found, target.id, body) {
		err = nil
	}
	switch f := s.c.failure(err); f.kind {
	case worked:
		s.done.Comment = updated
		s.mend(ctx, found.from())
	case gone:
		s.create(ctx, others, found)
	case denied:
		s.c.say("the comment is another's: writing a new one")
		s.create(ctx, others, found)
	case locked:
		s.fail("update the comment", err, skipped)
	default:
		s.fail("update the comment", err, failed)
	}
}

// update sets the text of a comment; once more in short where GitHub finds it too long.
func (s *sticky) update(ctx context.Context, n note, others []section, body string) error {
	set := func(body string) error {
		return s.c.call(ctx, func() (*api.Response, error) {
			got, r, err := s.c.api.Issues.EditComment(ctx, s.c.owner, s.c.name, n.id, &api.IssueComment{Body: &body})
			if err == nil && got.GetID() != n.id {
				err = fmt.Errorf("%w: it names another comment", errAnswer)
			}
			return r, err
		})
	}
	err := set(body)
	if s.c.failure(err).kind == tooLong {
		err = set(s.post.compose(others, commentShort))
	}
	return err
}

// holds tells whether a write whose answer was lost has come about.
func (s *sticky) holds(ctx context.Context, before listing, id int64, body string) bool {
	now, err := s.c.notes(ctx, s.post, before.from())
	return err == nil && slices.ContainsFunc(now.notes, func(n note) bool { return n.id == id && sameText(n.body, body) })
}

// create writes a new comment, and learns from it who the token writes as. Comments of ours that could not be told from
// those of others before it are then cleared away.
func (s *sticky) create(ctx context.Context, others []section, before listing) {
	var made note
	add := func(body string) error {
		return s.c.create(ctx, func() (*api.Response, error) {
			got, r, err := s.c.api.Issues.CreateComment(ctx, s.c.owner, s.c.name, s.post.Job.Pull.Number, &api.IssueComment{Body: &body})
			if err != nil {
				return r, err
			}
			made, err = createdNote(got, r, s.post)
			return r, err
		}, func() (found bool, err error) {
			made, found, err = s.lookAgain(ctx, before, body)
			return found, err
		})
	}
	err := add(s.post.compose(others, commentBytes))
	if s.c.failure(err).kind == tooLong {
		err = add(s.post.compose(others, commentShort))
	}
	switch f := s.c.failure(err); f.kind {
	case worked:
		s.done.Comment, s.done.CommentURL = created, made.url
		s.c.login = made.login
		s.mend(ctx, before.from())
	case denied, locked, gone:
		s.fail("write the comment", err, skipped)
	default:
		s.fail("write the comment", err, failed)
	}
}

// createdNote believes an answer only where it shows the comment that was sent.
func createdNote(got *api.IssueComment, r *api.Response, p Post) (note, error) {
	n, ok := noteOf(got, p, 0)
	switch {
	case r == nil || r.StatusCode != http.StatusCreated:
		return note{}, fmt.Errorf("%w: it does not say that a comment was created", errAnswer)
	case !ok || n.id == 0 || n.mark.head != p.Job.Head():
		return note{}, fmt.Errorf("%w: it shows another comment", errAnswer)
	}
	return n, nil
}

// lookAgain looks for a comment that a POST with a lost answer may have made.
func (s *sticky) lookAgain(ctx context.Context, before listing, body string) (note, bool, error) {
	now, err := s.c.notes(ctx, s.post, before.from())
	if err != nil {
		return note{}, false, err
	}
	own, err := s.c.own(ctx, now.notes)
	if err != nil {
		return note{}, false, err
	}
	for _, n := range slices.Backward(own) {
		old := slices.ContainsFunc(before.notes, func(b note) bool { return b.id == n.id })
		if !old && sameText(n.body, body) {
			return n, true, nil
		}
	}
	return note{}, false, nil
}

// others are the sections that other jobs wrote for the same head, each once and the newest of it.
func (s *sticky) others(own []note) []section {
	var kept []section
	for _, n := range own {
		for _, o := range sectionsOf(n.body) {
			mine := slices.ContainsFunc(s.post.Sections, func(m Section) bool { return safeName(m.Name) == o.name })
			if mine || o.head != s.post.Job.Head() || o.name == safeName("") {
				continue
			}
			at := slices.IndexFunc(kept, func(k section) bool { return k.name == o.name })
			switch {
			case at < 0:
				kept = append(kept, o)
			case !kept[at].newer(o.mark):
				kept[at] = o
			}
		}
	}
	return kept
}

// renew makes the post say anew what its own comments say of the same head and of an earlier attempt, where it is one that can
// name no runner.
func (s *sticky) renew(own []note) {
	if s.post.Stale == nil {
		return
	}
	at := s.post.Job.mark()
	var names []string
	for _, n := range own {
		for _, o := range sectionsOf(n.body) {
			if o.head == at.head && at.newer(o.mark) && o.name != safeName("") && !slices.Contains(names, o.name) {
				names = append(names, o.name)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	post := s.post
	post.Sections = slices.DeleteFunc(slices.Clone(post.Sections), func(m Section) bool { return m.Name == "" })
	for _, name := range names {
		if slices.ContainsFunc(post.Sections, func(m Section) bool { return safeName(m.Name) == name }) {
			continue
		}
		post.Sections = append(post.Sections, post.Stale(plainName(name)))
	}
	s.post = post
}

func sameText(a, b string) bool {
	norm := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return norm(a) == norm(b)
}
