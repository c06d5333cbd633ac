package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/artifact"
	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/benchgate/benchgate/internal/repo"
	"github.com/benchgate/benchgate/internal/report"
)

// openResults is the folder of results, empty where there is none. They are a stranger's: artifact looks at every file first,
// and unpacks what is a zip.
func (a *action) openResults() (root string, done func(), err error) {
	done = func() {}
	root, err = artifact.Open(a.in.results, cmp.Or(a.sh.getenv("RUNNER_TEMP"), os.TempDir()))
	if errors.Is(err, fs.ErrNotExist) {
		return "", done, nil
	}
	if errors.Is(err, artifact.ErrTooMuch) {
		err = withHint(err, "%s", tooMuchWay)
	}
	if err == nil && root != a.in.results {
		done = func() { _ = os.RemoveAll(root) }
	}
	return root, done, err
}

// tooMuchWay is what to do where results are more than is read.
const tooMuchWay = "measure less at once: fewer runs (campaign.runs, campaign.looks), fewer requests or shorter outputs; or judge runners in workflows of their own. Folder vllm, rows and the logs of servers do not count"

// tellSize warns where what lies among the results now is more than the job that judges will read, or nothing that it will take.
func (a *action) tellSize() {
	if _, err := artifact.Open(a.in.out, ""); err != nil && !errors.Is(err, fs.ErrNotExist) {
		what := legible(err.Error())
		a.runner.Annotate([]github.Annotation{{Level: "warning", Title: "benchgate: the job that judges will refuse these results", Message: what + ". To do: " + tooMuchWay + "."}})
		a.summarize(func(int) string {
			return "**The job that judges will refuse these results:** " + report.Aside(what+". To do: "+tooMuchWay+".") + "\n"
		})
	}
}

// results is where the campaign of each runner lies. The folder may be one that run wrote, or hold several, as artifacts are
// downloaded.
func (a *action) results(root string, all []asked) (map[string]string, error) {
	if root == "" {
		return nil, nil
	}
	found := map[string]string{}
	for _, q := range all {
		folders := foldersOf(root, q.Runner)
		switch {
		case len(folders) > 1:
			return nil, withHint(fmt.Errorf("read results %q: there are %d folders of runner %q", a.in.results, len(folders), q.Runner), "download the artifact of this attempt alone")
		case len(folders) == 1:
			found[q.Runner] = folders[0]
		case len(all) == 1 && len(digestsIn(root)) > 0:
			found[q.Runner] = root
		}
	}
	return found, nil
}

// foldersOf are the folders of a runner: at the top, or one below.
func foldersOf(root, runner string) []string {
	var found []string
	for _, pattern := range []string{"", "*"} {
		found = append(found, within(root, path.Join(pattern, runner))...)
	}
	return slices.DeleteFunc(found, func(folder string) bool { return !isFolder(folder) })
}

// baselines is where they are read: of a commit, by git objects alone, where there is a base.
func (a *action) baselines() string {
	if a.refs.baselines != "" {
		return "ref:" + a.refs.baselines
	}
	return baseline.Folder
}

// chosen are the digests of the scenarios that were asked for.
func (a *action) chosen(all []bench.Digest) []bench.Digest {
	if len(a.in.scenarios) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(d bench.Digest) bool { return !slices.Contains(a.in.scenarios, d.Scenario) })
}

// editedBaselines names the baselines that the change touches: they are read as they stand at base.
func (a *action) editedBaselines() []string {
	if a.refs.baselines == "" {
		return nil
	}
	changed, err := repo.Changed(a.sh.ctx, "", a.refs.baselines, "HEAD")
	if err != nil {
		return []string{fmt.Sprintf("whether the change edits baselines cannot be told: %v", err)}
	}
	var files []string
	for _, f := range pathsOf(changed) {
		if strings.HasPrefix(f, baseline.Folder+"/") && filepath.Ext(f) == ".json" {
			files = append(files, f)
		}
	}
	return a.adopted(files)
}

// nextMeasure is what to do where the results are not of what is judged.
const nextMeasure = "Run the job that measures again for this commit, and download the results of this run alone."

// origins says why results, or the runs of a reference in them, are not of the commits that this job asks for, and what to do next.
func (a *action) origins(folder string, references []bench.Digest) (warnings []string, why, next string, err error) {
	warning, why := a.origin(folder)
	if why != "" {
		return nil, why, nextMeasure, nil
	}
	unsure, why, err := a.referenceOf(folder, references)
	warnings = slices.DeleteFunc([]string{unsure, warning}, func(w string) bool { return w == "" })
	return warnings, why, nextReference, err
}

// origin says why results are not those of the commit that this job judges: then nothing is said of it. A mark of changes in
// the checkout, such as a build makes, is a warning. Where nothing is proposed, another commit is a warning too.
func (a *action) origin(folder string) (warning, why string) {
	h, _ := headerOf(filepath.Join(folder, campaign.JournalFile))
	measured, mark, _ := strings.Cut(h.Commit, "+")
	here, err := repo.Resolve(a.sh.ctx, "", "HEAD")
	if err != nil {
		here = cmp.Or(append(a.commits(), a.job.SHA)...)
	}
	ours := measured != "" && slices.Contains(append(a.commits(), here), measured)
	switch {
	case ours && mark != "":
		return fmt.Sprintf("the results are of commit %.12s with changes that are not in it (%.40s)", measured, mark), ""
	case ours || measured == "" && !a.proposed():
		return "", ""
	case !a.proposed():
		return fmt.Sprintf("the results are of commit %.12q, and this job judges %.12s", measured, here), ""
	case measured == "":
		return "", fmt.Sprintf("The results do not say of which commit they are, and this job judges %.12s: %s of their campaign does not name it.", here, campaign.JournalFile)
	}
	return "", fmt.Sprintf("The results are of commit %.12q, and this job judges %.12s.", measured, here)
}

// nextReference is what to do where the reference of the results is another build than that of the base commit.
const nextReference = "Check out the base commit where reference.dir is, and run the job that measures again."

// referenceOf says why the runs of a reference are not those of the base commit: then nothing is said by them. Where results do not
// tell, since its folder is no checkout of its own, that is a warning.
func (a *action) referenceOf(folder string, references []bench.Digest) (warning, why string, err error) {
	if a.refs.baselines == "" || len(references) == 0 {
		return "", "", nil
	}
	base, err := repo.Resolve(a.sh.ctx, "", a.refs.baselines)
	if err != nil {
		return "", "", err
	}
	h, _ := headerOf(filepath.Join(folder, campaign.JournalFile))
	measured, mark, _ := strings.Cut(h.Reference, "+")
	switch {
	case measured == "":
		return "the results do not say of which commit the reference is", "", nil
	case measured != base:
		return "", fmt.Sprintf("The reference in the results is of commit %.12q, and this job holds the change against %.12s.", measured, base), nil
	case mark != "":
		return "", fmt.Sprintf("The reference in the results is of commit %.12s with changes that are not in it (%.40q).", measured, mark), nil
	}
	return "", "", nil
}

// design is that which the rules ask for: results do not choose what they are held against.
func (a *action) design(q asked) string {
	if a.refs.rules == "" {
		return "committed" // as run measures there
	}
	return q.Campaign.Design
}

// misfit says why results are not of the design that is asked for; empty where they are.
func misfit(design, folder string, head, references []bench.Digest) string {
	if h, ok := headerOf(filepath.Join(folder, campaign.JournalFile)); ok && h.Design != "" && h.Design != design {
		return fmt.Sprintf("The results were measured by design %.40q, and the rules ask for %s.", h.Design, design)
	}
	plain, turns := shapes(head)
	switch {
	case design == "committed" && (turns || len(references) > 0):
		return "The results hold runs in turn with a reference, and the rules ask for design committed, which has none."
	case design == "interleaved" && plain:
		return "The results hold runs that were not in turn with a reference, and the rules ask for design interleaved."
	}
	return ""
}

// lonely names scenarios that were to be measured in turn with a reference, and of which there is no run of it.
func lonely(design string, head, references []bench.Digest) []string {
	var names []string
	for _, d := range head {
		has := slices.ContainsFunc(references, func(r bench.Digest) bool { return r.Scenario == d.Scenario })
		if design == "interleaved" && !has {
			names = append(names, d.Scenario)
		}
	}
	return names
}

func isFolder(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

func digestsIn(folder string) []string {
	return slices.DeleteFunc(within(folder, "*.json"), func(f string) bool { return filepath.Base(f) == "verdict.json" })
}
