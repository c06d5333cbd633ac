package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/benchgate/benchgate/internal/report"
)

// The words of the output verdict that are no outcome.
const (
	undecided = "error"      // exit 2: nothing could be decided
	notNeeded = "not-needed" // exit 0: no changed file matches gate.paths
)

// severest are exit codes, the first wins.
var severest = []int{exitUsage, 1, exitServer, 4, exitOK}

// rank is the place of an answer among others, the worst has the lowest: of two as bad, the one of which there is nothing.
func (o answer) rank() int {
	place := 2 * slices.Index(severest, o.code())
	if o.err == nil && !absent(o.verdict) {
		place++
	}
	return place
}

// code is the exit code of the answer.
func (o answer) code() int {
	if o.err != nil {
		return exitUsage
	}
	return o.verdict.ExitCode
}

// shown is the verdict, or what stands in for one where nothing could be decided. It is shown and never written.
func (o answer) shown() gate.Verdict {
	if o.err == nil {
		return o.verdict
	}
	why := "Nothing could be decided: " + strings.Join(append([]string{o.err.Error()}, hints(o.err)...), "\n")
	return gate.Verdict{Outcome: gate.Invalid, ExitCode: exitUsage, Runner: o.runner, Summary: why}
}

// markdown is what is told of the answer in Markdown, where a verdict is rendered as told.
func (o answer) markdown(limit int, of func(gate.Verdict, int) string) string {
	if o.err == nil {
		return of(o.verdict, limit)
	}
	return trouble(o.runner, o.err).Markdown(limit)
}

// trouble is an error as whoever reads a comment needs it.
func trouble(runner string, err error) report.Trouble {
	t := report.Trouble{Runner: runner, Text: strings.Join(append([]string{err.Error()}, hints(err)...), "\n")}
	var mistake *config.Error
	if errors.As(err, &mistake) && mistake.File != "" {
		t.File, t.Next = mistake.File, "Mend the file in a new commit: nothing is judged by one that cannot be read."
	} else if h := (hinted{}); errors.As(err, &h) {
		t.Text, t.Next = err.Error(), capital(h.hint)+"."
	}
	return t
}

func (j judgement) code() int {
	switch {
	case j.unwritten != nil:
		return exitUsage
	case j.needless != "":
		return exitOK
	}
	return j.answers[0].code()
}

// err is the first of what kept an answer from being a verdict, or from being written.
func (j judgement) err() error {
	for _, o := range j.answers {
		if o.err != nil {
			return o.err
		}
	}
	return j.unwritten
}

// lost says in Markdown that what is told beside it could not be written; empty where it was.
func (j judgement) lost() string {
	if j.unwritten == nil {
		return ""
	}
	return "**Not written, exit code 2:** " + report.Aside(j.unwritten.Error()) + "\n\n"
}

// word is the output verdict: the outcome that made the exit code.
func (j judgement) word() string {
	switch {
	case j.err() != nil:
		return undecided
	case j.needless != "":
		return notNeeded
	}
	var like []gate.Outcome
	for _, o := range j.answers {
		if o.code() == j.code() {
			like = append(like, o.verdict.Outcome)
		}
	}
	return string(gate.Worst(gate.Policy{}, like...))
}

// write writes verdict.json and report.html, of several runners each in a folder of its own. What an earlier step left there
// goes first.
func (a *action) write(j *judgement) error {
	if err := sweep(a.in.out, j.answers); err != nil {
		return err
	}
	if j.needless != "" {
		return nil
	}
	var sums []string
	for _, o := range j.answers {
		if o.err != nil {
			continue
		}
		name := "verdict.json"
		if len(j.answers) > 1 {
			name = filepath.Join(o.runner, name)
		}
		path := filepath.Join(a.in.out, name)
		if err := writeVerdict(path, o.verdict); err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		j.sum = fmt.Sprintf("%x", sha256.Sum256(data))
		j.reports = filepath.Join(a.in.out, "report.html")
		sums = append(sums, j.sum+"  "+filepath.ToSlash(name)+"\n")
	}
	if len(j.answers) > 1 && len(sums) > 0 {
		slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[65:], b[65:]) })
		j.sum, j.reports = fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(sums, "")))), a.in.out
	}
	return nil
}

// sweep removes the verdicts that lie where these will. No link is followed: out may be the folder of results.
func sweep(out string, answers []answer) error {
	folders := []string{out}
	for _, o := range answers {
		folders = append(folders, filepath.Join(out, o.runner))
	}
	for _, folder := range folders {
		if err := unlinked(folder); err != nil {
			return fmt.Errorf("write into %q: %w", folder, err)
		}
	}
	for _, folder := range slices.DeleteFunc(folders, func(f string) bool { return !isFolder(f) }) {
		for _, name := range []string{"verdict.json", "report.html"} {
			if err := os.Remove(filepath.Join(folder, name)); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
	return nil
}

// tell says it to the workflow and to whoever reads the job: outputs, log, summary, annotations.
func (a *action) tell(j judgement) {
	a.told = true
	a.output("verdict", j.word())
	a.output("exit-code", strconv.Itoa(j.code()))
	a.output("report", j.reports)
	a.output("verdict-sha256", j.sum)
	if j.needless != "" {
		fmt.Fprintf(a.sh.stdout, "not needed: %s\n", j.needless)
		a.summarize(func(int) string { return j.lost() + needless(j.needless) })
		a.runner.Annotate(j.remarks())
		return
	}
	for _, o := range j.answers {
		if err := report.Write(a.sh.stdout, "text", o.shown()); err != nil {
			a.lost = append(a.lost, err.Error())
		}
	}
	a.summarize(func(limit int) string { return j.render(limit, report.Summary) })
	a.runner.Annotate(j.remarks())
}

// render gives every answer its share of so many bytes; what one does not use is the next one's.
func (j judgement) render(limit int, of func(gate.Verdict, int) string) string {
	var b strings.Builder
	b.WriteString(j.lost())
	for i, o := range j.answers {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(o.markdown((limit-b.Len())/(len(j.answers)-i), of))
	}
	return b.String()
}

// mostWarnings is one less than a step may show, so that there is room to say what became of publishing.
const mostWarnings = 9

// remarks are the annotations, worst first over all runners.
func (j judgement) remarks() []github.Annotation {
	var all []github.Annotation
	if j.unwritten != nil {
		all = append(all, remark("benchgate: decided, and not written", j.unwritten))
	}
	if j.needless != "" {
		return all
	}
	warnings, more := 0, 0
	for _, o := range j.answers {
		if o.err != nil {
			all = append(all, remark(cmp.Or(o.runner, "benchgate")+": nothing could be decided", o.err))
			continue
		}
		for _, n := range onceEach(report.Notes(o.verdict)) {
			if n.Level == "warning" {
				if warnings++; warnings >= mostWarnings {
					more++
					continue
				}
			}
			one := github.Annotation{Level: n.Level, Title: n.Title, Message: n.Message, File: n.File, Line: n.Line}
			if len(j.answers) > 1 {
				one.Title = o.runner + " " + one.Title
			}
			all = append(all, one)
		}
	}
	if more > 0 {
		all = append(all, github.Annotation{Level: "warning", Message: fmt.Sprintf("%d more: the summary of this job has them all", more)})
	}
	return all
}

// onceEach makes one of notes that say the same: nothing was measured, and ten rules lack it.
func onceEach(notes []report.Note) []report.Note {
	var out []report.Note
	like := map[string]int{}
	for _, n := range notes {
		if like[n.Message]++; like[n.Message] == 1 {
			out = append(out, n)
		}
	}
	for i, n := range out {
		if more := like[n.Message] - 1; more > 0 {
			out[i].Title += fmt.Sprintf(", and %d more", more)
		}
	}
	return out
}
