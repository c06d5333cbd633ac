package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/repo"
)

// mostEdits is how many edits of one config are named: more than a change by hand makes. A comment folds all but the first.
const mostEdits = 500

// asked is what is asked of one runner: rules as they stand at base, the build under test as it stands at the head.
type asked struct {
	config.Config
	edits config.Edits
	// name is the path of the file, from the working folder, with slashes.
	name string
	// again reads it anew, with what the same file in the checkout of the reference says of its target; nil where base has no
	// such file.
	again func(file string, text []byte) (config.Config, error)
	// unread is why the file at base cannot be used; nil where it can, or is not there. It is then as if it were not.
	unread error
	// alone says that only one side has the file: "base" or "head"; empty where both have it.
	alone string
}

// refs are the commits that a change is held against; empty where nothing is proposed, as in a nightly run: then the checkout
// is held against itself.
type refs struct {
	// base is what the change would be merged into, rules the commit whose config holds, baselines that of the baselines.
	base, rules, baselines string
}

func (a *action) findRefs() error {
	base, err := a.base()
	if err != nil && (a.in.mode == "plan" || a.in.baselineRef == "" || !a.atHead()) {
		return err
	}
	a.refs = refs{base: base, rules: cmp.Or(a.in.configRef, a.in.baselineRef, base), baselines: cmp.Or(a.in.baselineRef, base)}
	return nil
}

// base is where the event says that the change would be merged. GitHub checks out its own merge of a pull request: there it is
// what was merged into, which may be newer than what the event says, but no other branch.
func (a *action) base() (string, error) {
	head := a.job.Inputs["head"]
	if a.job.Pull != nil {
		head = a.job.Pull.HeadSHA
	}
	parents, err := repo.Parents(a.sh.ctx, "", "HEAD")
	switch {
	case err == nil && len(parents) == 2 && head != "" && parents[1] == head:
		return a.guarded(parents[0])
	case a.job.Inputs["pull-request"] != "":
		return "", withHint(fmt.Errorf("the checkout is not GitHub's merge of commit %.40q, which the input head names: no base is known", head),
			"somebody has pushed since, or the pull request conflicts; read it again, or set the inputs config-ref and baseline-ref")
	}
	return a.job.Base(), nil
}

// atHead reports whether the checkout is the very commit that a dispatch names.
func (a *action) atHead() bool {
	id, err := repo.Resolve(a.sh.ctx, "", "HEAD")
	return err == nil && id == a.job.Inputs["head"]
}

// asked reads the configs of all runners: one file, or those of a folder.
func (a *action) asked() ([]asked, error) {
	c := a.configs(a.refs.rules)
	switch {
	case c.headErr != nil:
		return nil, c.headErr
	case c.baseErr != nil:
		return nil, withHint(c.baseErr, "check out with fetch-depth: 0, so that the base commit is there")
	case len(c.heads)+len(c.bases) == 0:
		return nil, withHint(fmt.Errorf("read config %q: it is neither in the checkout nor at base", c.name), "benchgate init writes one; the input config names another file or folder")
	}
	faults := a.mended(c)
	if len(faults) == 0 {
		return askAll(c, a.refs.rules != "")
	}
	maps.DeleteFunc(c.bases, func(n string, _ []byte) bool { return faults[n] != nil })
	if len(c.files()) == 0 {
		return nil, withHint(fmt.Errorf("config %q cannot be used at base, and the change removes it: nothing says what to measure", c.name), "mend it in a change of its own, and remove it in another")
	}
	all, err := askAll(c, true)
	for i, q := range all {
		all[i].unread = faults[q.name]
	}
	return all, err
}

func askAll(c configs, against bool) ([]asked, error) {
	var all []asked
	for _, n := range c.files() {
		q, err := ask(n, c.heads[n], c.bases[n], against)
		if err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	slices.SortFunc(all, func(a, b asked) int { return cmp.Compare(a.Runner, b.Runner) })
	for i := range all[1:] {
		if all[i].Runner == all[i+1].Runner {
			return nil, sameRunner(all[i].name, all[i+1].name, all[i].Runner)
		}
	}
	return all, nil
}

func ask(name string, head, base []byte, against bool) (asked, error) {
	q := asked{name: name}
	var err error
	switch {
	case head == nil:
		q.alone = "base"
		q.Config, err = config.Parse(name, base)
	case base == nil:
		if against {
			q.alone = "head"
		}
		q.Config, err = config.Parse(name, head)
	default:
		q.Config, q.edits, err = config.ParseAgainst(name, head, base)
		q.again = func(file string, text []byte) (config.Config, error) {
			c, _, err := config.ParseAgainstBeside(name, head, base, file, text)
			return c, err
		}
	}
	return q, err
}

// changes says what the head changes of its target, which is what is measured, and of what it is judged by, of which nothing has
// an effect before it is merged.
func (q asked) changes() []string {
	var lines []string
	switch {
	case q.unread != nil:
		lines = append(lines, q.unreadLine())
	case q.alone == "head":
		lines = append(lines, fmt.Sprintf("%s is not there at base: its rules are those of the change itself", q.name))
	case q.alone == "base":
		lines = append(lines, fmt.Sprintf("the change removes %s: it is judged by what stands at base", q.name))
	}
	for _, l := range q.edits.UnderTest(mostEdits) {
		lines = append(lines, fmt.Sprintf("the change edits the target of %s, which is what is under test: %s", q.name, l))
	}
	for _, l := range q.edits.Lines(mostEdits) {
		lines = append(lines, fmt.Sprintf("the change edits %s, which has no effect before it is merged: %s", q.name, l))
	}
	return lines
}
