package world

import (
	"math"
	"math/rand/v2"
)

// Streams of random numbers that a seed has, so that none depends on how many numbers another took.
const (
	workloadStream = iota + 7
	runStream
	requestStream
)

func stream(seed, which uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, which)) }

// wave is a first-order autoregression: a series around 0 in which neighbours are correlated.
type wave struct {
	spread, memory float64
	now            float64
	begun          bool
}

func (w *wave) next(r *rand.Rand) float64 {
	z := r.NormFloat64() * w.spread
	if !w.begun {
		w.begun = true
		w.now = z
	} else {
		w.now = w.memory*w.now + math.Sqrt(1-w.memory*w.memory)*z
	}
	return w.now
}

// course is what happens to the runs of one session, one after the other.
type course struct {
	world World
	rng   *rand.Rand
	day   float64
	slow  wave
	runs  int
}

func (w World) course(rng *rand.Rand) *course {
	return &course{world: w, rng: rng, day: w.Day * rng.NormFloat64(), slow: wave{spread: w.Slow, memory: w.Memory}}
}

// next is the logarithm of how much slower the next run is than the build's own level.
func (c *course) next(head bool) float64 {
	w, r := c.world, c.rng
	y := w.Run * w.standard(r)
	if head && w.Head > 0 {
		y *= w.Head
	}
	if w.Outlier > 0 && r.Float64() < w.Outlier {
		y += math.Log(w.OutlierLow + (w.OutlierHigh-w.OutlierLow)*r.Float64())
	}
	if w.Slow > 0 {
		y += c.slow.next(r)
	}
	y += c.day + w.Drift*float64(c.runs)
	c.runs++
	return y
}

// standard is a number of mean 0 and spread 1: normal, or Student's.
func (w World) standard(r *rand.Rand) float64 {
	z := r.NormFloat64()
	if w.Tail <= 2 {
		return z
	}
	squares := 0.0
	for range w.Tail {
		x := r.NormFloat64()
		squares += x * x
	}
	df := float64(w.Tail)
	return z / math.Sqrt(squares/df) * math.Sqrt((df-2)/df)
}
