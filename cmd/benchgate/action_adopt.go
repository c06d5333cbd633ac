package main

import (
	"fmt"
	"strings"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/repo"
)

// mostFiles is how many baselines one sentence names.
const mostFiles = 8

// adopted is what of these baselines the change adds, edits and removes, a sentence each.
func (a *action) adopted(files []string) []string {
	before, after := a.listed(a.refs.baselines), a.listed("HEAD")
	var added, edited, removed []string
	for _, f := range files {
		switch {
		case after[f] && !before[f]:
			added = append(added, f)
		case before[f] && !after[f]:
			removed = append(removed, f)
		default:
			edited = append(edited, f)
		}
	}
	var lines []string
	for _, l := range []struct {
		does  string
		files []string
		end   string
	}{
		{"adds", added, "counts once it is merged"},
		{"edits", edited, "has no effect before it is merged"},
		{"removes", removed, "has no effect before it is merged"},
	} {
		if n := len(l.files); n > 0 {
			shown := l.files[:min(n, mostFiles)]
			lines = append(lines, fmt.Sprintf("the change %s %s (%s), which %s", l.does, count(n, "baseline"), strings.Join(shown, ", "), l.end))
		}
	}
	return lines
}

// listed are the baselines of a commit, by their path; none where they cannot be listed.
func (a *action) listed(rev string) map[string]bool {
	entries, err := repo.Files(a.sh.ctx, "", rev, baseline.Folder)
	if err != nil {
		return nil
	}
	all := map[string]bool{}
	for _, e := range entries {
		all[e.Path] = true
	}
	return all
}

// adopting tells who brings the first baseline of a scenario, or one in place of a file that cannot be read, that it counts once it is merged, and not to accept one.
func (a *action) adopting(v gate.Verdict, faults []baseline.Fault) {
	if a.refs.baselines == "" || v.Design != "" {
		return
	}
	before, after := a.listed(a.refs.baselines), a.listed("HEAD")
	for _, f := range faults {
		delete(before, f.File)
	}
	for i := range v.Findings {
		f := &v.Findings[i]
		file := baseline.Folder + "/" + v.Runner + "/" + f.Scenario + ".json"
		if f.Outcome == gate.New && after[file] && !before[file] {
			f.Next = fmt.Sprintf("This change brings one, %q; it counts once it is merged.", file)
		}
	}
}
