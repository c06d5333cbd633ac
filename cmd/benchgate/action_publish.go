package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/benchgate/benchgate/internal/report"
)

// publish tells it on the pull request. It comes last, and whatever becomes of it is a warning.
func (a *action) publish(j judgement) {
	posted := a.post(j)
	if len(posted.Errors) > 0 {
		what := strings.Join(posted.Errors, "; ")
		a.runner.Annotate([]github.Annotation{{Level: "warning", Title: "benchgate: not published", Message: what + ". The verdict and the exit code stay what they are."}})
		a.summarize(func(int) string { return "\n**Not published:** " + report.Aside(what) + "\n" })
	}
	a.output("comment-state", posted.Comment)
	a.output("publish-errors", strings.Join(posted.Errors, "\n"))
}

// post makes the calls, if there are any to make.
func (a *action) post(j judgement) github.Posted {
	none := github.Posted{Comment: "skipped"}
	number := a.number()
	told := j
	j, all := a.named(j)
	post := github.Post{Job: a.job, Key: cmp.Or(a.in.commentKey, a.job.Workflow, "benchgate"), Part: filepath.ToSlash(filepath.Clean(a.in.config))}
	if a.in.comment != "never" && number != 0 && !a.closed() {
		post.Sections = a.signed(j)
		post.Quiet = a.in.comment == "auto" && !j.speaks()
	}
	if a.in.status && a.proposed() && !a.closed() { // a commit may be proposed anew, by one that is open
		post.Withdraw = a.withdrawal(told, all)
		if !j.unnamed {
			post.Statuses = j.statuses(a.branch())
		}
	}
	if !all && len(post.Sections) > 0 {
		post.Stale = a.stale(told.answers[0].err)
	}
	if len(post.Sections) == 0 && post.Withdraw == nil {
		return none
	}
	client, err := github.NewClient(github.ClientOptions{
		API: cmp.Or(a.in.api, a.job.API), Token: a.in.token, Repository: a.job.Repository,
		Say: func(s string) { a.sh.talk.say("%s", s) },
	})
	if err != nil {
		return github.Posted{Comment: "failed", Errors: []string{err.Error()}}
	}
	if a.job.Inputs["pull-request"] != "" {
		return a.postDispatched(client, post, number)
	}
	return client.Publish(a.sh.ctx, post)
}

// closed reports whether the pull request of the job is closed. What its comment says was measured, and this job has nothing better.
func (a *action) closed() bool { return a.job.Pull != nil && a.job.Pull.Closed }

// postDispatched tells the pull request that a dispatch names, while it stands at the commit that was measured. That commit is
// told what blocks in any case: it may be the head again.
func (a *action) postDispatched(client *github.Client, post github.Post, number int) github.Posted {
	posted := github.Posted{Comment: "skipped"}
	if number != 0 {
		pull, err := client.Pull(a.sh.ctx, number)
		switch {
		case err != nil:
			posted = github.Posted{Comment: "failed", Errors: []string{err.Error()}}
		case a.measured(pull.HeadSHA):
			post.Job.Pull = &pull
			return client.Publish(a.sh.ctx, post)
		default:
			posted.Comment = "superseded"
			a.sh.talk.say("pull request %d has a newer head, %.12s: it is told nothing", number, pull.HeadSHA)
		}
	}
	post.Job.Pull = &github.Pull{Number: number, HeadSHA: a.job.Inputs["head"]}
	post.Sections, post.Blocking = nil, true
	if post.Withdraw != nil && isCommit.MatchString(post.Job.Pull.HeadSHA) {
		beside := client.Publish(a.sh.ctx, post)
		posted.Errors, posted.Calls = append(posted.Errors, beside.Errors...), beside.Calls
	}
	return posted
}

// branch is the one that the change would be merged into; of a dispatch it is that on which it was started, whose history holds
// the base.
func (a *action) branch() string {
	ref := a.job.Ref
	switch {
	case a.job.Pull != nil:
		return a.job.Pull.BaseRef
	case a.job.Group != nil:
		ref = a.job.Group.BaseRef
	}
	return strings.TrimPrefix(ref, "refs/heads/")
}

// number is that of the pull request to tell; 0 is none.
func (a *action) number() int {
	if a.job.Pull != nil {
		return a.job.Pull.Number
	}
	n, err := strconv.Atoi(a.job.Inputs["pull-request"])
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// measured reports whether a commit is the one that a dispatch measured.
func (a *action) measured(sha string) bool { return sha != "" && sha == a.job.Inputs["head"] }

// speaks says whether there is something to read that a green check does not say: anything but a plain pass, or a change of
// what it was judged by.
func (j judgement) speaks() bool {
	switch {
	case j.unwritten != nil:
		return true
	case j.needless != "":
		return false
	}
	return slices.ContainsFunc(j.answers, func(o answer) bool {
		return o.err != nil || o.edited || o.verdict.Outcome != gate.Pass && o.verdict.Outcome != gate.Observed
	})
}

// sections are what the comment says of each runner.
func (j judgement) sections() []github.Section {
	var all []github.Section
	for _, o := range j.answers {
		lost := j.lost()
		render := func(limit int) string { return lost + o.markdown(max(limit-len(lost), 0), report.Comment) }
		if j.needless != "" {
			render = func(int) string { return lost + needless(j.needless) }
		}
		name := o.runner
		if j.unnamed {
			name = ""
		}
		all = append(all, github.Section{Name: name, Rank: o.rank(), Render: render})
	}
	return all
}

// statuses are the marks beside the commit, which is to be merged into a branch.
func (j judgement) statuses(branch string) []github.Status {
	var all []github.Status
	for _, o := range j.answers {
		one := github.Status{Context: github.StatusContext(o.runner, branch), State: "failure", Description: report.Line(o.shown(), mostDescription)}
		switch good := j.needless != "" || o.code() == exitOK; {
		case good && j.unwritten != nil:
			one.State, one.Description = "error", "decided, and not written: the job's summary says why"
		case j.needless != "":
			one.State, one.Description = "success", "not needed: the change touches nothing that gate.paths counts"
		case o.err != nil:
			one.State = "error"
		case o.code() == exitOK:
			one.State = "success"
		}
		all = append(all, one)
	}
	return all
}

// mostDescription is how many characters the description of a status may have.
const mostDescription = 140
