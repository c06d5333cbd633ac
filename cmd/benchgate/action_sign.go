package main

import (
	"cmp"
	"fmt"
	"regexp"

	"github.com/benchgate/benchgate/internal/github"
)

// signatureLeast is the room that a section needs beside its signature: where there is less, the verdict is all it says.
const signatureLeast = 200

var (
	// plainAddress is one that Markdown takes as it stands.
	plainAddress = regexp.MustCompile(`^https?://[A-Za-z0-9.:-]+(/[A-Za-z0-9._~-]+)*$`)
	isCommit     = regexp.MustCompile(`^[0-9a-f]{40,64}$`)
)

// signed puts below each section which commit and which run it is about: a comment outlives both.
func (a *action) signed(j judgement) []github.Section {
	sections := j.sections()
	for i, o := range j.answers {
		render, line := sections[i].Render, a.signature(o.err == nil && j.needless == "")
		sections[i].Render = func(limit int) string {
			if line == "" || limit-len(line) < signatureLeast {
				return render(limit)
			}
			return render(limit-len(line)) + line
		}
	}
	return sections
}

// signature is the last line of a section: "For `fbe8a5b`, [run 42, attempt 1](https://…)". Its link is the only one in a
// comment.
func (a *action) signature(reported bool) string {
	line := ""
	if commit := cmp.Or(a.job.Inputs["head"], a.job.Head()); isCommit.MatchString(commit) {
		line = fmt.Sprintf("For `%.7s`, ", commit)
	}
	if a.job.RunID == 0 {
		return ""
	}
	run := fmt.Sprintf("run %d, attempt %d", a.job.RunID, a.job.RunAttempt)
	if at := a.job.URL(); plainAddress.MatchString(at) {
		run = "[" + run + "](" + at + ")"
	}
	if reported {
		run += "; report.html is in its artifacts"
	}
	return "\n" + line + run + ".\n"
}
