package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// servedEvents are those that may start benchgate. Of another, which may belong to a pull request all the same, nobody would
// know the base, and the change would be judged by its own rules.
var servedEvents = []string{"pull_request", "merge_group", "workflow_dispatch", "schedule", "push"}

// served refuses a job that benchgate does not know how to judge.
func (a *action) served() error {
	hint := "let the workflow start on pull_request and merge_group"
	switch event := a.job.Event; {
	case event == "pull_request_target":
		return withHint(errors.New("event pull_request_target is refused: it hands the rights of this repository to the code of a stranger"), "%s", hint)
	case !slices.Contains(servedEvents, event):
		return withHint(fmt.Errorf("event %s is refused: what it proposes, and against which commit, is not known", event),
			"%s; what is served is %s", hint, strings.Join(servedEvents, ", "))
	}
	if number := a.job.Inputs["pull-request"]; number != "" && a.number() == 0 {
		return withHint(fmt.Errorf("input pull-request of the dispatch is %.80q", number), "it takes the number of a pull request; without one the branch itself is measured")
	}
	return nil
}

// proposed reports whether somebody asks to merge what this job judges. A night and a push only say where a branch stands.
func (a *action) proposed() bool {
	return a.job.Pull != nil || a.job.Group != nil || a.job.Inputs["pull-request"] != ""
}
