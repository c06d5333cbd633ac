package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/benchgate/benchgate/internal/campaign"
)

// ours refuses to write into a folder that holds anything but a campaign: it may be one of baselines, or of anything else.
func ours(out, runner string) error {
	folder := filepath.Join(out, runner)
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(folder, campaign.JournalFile)); err == nil {
		return nil
	}
	if len(files) > 1 || len(files) == 1 && files[0].Name() != endedFile {
		return withHint(fmt.Errorf("%q holds no campaign: it is not a folder of results", folder), "choose another folder with -o")
	}
	return nil
}

// discard removes the results of an earlier campaign, which would otherwise be taken for this one's: a scenario that is
// gone, a run that has another number, a verdict. The campaign itself stays in the state folder.
func discard(out, runner string) error {
	folder := filepath.Join(out, runner)
	stale := []string{filepath.Join(out, "verdict.json"), filepath.Join(out, "report.html")}
	for _, scenario := range scenariosOf(filepath.Join(folder, campaign.JournalFile)) {
		stale = append(stale, runFiles(filepath.Join(out, "vllm"), runner+"-"+scenario)...)
		stale = append(stale, runFiles(filepath.Join(out, "vllm"), runner+"-"+scenario+"-"+referenceFolder)...)
	}
	for _, folder := range []string{folder, filepath.Join(folder, referenceFolder)} {
		files, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, f := range files {
			if written.MatchString(f.Name()) {
				stale = append(stale, filepath.Join(folder, f.Name()))
			}
		}
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// within are the files of a folder that a pattern of slashes names; the folder's own name is no pattern.
func within(folder, pattern string) []string {
	names, err := fs.Glob(os.DirFS(folder), pattern)
	if err != nil {
		return nil
	}
	for i, n := range names {
		names[i] = filepath.Join(folder, filepath.FromSlash(n))
	}
	return names
}

// written are the names of the files that a campaign leaves in a runner's folder.
var written = regexp.MustCompile(`^(campaign\.jsonl.*|ended\.jsonl|server-[0-9]+(-reference)?\.log(\.old-[0-9]+)?|.*\.json|.*\.rows\.jsonl)$`)

// scenariosOf reads the names of a campaign's scenarios from its header; none when there is no campaign.
func scenariosOf(path string) []string {
	h, _ := headerOf(path)
	return slices.Collect(maps.Keys(h.Workloads))
}

// runFiles are the files PREFIX-runNNN.json of a folder.
func runFiles(folder, prefix string) []string {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	name := regexp.MustCompile("^" + regexp.QuoteMeta(prefix) + `-run[0-9]+\.json$`)
	var found []string
	for _, f := range files {
		if name.MatchString(f.Name()) {
			found = append(found, filepath.Join(folder, f.Name()))
		}
	}
	return found
}
