package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/repo"
)

// answer is what is said of one runner: a verdict, or why there is none.
type answer struct {
	runner  string
	verdict gate.Verdict
	err     error
	// edited says that the change edits what it is judged by, or is excused for touching nothing else.
	edited bool
}

// judgement is what is said of all, worst first.
type judgement struct {
	answers []answer
	// needless says why nothing had to be measured; empty where something had.
	needless string
	// reports is where report.html is, or the folder of several; empty where there is none.
	reports string
	// sum is the SHA-256 of verdict.json, or of the checksum lines of several.
	sum string
	// unwritten is why files of it could not be written. It is told and published all the same.
	unwritten error
	// unnamed says that the one answer, an error, is of no runner in particular.
	unnamed bool
}

// judge decides again from the files, tells it, and publishes it last: what the API does changes nothing of it.
func (a *action) judge() error {
	j := a.decide()
	if err := a.sh.ctx.Err(); err != nil {
		return err
	}
	if err := a.write(&j); err != nil {
		j.unwritten = withHint(fmt.Errorf("write the verdict: %w", err), "the input out takes a folder that this step can write, on a disk with room")
		j.reports, j.sum = "", ""
	}
	a.tell(j)
	a.publish(j)
	if err := j.err(); err != nil {
		return err
	}
	if code := j.code(); code != exitOK {
		return verdictError(code)
	}
	return nil
}

func (a *action) decide() judgement {
	all, err := a.asked()
	if err != nil {
		return broken(err)
	}
	warnings, unsound := a.sound()
	root, done, err := a.openResults()
	defer done()
	var found map[string]string
	if err = cmp.Or(unsound, err); err == nil {
		found, err = a.results(root, all)
	}
	if err == nil {
		err = a.knowsScenarios(all)
	}
	var needless string
	if err == nil {
		needless, err = a.needless(all, found)
	}
	edited := a.editedBaselines()
	j := judgement{needless: needless}
	for _, q := range all {
		one := answer{runner: q.Runner, err: err}
		if err == nil && needless == "" {
			one.verdict, one.err = a.judgeOne(q, all, found)
			one.verdict.Warnings = slices.Concat(a.pardoned(q), edited, q.changes(), warnings, one.verdict.Warnings)
			one.edited = len(edited)+len(q.changes()) > 0 || a.pardons(q) && one.verdict.Outcome == gate.Observed
		}
		j.answers = append(j.answers, one)
	}
	j.sort()
	return j
}

func (j judgement) sort() {
	slices.SortStableFunc(j.answers, func(a, b answer) int { return a.rank() - b.rank() })
}

// knowsScenarios refuses a scenario that no config has.
func (a *action) knowsScenarios(all []asked) error {
	for _, name := range a.in.scenarios {
		known := slices.ContainsFunc(all, func(q asked) bool {
			_, ok := q.Scenario(name)
			return ok
		})
		if !known {
			return withHint(fmt.Errorf("input scenarios names %q, which no config has", name), "it takes names that stand under scenarios")
		}
	}
	return nil
}

// needless says why nothing had to be measured. Whatever was measured is judged; and where a job before this one came to
// grief, or was kept from running, nobody knows that it was not needed.
func (a *action) needless(all []asked, found map[string]string) (string, error) {
	if a.refs.rules == "" || len(found) > 0 || a.failed(true) != "" {
		return "", nil
	}
	needed, why, err := a.touches(all)
	if needed || err != nil {
		return "", err
	}
	return why, nil
}

// failed names what became of the jobs before this one, where not all of them succeeded.
func (a *action) failed(maySkip bool) string {
	var bad []string
	for _, r := range a.in.upstream {
		if r != "success" && !(maySkip && r == "skipped") && !slices.Contains(bad, r) {
			bad = append(bad, r)
		}
	}
	return strings.Join(bad, ", ")
}

func (a *action) judgeOne(q asked, all []asked, found map[string]string) (gate.Verdict, error) {
	if err := a.twoBuilds(q); err != nil {
		return gate.Verdict{}, err
	}
	p, err := a.policy(q)
	if err != nil {
		return gate.Verdict{}, err
	}
	base, from, faults, err := a.accepted(q)
	if err != nil {
		return gate.Verdict{}, fmt.Errorf("baseline: %w", err)
	}
	v, err := a.verdict(p, q, a.chosen(base), from, found[q.Runner])
	if err != nil {
		return gate.Verdict{}, err
	}
	a.adopting(v, faults)
	v.Warnings = slices.Concat(faulty(faults), v.Warnings)
	if why, next := a.hindrance(found[q.Runner]); why != "" {
		v = v.Withheld(why+parted(q.Runner, all, found), next)
	}
	return v, nil
}

// withheld says why nothing green is told where a job before this one did not succeed, and what to do. Measured says that there
// are results.
func (a *action) withheld(bad string, measured bool) (why, next string) {
	if p := a.job.Pull; p != nil && p.Closed {
		return "The pull request is closed: nothing of it is measured.", capital(closedWay) + "."
	}
	if p := a.job.Pull; p != nil && p.Fork {
		return "The change comes from a fork, whose code is not measured on the lab machine.", capital(forkWay) + "."
	}
	switch {
	case bad == "cancelled":
		return "The measurement was cancelled.", "Re-run failed jobs continues it; of several runners, Re-run all jobs."
	case slices.Contains(a.in.upstream, "cancelled"):
		return fmt.Sprintf("The measurement was cancelled: the jobs before this one ended with %s.", bad),
			"See the log of the job that failed; run it again when its cause is gone. The campaign is continued."
	case !measured && a.in.upstream[0] == "failure" && slices.Contains(a.in.upstream, "skipped"):
		return "The first job before this one failed, so the one that measures was skipped: nothing was measured.",
			"See the log of that first job, which says what to mend; then re-run all jobs, or push the commit that mends it."
	case bad == "skipped":
		return "The job that measures was skipped, and the change does need a measurement.",
			"See its condition (if:) and the outputs it reads; then re-run all jobs."
	}
	return fmt.Sprintf("A job before this one did not succeed: %s.", bad),
		"See the log of the job that did not; run it again when its cause is gone. A campaign that was begun is continued."
}

// capital makes a sentence of a hint.
func capital(hint string) string { return strings.ToUpper(hint[:1]) + hint[1:] }

// policy is what stands at base, of the scenarios that were asked for.
func (a *action) policy(q asked) (gate.Policy, error) {
	p := q.Policy
	p.Proposed, p.GateOnly = q.alone == "head", a.pardons(q)
	var err error
	if p.Rewritten, err = a.rewritten(q); err != nil {
		return p, err
	}
	if len(a.in.scenarios) == 0 {
		return p, nil
	}
	return only(p, a.in.scenarios), nil
}

// only is the policy of some scenarios.
func only(p gate.Policy, names []string) gate.Policy {
	p.Scenarios = both(p.Scenarios, names)
	var rules []gate.Rule
	for _, r := range p.Rules {
		if len(r.Scenarios) > 0 {
			if r.Scenarios = both(r.Scenarios, names); len(r.Scenarios) == 0 {
				continue
			}
		}
		rules = append(rules, r)
	}
	p.Rules = rules
	p.Waivers = slices.DeleteFunc(slices.Clone(p.Waivers), func(w gate.Waiver) bool { return !slices.Contains(names, w.Scenario) })
	return p
}

func both(all, names []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !slices.Contains(names, s) })
}

// rewritten names, by scenario, what the change itself changes of what has to agree.
func (a *action) rewritten(q asked) (map[string][]string, error) {
	if q.alone != "" || a.refs.rules == "" {
		return nil, nil
	}
	return q.Rewritten(q.edits, func(file string) (bool, error) { return a.differs(q, file) })
}

// differs reports whether a dataset's file is another one at the head than at base.
func (a *action) differs(q asked, file string) (bool, error) {
	if filepath.IsAbs(file) {
		return false, nil
	}
	name := filepath.ToSlash(filepath.Join(filepath.Dir(filepath.FromSlash(q.name)), file))
	return repo.Differs(a.sh.ctx, "", a.refs.rules, "HEAD", name)
}

// verdict decides what one runner measured.
func (a *action) verdict(p gate.Policy, q asked, base []bench.Digest, from, folder string) (gate.Verdict, error) {
	nothing := bare(referred(gate.Decide(p, base, nil), from))
	nothing.Runner = q.Runner
	if folder == "" {
		return nothing.Withheld(fmt.Sprintf("There are no results of runner %q in %q: its folder %s/ was looked for there and one level below.", q.Runner, a.in.results, q.Runner), nextUpload), nil
	}
	head, source, err := baseline.Read(folder, q.Runner)
	if errors.Is(err, baseline.ErrNone) {
		return nothing.Withheld(fmt.Sprintf("The results of runner %q hold no run of the candidate: its campaign ended before one was measured.", q.Runner), nextLog), nil
	}
	if err != nil {
		return gate.Verdict{}, fmt.Errorf("candidate: %w", err)
	}
	references, beside, err := references(source.Files)
	if err != nil {
		return gate.Verdict{}, err
	}
	warnings, why, next, err := a.origins(folder, references)
	if err != nil {
		return gate.Verdict{}, err
	}
	if why != "" {
		return nothing.Withheld(why, next), nil
	}
	h := held{p, base, from, a.chosen(references), beside, a.design(q)}
	if why := cmp.Or(a.foreign(q, folder, head, references), misfit(h.design, folder, head, references), a.unplanned(q, head, references)); why != "" {
		return nothing.Refused(why, nextMeasure), nil
	}
	v, err := h.turned(a.chosen(head), nothing)
	if err != nil {
		return gate.Verdict{}, err
	}
	v.Runner, v.Attempts = q.Runner, attempts(folder)
	v.Warnings = slices.Concat(warnings, v.Warnings)
	return v, nil
}

// nextUpload is what to do where there are no results.
const nextUpload = "See whether the job that measures ran and uploaded its results, and whether this job downloads them to where the input results says."

// nextLog is what to do where a campaign measured nothing and left no word.
const nextLog = "See the log of the job that measures, and those of its servers among its results."

// turned decides, and withholds it where scenarios have no run of the reference that they were to be in turn with.
func (h held) turned(head []bench.Digest, nothing gate.Verdict) (gate.Verdict, error) {
	lonely := lonely(h.design, head, h.references)
	if len(lonely) == 0 {
		return h.decide(head)
	}
	v := nothing
	if len(lonely) < len(head) {
		var err error
		if v, err = h.decide(head); err != nil {
			return v, err
		}
	}
	return v.Withheld(fmt.Sprintf("The results hold no run of the reference for %s.", strings.Join(lonely, ", ")), nextMeasure), nil
}
