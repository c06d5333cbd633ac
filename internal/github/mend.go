package github

import (
	"context"
	"math/rand/v2"
	"slices"

	api "github.com/google/go-github/v66/github"
)

// mendsMost is how often a comment is written again for what others have overwritten.
const mendsMost = 3

// mend looks, a moment after a write, at what became of it. Another job of the same head may have read the comment
// before our write and written it after, or may have created a second one at the same time: what was lost is written once
// more into the newest comment, and older ones are deleted. A repair is a write that is looked at like the first. GitHub
// has no write that fails where somebody else was faster: a job that takes more than a second between its look and its
// write can still undo what one that has ended wrote.
func (s *sticky) mend(ctx context.Context, page int) {
	pause := betweenWrite
	for range mendsMost {
		if wait(ctx, pause) != nil || !s.mendOnce(ctx, page) {
			return
		}
		pause = betweenWrite + rand.N(2*betweenWrite) // those who repair at once do not look at once
	}
}

// mendOnce tells whether it has written.
func (s *sticky) mendOnce(ctx context.Context, page int) bool {
	now, err := s.c.notes(ctx, s.post, page)
	if err != nil {
		s.c.say(s.c.sentence("look at the comment again", commentPermission, err))
		return false
	}
	own := slices.DeleteFunc(now.notes, func(n note) bool { return !s.c.wrote(n) })
	if len(own) == 0 || slices.ContainsFunc(own, func(n note) bool { return n.newer(s.post.Job.mark()) }) {
		return false
	}
	target := own[len(own)-1]
	others := s.others(own)
	lost := s.lost(target, others)
	if lost {
		if err := s.update(ctx, target, others, s.post.compose(others, commentBytes)); err != nil {
			s.fail("write again what another job has overwritten", err, failed)
			return false
		}
	}
	s.done.CommentURL = target.url
	s.clear(ctx, own[:len(own)-1])
	return lost
}

// lost tells whether a comment lacks a section of ours, or one that another comment holds.
func (s *sticky) lost(n note, others []section) bool {
	there := sectionsOf(n.body)
	has := func(name string, m mark) bool {
		return slices.ContainsFunc(there, func(t section) bool { return t.name == name && t.mark == m })
	}
	for _, m := range s.post.Sections {
		if !has(safeName(m.Name), s.post.Job.mark()) {
			return true
		}
	}
	return slices.ContainsFunc(others, func(o section) bool { return !has(o.name, o.mark) })
}

// clear deletes comments of ours that a newer one stands for, as far as that works.
func (s *sticky) clear(ctx context.Context, old []note) {
	for _, n := range old {
		err := s.c.call(ctx, func() (*api.Response, error) {
			return s.c.api.Issues.DeleteComment(ctx, s.c.owner, s.c.name, n.id)
		})
		if err != nil {
			s.c.say(s.c.sentence("delete an older comment", commentPermission, err))
			if s.c.failure(err).stops() {
				return
			}
		}
	}
}
