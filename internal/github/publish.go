package github

import (
	"context"
	"slices"
)

// Post is what a job has to say.
type Post struct {
	Job      Job
	Key      string    // names the comment: a pull request has one of each key
	Sections []Section // none: no comment
	Statuses []Status  // none: no status
	Quiet    bool      // an own comment is updated; none is created
	Blocking bool      // statuses that keep a change from being merged are written, and no others
	// Part is what of the gate the post is about, such as the path of its config; another job of the same Key has another. ""
	// is not known.
	Part string
	// Withdraw is set where statuses are asked for: what other attempts of this Part left green is looked for. Nil: it stands.
	Withdraw *Withdrawal
	// Stale is set where nobody can say which runners the post is about. Each section that an own comment has of the same head
	// and an earlier attempt is then replaced by what Stale makes of its name; a section without a name is left out where there
	// are such. Nil: sections of others stay as they are.
	Stale func(name string) Section
}

// Section is one runner's part of the comment.
type Section struct {
	Name   string                 // the runner; another job's section of the same name is replaced. One without a name is kept by no later post
	Rank   int                    // sections stand in this order, lowest first, then by name
	Render func(limit int) string // Markdown of at most so many bytes; what is longer is cut
}

// Status is one mark beside a commit.
type Status struct {
	Context     string // its name, such as "benchgate/h100-1x"
	State       string // "success", "failure", "pending"; anything else counts as "error"
	Description string // cut to 140 characters
}

// Posted is what became of a post.
type Posted struct {
	Comment    string   // created, updated, unchanged, superseded, skipped or failed
	CommentURL string   // "" unless there is one
	Errors     []string // what was not published, why, and what to do; each on one line, with foreign text in it
	Calls      int      // calls to the API, those of a client before this post included
}

// Publish writes the comment, then the statuses. It returns when that is done or its time is over; what fails is told,
// and changes nothing but what is published. A channel that fails stops no other, unless no call could succeed.
func (c *Client) Publish(ctx context.Context, p Post) Posted {
	ctx, cancel := c.within(ctx)
	defer cancel()
	if !isHash.MatchString(p.Job.Head()) {
		return Posted{Comment: skipped, Errors: []string{"publish: the commit to publish for is not known"}}
	}
	p.Job.RunAttempt = max(p.Job.RunAttempt, 1)
	kept := min(len(p.Statuses), statusesKept)
	if p.Withdraw != nil {
		kept = statusesKept
	}
	c.wire.most -= kept
	s := c.comment(ctx, p)
	c.wire.most += kept
	switch {
	case s.stop:
	case s.done.Comment == superseded && s.sameHead:
		// A later run of the same commit has said, or will say, how it stands. It may be wrong, or forged: what blocks is said.
		s.post.Blocking = true
		s.done.Errors = append(s.done.Errors, c.statuses(ctx, s.post)...)
	default:
		s.done.Errors = append(s.done.Errors, c.statuses(ctx, s.post)...)
	}
	s.done.Errors = slices.Compact(s.done.Errors)
	s.done.Calls = c.wire.calls
	return s.done
}
