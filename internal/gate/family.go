package gate

import (
	"fmt"
	"math"

	"github.com/benchgate/benchgate/internal/stat"
)

// The two directions in which a comparison is asked; each is a family of its own.
const (
	worse = iota
	better
	directions
)

// family is a set of comparisons that share one alpha, through all looks: Holm's procedure with a spending function for each
// hypothesis (Maurer & Bretz 2013, Stat. Biopharm. Res. 5:311; Ye, Li, Liu & Yao 2013, Stat. Med. 32:1112). At a look the
// next smallest p of m faces the level of that look, computed for alpha/(m − j + 1), with j − 1 hypotheses rejected before,
// at earlier looks too. What was rejected stays so; what ended otherwise stays in m. Oracle: testdata/looks.json.
type family struct {
	primary bool
	*levels
	size     int             // m
	rejected [directions]int // so far
}

// families are the two of a verdict: the scenarios' primaries, and all other comparative rules.
type families struct {
	primaries, others *family
	*levels
}

func newFamilies(alpha float64) families {
	l := &levels{alpha, map[string][]float64{}}
	return families{&family{primary: true, levels: l}, &family{levels: l}, l}
}

func (fs families) all() []*family { return []*family{fs.primaries, fs.others} }

// enter counts the hypotheses of the family that face a look: those that are compared, and those that cannot be now but may
// be at a later look. The first look has them all.
func (f *family) enter(qs []*question) {
	n := 0
	for _, q := range qs {
		if q.rule.Primary != f.primary || !q.rule.comparative() {
			continue
		}
		made := q.comparison != nil && q.comparison.err == nil
		refused := q.comparison != nil || q.finding.Outcome == Invalid
		if made || refused && q.another() {
			n++
		}
	}
	f.size = max(f.size, n)
}

// made are those of the family whose comparison came about.
func (f *family) made(open []*question) []*question {
	var out []*question
	for _, q := range open {
		if q.rule.Primary == f.primary && q.comparison.err == nil {
			out = append(out, q)
		}
	}
	return out
}

// least is the level of the smallest of the family's p values at a look: the strictest of all.
func (f *family) least(c course) float64 { return f.alpha / f.weight(c, max(1, f.size)) }

// adjust fills in the adjusted p values of what is compared at a look: p·alpha/level, never falling. Those at most alpha are
// rejected.
func (f *family) adjust(open []*question) {
	for d := range directions {
		var left []*question
		for _, q := range open {
			if q.rejected[d] == nil {
				left = append(left, q)
			} else {
				q.comparison.holm[d] = *q.rejected[d] // of the look that rejected it
			}
		}
		f.size = max(f.size, f.rejected[d]+len(left))
		f.stepDown(left, d)
	}
}

func (f *family) stepDown(left []*question, d int) {
	least, before := 0.0, f.rejected[d]
	for j := range left {
		next, at := math.Inf(1), j
		for i, q := range left[j:] {
			if p := f.adjusted(q, d, f.size-before-j); p < next {
				next, at = p, j+i
			}
		}
		left[j], left[at] = left[at], left[j]
		least = stat.Round(math.Max(least, math.Min(1, next))) // NaN and ∞ count as 1
		left[j].comparison.holm[d] = least
		if least <= stat.Round(f.alpha) {
			f.rejected[d]++
			left[j].rejected[d] = ptr(least)
		}
	}
}

// adjusted is a p value for being one of so many, at its look; no level is more than alpha shared among them.
func (f *family) adjusted(q *question, d, parts int) float64 {
	p := q.comparison.chance(d)
	if p*float64(parts) >= 1 {
		return 1
	}
	return p * f.weight(q.course, parts)
}

// chance is the one-sided p of a direction.
func (c *comparison) chance(d int) float64 {
	if d == better {
		return c.PLess
	}
	return c.P
}

// levels computes spending levels, each list of looks and each alpha once.
type levels struct {
	alpha float64
	known map[string][]float64
}

// weight is alpha divided by the level at which one of so many hypotheses is tested at a look: just their number where there
// is one look.
func (l *levels) weight(c course, parts int) float64 {
	if len(c.looks) <= 1 {
		return float64(parts)
	}
	key := fmt.Sprint(c.looks, parts)
	if l.known[key] == nil {
		ls, err := stat.Levels(c.looks, l.alpha/float64(parts))
		if err != nil {
			panic(err) // the looks were checked, and alpha is a share of a half
		}
		l.known[key] = ls
	}
	return l.alpha / l.known[key][c.look]
}

// confidence is that of the two-sided interval at a look.
func (l *levels) confidence(c course) float64 { return 1 - 2*l.alpha/l.weight(c, 1) }
