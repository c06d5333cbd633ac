package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
)

// readCandidate reads what a campaign measured of a runner, "" being the only one that is there.
func readCandidate(spec, runner string) ([]bench.Digest, baseline.Source, error) {
	head, source, err := baseline.Read(spec, runner)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = withHint(fmt.Errorf("there are no results: %w", err), "benchgate run -o %s writes them", spec)
	case errors.Is(err, baseline.ErrNone):
		err = unmeasured(spec, runner)
	}
	return head, source, err
}

// unmeasured explains a candidate's folder without a digest of the runner: it is another's, or its campaign ended before a run
// was measured, or there was none.
func unmeasured(folder, runner string) error {
	if others := runnersIn(folder); runner != "" && len(others) > 0 && !slices.Contains(others, runner) {
		return withHint(fmt.Errorf("%q holds results of runner %s, and the config is of runner %q", folder, strings.Join(others, ", "), runner),
			"take the config of that runner with -c, or measure again: benchgate run -o %s", folder)
	}
	for _, pattern := range []string{"", "*"} {
		if files := within(folder, path.Join(pattern, campaign.JournalFile)); len(files) > 0 {
			return &campaign.ServerError{
				Doing: fmt.Sprintf("campaign in %q", filepath.Dir(files[0])), Err: errors.New("the candidate was not measured"),
				Hint: "the logs of its servers lie there; run the same benchgate run again",
			}
		}
	}
	return withHint(fmt.Errorf("%q holds no results", folder), "benchgate run -o DIR writes them, and DIR is what is named here")
}

// runnersIn are the runners of which a folder of results holds a campaign, each quoted.
func runnersIn(folder string) []string {
	var all []string
	for _, file := range within(folder, path.Join("*", campaign.JournalFile)) {
		all = append(all, filepath.Base(filepath.Dir(file)))
	}
	return all
}
