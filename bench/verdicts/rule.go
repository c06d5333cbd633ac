package main

import (
	"math"

	"github.com/benchgate/benchgate/internal/world"
)

// answer is what a gate says of one comparison.
type answer struct {
	word word
	// low and high bound the ratio candidate ÷ base; both 0 when the gate has no interval.
	low, high float64
	// runs and starts are what the job itself measured, when that depends on the data.
	runs, starts int
	// visits a side at which an interleaved campaign decided; 0 for none.
	visits int
}

type word int

const (
	pass word = iota
	block
	improved
	inconclusive
)

// rule is a gate as it is put through the worlds.
type rule struct {
	name, code string
	design     design
	base, head int // runs that it looks at; 0 is all that the design has
	starts     int // of the server in a job that always measures the same
	decide     func(x *dataset, effect float64) answer
	// batch, in place of decide, answers for many comparisons of equal builds at once, with intervals that a true effect
	// moves and does not change.
	batch func([]*dataset) ([]answer, error)
}

// intervalWord is the answer of a rule that blocks when its interval lies above 1.
func intervalWord(low, high float64) word {
	switch {
	case low > 1:
		return block
	case high < 1:
		return improved
	}
	return pass
}

// moved is a batch's answer at a true effect.
func (a answer) moved(effect float64) answer {
	a.low *= 1 + effect
	a.high *= 1 + effect
	a.word = intervalWord(a.low, a.high)
	return a
}

// effects are true worsenings in percent.
var effects = []int{5, 10, 15, 20, 30, 50}

// tally counts answers.
type tally struct {
	words        [4]int
	covered, of  int
	runs, starts int
	visits       int
	n            int
}

func (t *tally) add(a answer, truth float64) {
	t.n++
	t.words[a.word]++
	t.runs += a.runs
	t.starts += a.starts
	t.visits += a.visits
	if a.high > 0 {
		t.of++
		if a.low <= truth && truth <= a.high {
			t.covered++
		}
	}
}

func (t *tally) merge(o tally) {
	for i, n := range o.words {
		t.words[i] += n
	}
	t.covered += o.covered
	t.of += o.of
	t.runs += o.runs
	t.starts += o.starts
	t.visits += o.visits
	t.n += o.n
}

func (t tally) share(w word) float64 { return float64(t.words[w]) / float64(t.n) }

// settled rounds a figure to what a file should hold: a hundredth of a point, well within its Monte Carlo error.
func settled(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// row sums up the answers to equal builds, and to those that are slower by one of effects.
func (r rule) row(w world.World, equal tally, slower map[int]tally) row {
	base, head := r.design.size()
	if r.base > 0 {
		base = r.base
	}
	if r.head > 0 {
		head = r.head
	}
	out := row{
		Gate: r.name, Code: r.code, World: w.Name, Design: r.design.name, NBase: base, NCand: head, Sessions: max(1, r.design.sessions),
		Looks: r.design.looks, Reps: equal.n, FalseBlock: settled(equal.share(block)), SE: settled(mcError(equal.share(block), equal.n)),
		Power: map[string]float64{}, Pass: settled(equal.share(pass)), Inconclusive: settled(equal.share(inconclusive)), Improved: settled(equal.share(improved)),
		MeanRuns: settled(float64(equal.runs) / float64(equal.n)),
	}
	out.Minutes = settled(out.MeanRuns*runMinutes + float64(equal.starts)/float64(equal.n)*startMinutes)
	if equal.of > 0 {
		c := settled(float64(equal.covered) / float64(equal.of))
		out.Coverage = &c
	}
	for e, t := range slower {
		out.Power[percentKey(e)] = settled(t.share(block))
		out.PowerReps = t.n
	}
	return out
}
