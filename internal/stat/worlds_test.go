package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// worlds are simulated laboratories. Each draws the logarithm of a run's TTFT p95: of 100 requests, whose own chance is a
// standard deviation of 0.076, times an effect of the run. In all of them the sides are equal builds, and a slower build
// is the same draw, shifted.
var worlds = map[string]func(r *rand.Rand) lab{
	"quiet":         func(*rand.Rand) lab { return lab{run: normal(0.05)} },
	"quiet_outlier": func(*rand.Rand) lab { return lab{run: outliers(normal(0.05), 1./8, 1.4, 1.8)} },
	"typical":       func(*rand.Rand) lab { return lab{run: normal(0.10)} },
	"noisy":         func(*rand.Rand) lab { return lab{run: normal(0.15)} },
	"queue":         queue,
	"outlier":       func(*rand.Rand) lab { return lab{run: outliers(normal(0.10), 1./12, 1.4, 1.4)} },
	"heavy":         func(*rand.Rand) lab { return lab{run: heavy(0.10)} },
	"hetero":        func(*rand.Rand) lab { return lab{run: normal(0.10), head: 2} },
	"drift":         func(*rand.Rand) lab { return lab{run: normal(0.08), drift: 0.01} },
	"slow":          func(*rand.Rand) lab { return lab{run: normal(0.06), slow: 0.08} },
	// The narrowest machine with rare slow runs: so many requests that their own chance is gone.
	"quiet_outlier, many requests": func(*rand.Rand) lab { return lab{run: outliers(normal(0.05), 1./8, 1.4, 1.8), many: true} },
}

// steady are the worlds in which runs do not depend on those before.
var steady = []string{
	"quiet", "quiet_outlier", "quiet_outlier, many requests", "typical", "noisy", "queue", "outlier", "heavy", "hetero",
}

// lab is one laboratory with one workload.
type lab struct {
	run   func(*rand.Rand) float64 // effect of a run
	head  float64                  // factor of it for the head; 0 means 1
	drift float64                  // per run
	slow  float64                  // sd of an effect of which four fifths last from run to run
	many  bool                     // requests without chance
	whole func(*rand.Rand, float64) float64
}

const sampling = 0.076

// one draws one run.
func (l lab) one(r *rand.Rand, head bool) float64 {
	e := l.run(r)
	if head && l.head != 0 {
		e *= l.head
	}
	switch {
	case l.whole != nil:
		return l.whole(r, e)
	case l.many:
		return e
	}
	return e + sampling*r.NormFloat64()
}

// sides draws runs of both sides, one after the other or, where abba, in turn with their order.
func (l lab) sides(r *rand.Rand, nb, nh int, inTurn bool) (base, head Sample) {
	b, h := make([]float64, nb), make([]float64, nh)
	for i := range b {
		b[i] = l.one(r, false)
	}
	for i := range h {
		h[i] = l.one(r, true)
	}
	base, head = one(b), one(h)
	if !inTurn {
		return base, head
	}
	base.Order, head.Order = abba(nb)
	course := make([]float64, nb+nh)
	state := l.slow * r.NormFloat64()
	for i := range course {
		course[i] = l.drift*float64(i) + state
		state = 0.8*state + 0.6*l.slow*r.NormFloat64()
	}
	for _, s := range []Sample{base, head} {
		for i, o := range s.Order[0] {
			s.Sessions[0][i] += course[int(o)]
		}
	}
	return base, head
}

func normal(sd float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return sd * r.NormFloat64() }
}

// heavy is Student's t with three degrees of freedom.
func heavy(sd float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		z, sum := r.NormFloat64(), 0.0
		for range 3 {
			x := r.NormFloat64()
			sum += x * x
		}
		return sd * z / math.Sqrt(sum)
	}
}

// outliers makes a share of the runs slower by a factor between from and to.
func outliers(run func(*rand.Rand) float64, share, from, to float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		e := run(r)
		if r.Float64() < share {
			e += math.Log(from + (to-from)*r.Float64())
		}
		return e
	}
}

// queue is a server of eight slots at three quarters of its load: a workload of 100 requests, the same in each run, so
// that p95 is mostly time spent waiting.
func queue(r *rand.Rand) lab {
	const requests, slots = 100, 8
	lognormal := func(at, sd float64) float64 { return at * math.Exp(sd*r.NormFloat64()) }
	gap := (0.12*math.Exp(0.18) + 3*math.Exp(0.125)) / (0.75 * slots)
	var arrive, prefill, service [requests]float64
	now := 0.0
	for i := range arrive {
		now += gap * r.ExpFloat64()
		arrive[i], prefill[i] = now, lognormal(0.12, 0.6)
		service[i] = prefill[i] + lognormal(3, 0.5)
	}
	return lab{run: normal(0.03), whole: func(r *rand.Rand, e float64) float64 {
		var free [slots]float64
		ttft := make([]float64, requests)
		state := 0.05 * r.NormFloat64()
		for i, at := range arrive {
			factor := math.Exp(e + state + 0.05*r.NormFloat64())
			state = 0.9*state + 0.05*math.Sqrt(1-0.81)*r.NormFloat64()
			slot := 0
			for j, f := range free {
				if f < free[slot] {
					slot = j
				}
			}
			start := math.Max(at, free[slot])
			ttft[i] = start - at + factor*prefill[i]
			free[slot] = start + factor*service[i]
		}
		slices.Sort(ttft)
		return math.Log(ttft[94] + 0.05*(ttft[95]-ttft[94]))
	}}
}

// Sampling, run effect and rare slow runs together scatter as the worlds are meant to.
func TestWorldsScatterAsMeant(t *testing.T) {
	want := map[string]float64{
		"quiet": 0.091, "quiet_outlier": 0.182, "quiet_outlier, many requests": 0.166, "typical": 0.125, "noisy": 0.168,
		"queue": 0.19, "outlier": 0.156, "hetero": 0.125, "drift": 0.110, "slow": 0.097,
	}
	runs := 20_000
	if testing.Short() {
		runs = 4000
	}
	for world, sd := range want {
		r := rand.New(rand.NewPCG(5, 6))
		sum, n := 0.0, 20
		for range n {
			base, _ := worlds[world](r).sides(r, runs/n, 1, false)
			x, err := SD(base.Sessions[0])
			if err != nil {
				t.Fatal(err)
			}
			sum += x / float64(n)
		}
		room := 0.06
		if world == "queue" {
			room = 0.15 // workloads differ
		}
		if math.Abs(sum/sd-1) > room {
			t.Errorf("%s: sd %.3f, want %.3f", world, sum, sd)
		}
	}
}
