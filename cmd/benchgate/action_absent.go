package main

import "github.com/benchgate/benchgate/internal/gate"

// bare is the verdict on a candidate that is not there: nothing of the baseline's own runs stands beside it.
func bare(v gate.Verdict) gate.Verdict {
	v.Client, v.Server, v.Series, v.Validity = nil, nil, nil, nil
	for i := range v.Findings {
		v.Findings[i].Base, v.Findings[i].Runs = nil, nil
	}
	return v
}
