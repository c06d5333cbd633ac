package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/artifact"
	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/github"
	"github.com/benchgate/benchgate/internal/nightly"
)

// dataBranch is where nights are kept.
const dataBranch = "benchgate-data"

// mostPullCharacters is what GitHub takes for the text of a pull request.
const mostPullCharacters = 65536

// keep puts what a night measured on the data branch, and brings the standing pull request for the baselines up to date. It
// needs no checkout. The night is kept before anything else is tried; a night that was refused is exit 2, and so is anything
// that could not be done.
func (a *action) keep() error {
	main, err := a.mainBranch()
	if err != nil {
		return err
	}
	digests, damaged := a.nightDigests()
	dir, err := a.workFolder()
	if err != nil {
		return err
	}
	at := nightly.Repository{URL: a.job.Server + "/" + a.job.Repository, Token: a.in.token, Main: main, Data: dataBranch}
	now := a.sh.now().UTC()
	result, err := nightly.Keep(a.sh.ctx, dir, at, nightly.Night{Name: nightly.Name(now, a.job.RunID), Digests: digests}, baseline.Acceptance{
		Who: "nightly", Why: "nightly", At: now, Differs: gate.Differs,
	})
	if err != nil {
		return errors.Join(damaged, withHint(err, "give the job the line \"permissions: {contents: write, pull-requests: write}\", and keep rules for branches away from %s and %s", at.Data, at.Pull()))
	}
	stood, standing := a.stand(result, at)
	a.tellNight(result, at, stood)
	return errors.Join(damaged, standing, refusedNights(result))
}

// mainBranch is the branch that a night is of.
func (a *action) mainBranch() (string, error) {
	branch, ok := strings.CutPrefix(a.job.Ref, "refs/heads/")
	if a.job.Pull != nil || a.job.Group != nil || !ok {
		return "", withHint(fmt.Errorf("mode keep is for nights of the main branch, and event %s of %q is none", a.job.Event, a.job.Ref), "start it on schedule, or by hand on the main branch")
	}
	if a.job.RunID == 0 {
		return "", errors.New("the number of this run is not known: GITHUB_RUN_ID is not set")
	}
	return branch, nil
}

// nightDigests are those of all runners. Results of another job are a stranger's, so artifact looks at them first; results
// that are not there are a night that measured nothing. What can be read is kept even where the error names what cannot.
func (a *action) nightDigests() ([]bench.Digest, error) {
	into, err := a.workFolder()
	if err != nil {
		return nil, err
	}
	root, err := artifact.Open(a.in.results, into)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, artifact.ErrTooMuch):
		return nil, withHint(err, "%s", tooMuchWay)
	case err != nil:
		return nil, err
	}
	var all []bench.Digest
	var damaged []error
	for _, folder := range runnerFolders(root) {
		found, _, err := baseline.Read(folder, filepath.Base(folder))
		if err == nil && found[0].Runner != filepath.Base(folder) {
			err = fmt.Errorf("%q holds results of runner %q", folder, found[0].Runner)
		}
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		all = append(all, found...)
	}
	return all, errors.Join(damaged...)
}

// runnerFolders are the folders with digests, at the top or one below, as artifacts are downloaded.
func runnerFolders(root string) []string {
	var folders []string
	for _, pattern := range []string{"*", "*/*"} {
		folders = append(folders, within(root, pattern)...)
	}
	return slices.DeleteFunc(folders, func(folder string) bool {
		name := filepath.Base(folder)
		return name == "vllm" || name == referenceFolder || bench.CheckName("runner", name) != nil || !isFolder(folder) || len(digestsIn(folder)) == 0
	})
}

// workFolder is empty, and the runner empties it after the job.
func (a *action) workFolder() (string, error) {
	return os.MkdirTemp(a.sh.getenv("RUNNER_TEMP"), "benchgate-keep-*")
}

// stand brings the standing pull request up to date.
func (a *action) stand(r nightly.Result, at nightly.Repository) (github.Stood, error) {
	client, err := github.NewClient(github.ClientOptions{
		API: cmp.Or(a.in.api, a.job.API), Token: a.in.token, Repository: a.job.Repository,
		Say: func(s string) { a.sh.talk.say("%s", s) },
	})
	if err != nil {
		return github.Stood{}, err
	}
	body := []rune(r.Body(at))
	return client.StandingPull(a.sh.ctx, github.Standing{
		Head: at.Pull(), Base: at.Main, Title: r.Title(), Body: string(body[:min(len(body), mostPullCharacters)]), Empty: r.Proposed == "",
	})
}

// tellNight says what became of the night, in the log and in the summary.
func (a *action) tellNight(r nightly.Result, at nightly.Repository, stood github.Stood) {
	if r.Kept != "" {
		fmt.Fprintf(a.sh.stdout, "kept %s on branch %s\n", r.Kept, at.Data)
	} else {
		fmt.Fprintln(a.sh.stdout, "this night measured nothing that could be kept")
	}
	for _, n := range r.Nights {
		switch n.Place {
		case baseline.Joined:
			fmt.Fprintf(a.sh.stdout, "%s of %s joins\n", n.Night, n.Runner)
			if n.Why != "" {
				fmt.Fprintf(a.sh.stdout, "warning: %s\n", legible(n.Why))
			}
		case baseline.Refused:
			fmt.Fprintf(a.sh.stdout, "%s of %s is refused: %s\n", n.Night, n.Runner, legible(n.Why))
		}
	}
	if stood.Number != 0 {
		fmt.Fprintf(a.sh.stdout, "pull request %d: %s, %s\n", stood.Number, stood.State, stood.URL)
	}
	a.summarize(func(limit int) string {
		text := fmt.Sprintf("**benchgate**: %s\n\n%s", strings.TrimPrefix(r.Title(), "baselines: "), r.Told())
		if r.Kept == "" {
			text += "\nThis night measured nothing that could be kept: see the job that measures.\n"
		}
		if stood.Number != 0 {
			text += fmt.Sprintf("\nStanding pull request: #%d\n", stood.Number)
		}
		return strings.ToValidUTF8(text[:min(len(text), limit)], "")
	})
}

// refusedNights is what makes the job red: the sentences of the nights that nobody has decided about.
func refusedNights(r nightly.Result) error {
	refused := r.Refused()
	if len(refused) == 0 {
		return nil
	}
	n := refused[len(refused)-1]
	err := fmt.Errorf("night %s of %s is refused: %s", n.Night, n.Runner, n.Why)
	if more := len(refused) - 1; more > 0 {
		err = fmt.Errorf("%w; and %d before it", err, more)
	}
	return withHint(err, "it stays on branch %s; the standing pull request says what to do", dataBranch)
}
