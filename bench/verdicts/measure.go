package main

import (
	"runtime"
	"strconv"
	"sync"

	"github.com/benchgate/benchgate/internal/world"
)

func percentKey(effect int) string { return strconv.Itoa(effect) }

// chunk is how many draws a worker takes at a time.
const chunk = 50

// measure puts rules of one design through one world: reps draws of equal builds, the first power of them at each effect too.
// Which worker takes a draw decides nothing: every draw has its own seed.
func measure(w world.World, d design, rules []rule, reps, power int, effects []int) ([]row, error) {
	total := newCounts(len(rules), effects)
	var (
		mu      sync.Mutex
		first   error
		workers sync.WaitGroup
	)
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			own := newCounts(len(rules), effects)
			for from := range next {
				if err := own.draws(w, d, rules, from, min(reps, from+chunk), power, effects); err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			total.merge(own)
		})
	}
	for from := 0; from < reps; from += chunk {
		next <- from
	}
	close(next)
	workers.Wait()
	if first != nil {
		return nil, first
	}
	var rows []row
	for i, r := range rules {
		rows = append(rows, r.row(w, *total[i][0], total[i].slower()))
	}
	return rows, nil
}

// counts are tallies by rule, and by true effect in percent.
type counts []byEffect

type byEffect map[int]*tally

func newCounts(rules int, effects []int) counts {
	c := make(counts, rules)
	for i := range c {
		c[i] = byEffect{0: {}}
		for _, e := range effects {
			c[i][e] = &tally{}
		}
	}
	return c
}

func (c counts) merge(o counts) {
	for i := range c {
		for e, t := range o[i] {
			c[i][e].merge(*t)
		}
	}
}

func (b byEffect) slower() map[int]tally {
	out := map[int]tally{}
	for e, t := range b {
		if e != 0 {
			out[e] = *t
		}
	}
	return out
}

// draws decides the draws from one seed to before another.
func (c counts) draws(w world.World, d design, rules []rule, from, to, power int, effects []int) error {
	var sets []*dataset
	for seed := from; seed < to; seed++ {
		sets = append(sets, d.dataset(w, uint64(seed)))
	}
	for i, r := range rules {
		var batch []answer
		if r.batch != nil {
			var err error
			if batch, err = r.batch(sets); err != nil {
				return err
			}
		}
		for k, x := range sets {
			at := func(effect int) answer {
				e := float64(effect) / 100
				if batch != nil {
					return r.fill(batch[k].moved(e))
				}
				return r.fill(r.decide(x, e))
			}
			c[i][0].add(at(0), 1)
			if from+k >= power {
				continue
			}
			for _, e := range effects {
				c[i][e].add(at(e), 1+float64(e)/100)
			}
		}
	}
	return nil
}

// fill adds what a job measures where that never varies: the candidate's runs, and the base's too where they are interleaved.
func (r rule) fill(a answer) answer {
	if a.runs > 0 {
		return a
	}
	base, head := r.design.size()
	switch {
	case r.head > 0:
		head = r.head
	case r.design.looks != nil:
		head += base
	}
	a.runs, a.starts = head, r.starts
	return a
}
