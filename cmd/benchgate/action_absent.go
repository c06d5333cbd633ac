package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
)

// bare is the verdict on a candidate that is not there: nothing of the baseline's own runs stands beside it.
func bare(v gate.Verdict) gate.Verdict {
	v.Client, v.Server, v.Series, v.Validity = nil, nil, nil, nil
	for i := range v.Findings {
		v.Findings[i].Base, v.Findings[i].Runs = nil, nil
	}
	return v
}

// parted says whether there are results of a runner, where of other runners it is the other way round. Of the jobs of a matrix
// GitHub tells one word together: nothing else says which of them failed.
func parted(runner string, all []asked, found map[string]string) string {
	var none []string
	for _, q := range all {
		if folder := found[q.Runner]; folder == "" || len(digestsIn(folder)) == 0 {
			none = append(none, q.Runner)
		}
	}
	switch {
	case len(none) == 0 || len(none) == len(all):
		return ""
	case slices.Contains(none, runner):
		return fmt.Sprintf(" Of runner %s there are no results.", runner)
	case len(none) == 1:
		return fmt.Sprintf(" There are results of this runner; of runner %s there are none.", none[0])
	}
	return fmt.Sprintf(" There are results of this runner; of runners %s there are none.", strings.Join(none, ", "))
}

// absent reports whether a verdict is one on nothing: no finding has a value of the candidate.
func absent(v gate.Verdict) bool {
	return !slices.ContainsFunc(v.Findings, func(f gate.Finding) bool { return f.Head != nil })
}
