package main

import (
	"cmp"
	"slices"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/benchgate/benchgate/internal/report"
)

// broken is the judgement where an error came before anything was decided: it is of no runner yet.
func broken(err error) judgement {
	return judgement{answers: []answer{{err: err}}, unnamed: true}
}

// named gives an answer that is of no runner to each runner that can be named, so that what was published of them before
// does not stand. Where not all can be, the rest of the names comes from the comment that was published.
func (a *action) named(j judgement) (named judgement, all bool) {
	if !j.unnamed {
		return j, true
	}
	names, all := a.names()
	if len(names) == 0 {
		return j, false
	}
	err := j.answers[0].err
	j.answers, j.unnamed = nil, false
	for _, name := range names {
		j.answers = append(j.answers, answer{runner: name, err: err})
	}
	return j, all
}

// names are the runners of the configs that can be read, in the checkout or at base, whatever else is wrong; all says that
// there is no other config. They are read anew: the error may have come before they were read, or of one of them.
func (a *action) names() (names []string, all bool) {
	rules := cmp.Or(a.refs.rules, a.in.configRef, a.in.baselineRef, a.job.Base())
	if !a.placed {
		rules = ""
	}
	c := a.configs(rules)
	all = a.placed && c.headErr == nil && c.baseErr == nil
	read := map[string]bool{}
	for _, side := range []map[string][]byte{c.heads, c.bases} {
		for file, data := range side {
			c, err := config.Parse(file, data)
			read[file] = read[file] || err == nil
			if err == nil && !slices.Contains(names, c.Runner) {
				names = append(names, c.Runner)
			}
		}
	}
	for _, ok := range read {
		all = all && ok
	}
	slices.Sort(names)
	return names, all
}

// stale says the error of a runner whose name only the comment knows.
func (a *action) stale(err error) func(name string) github.Section {
	return func(name string) github.Section {
		return a.signed(judgement{answers: []answer{{runner: name, err: err}}})[0]
	}
}

// withdrawal is what becomes of the statuses that other attempts left green. Where not all runners can be named, told is the
// error of all of them.
func (a *action) withdrawal(told judgement, all bool) *github.Withdrawal {
	w := &github.Withdrawal{Branch: a.branch(), All: !all, Description: "not judged by the latest attempt: its summary says what is"}
	if !all {
		w.Description = report.Line(told.answers[0].shown(), mostDescription)
	}
	return w
}
