package stat

import (
	"math"
	"slices"
)

// Sessions are compared by pseudo-values from so many runs a side, sessions of both sides and degrees of freedom within
// sessions on: with fewer there is no telling a slow run.
const (
	robustAcross   = 5
	robustSessions = 3
	robustWithin   = 12
)

// tellsSlow says whether there are enough of all three.
func tellsSlow(few, sessions, within int) bool {
	return few >= robustAcross && sessions >= robustSessions && within >= robustWithin
}

// pseudo is p with each run replaced by its pseudo-value. False for a single session against another, for so few runs that
// there is no telling a slow one, and where more than half of the residuals lie within the floor.
func (p pair) pseudo() (pair, bool) {
	all := slices.Concat(p.base.sessions, p.head.sessions)
	nb, nh := len(p.base.runs), len(p.head.runs)
	if !tellsSlow(min(nb, nh), len(all), nb+nh-len(all)) {
		return pair{}, false
	}
	values, ok := pseudoValues(all, p.o.Floor)
	if !ok {
		return pair{}, false
	}
	k := len(p.base.sessions)
	out := pair{base: sideOf(values[:k]), head: sideOf(values[k:]), o: p.o}
	m, err := fit(out.base.runs, out.head.runs, nil)
	out.model = m
	return out, err == nil
}

// pseudoValues replaces each run: by Huber's estimate for its session, plus its residual, cut at the bound and divided by
// the share of residuals that are not cut. Least squares of pseudo-values has the coefficients of Huber's estimate and its
// standard errors (Bickel 1976; Huber 1981, §7.10), so that every interval of means is one of Huber's estimates. One scale
// serves all sessions. False where more than half of the residuals lie within the floor.
func pseudoValues(all [][]float64, floor float64) ([][]float64, bool) {
	levels, rest, bound, ok := huberLevels(all, floor)
	if !ok {
		return nil, false
	}
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
			values[i][j] = levels[i] + float64(r*float64(len(rest))/float64(whole))
		}
	}
	return values, true
}

// huberLevels is Huber's estimate for each session, what it leaves of the runs, end to end, and the bound of its scale. The
// path is that of [model.huber].
func huberLevels(all [][]float64, floor float64) (levels, rest []float64, bound float64, ok bool) {
	levels = make([]float64, len(all))
	n := 0
	for i, runs := range all {
		levels[i] = median(runs)
		n += len(runs)
	}
	if n == len(all) {
		return nil, nil, 0, false // no session has two runs
	}
	sd := 0.0
	for pass := range 2 * passes {
		rest = leave(rest[:0], all, levels)
		if pass < passes {
			sd = perMAD * medianSize(rest) * math.Sqrt(float64(n)/float64(n-len(all)))
			bound = tuning * math.Max(sd, floor)
		}
		at := 0
		for i, runs := range all {
			levels[i] += mean(cutAt(bound, rest[at:at+len(runs)]))
			at += len(runs)
		}
	}
	return levels, leave(rest[:0], all, levels), bound, sd >= floor
}

// sideOf is a side of these sessions.
func sideOf(sessions [][]float64) side {
	return side{sessions: sessions, runs: slices.Concat(sessions...)}
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
