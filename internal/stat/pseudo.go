package stat

import (
	"math"
	"slices"
)

const (
	robustWithin   = 12 // degrees of freedom within sessions from which sessions are compared by pseudo-values
	robustSessions = 3  // sessions of both sides from which they are
)

// pseudo is p with each run replaced by its pseudo-value: Huber's estimate for its session, plus its residual, cut at the
// bound and divided by the share of residuals that are not cut. Least squares of pseudo-values has the coefficients of
// Huber's estimate and its standard errors (Bickel 1976; Huber 1981, §7.10), so that every interval of means is one of
// Huber's estimates. One scale serves all sessions.
//
// False for a single session against another, for so few runs that there is no telling a slow one, and where more than half
// of the residuals lie within the floor.
func (p pair) pseudo() (pair, bool) {
	all := slices.Concat(p.base.sessions, p.head.sessions)
	n, df := 0, 0
	for _, runs := range all {
		n, df = n+len(runs), df+len(runs)-1
	}
	if len(all) < robustSessions || df < robustWithin {
		return pair{}, false
	}
	levels, rest := make([]float64, len(all)), make([]float64, 0, n)
	for i, runs := range all {
		levels[i] = median(runs)
	}
	sd, bound := 0.0, 0.0
	for pass := range 2 * passes {
		rest = leave(rest[:0], all, levels)
		if pass < passes {
			sd = perMAD * medianSize(rest) * math.Sqrt(float64(n)/float64(df))
			bound = tuning * math.Max(sd, p.o.Floor)
		}
		at := 0
		for i, runs := range all {
			levels[i] += mean(cutAt(bound, rest[at:at+len(runs)]))
			at += len(runs)
		}
	}
	if sd < p.o.Floor {
		return pair{}, false
	}
	rest = leave(rest[:0], all, levels)
	whole := 0
	for _, r := range rest {
		if math.Abs(r) <= bound {
			whole++
		}
	}
	values, at := make([][]float64, len(all)), 0
	for i, runs := range all {
		values[i] = cutAt(bound, rest[at:at+len(runs)])
		at += len(runs)
		for j, r := range values[i] {
			values[i][j] = levels[i] + float64(r*float64(n)/float64(whole))
		}
	}
	k := len(p.base.sessions)
	out := pair{base: side{sessions: values[:k]}, head: side{sessions: values[k:]}, o: p.o}
	out.base.runs, out.head.runs = slices.Concat(out.base.sessions...), slices.Concat(out.head.sessions...)
	m, err := fit(out.base.runs, out.head.runs, nil)
	out.model = m
	return out, err == nil
}

// leave appends to rest what the levels of the sessions leave of their runs.
func leave(rest []float64, sessions [][]float64, levels []float64) []float64 {
	for i, runs := range sessions {
		for _, y := range runs {
			rest = append(rest, y-levels[i])
		}
	}
	return rest
}

// cutAt is xs, none further from 0 than bound.
func cutAt(bound float64, xs []float64) []float64 {
	cut := make([]float64, len(xs))
	for i, x := range xs {
		cut[i] = math.Max(-bound, math.Min(bound, x))
	}
	return cut
}
