package stat

import (
	"fmt"
	"math"
)

// The correlation between requests of one run is drawn towards rhoPrior, which weighs as much as rhoWeight runs.
const (
	rhoPrior  = 0.02
	rhoWeight = 2
)

// Share is a proportion of requests with its interval. Low and High lie within 0 and 1.
type Share struct {
	Point, Low, High float64
	// Rho is the believed correlation of two requests of one run, DesignEffect how many times larger the variance of Point
	// is than with independent requests, N the number of independent requests that would tell as much.
	DesignEffect, Rho, N float64
}

// Proportion estimates the share of requests that met a target: met[i] of of[i] requests in run i. The interval is
// Wilson's (1927) with the effective number of requests (Korn & Graubard 1998) and Student's quantile, so that requests
// of one run count for less than independent ones, and a perfect record still has an interval.
//
// A perfect record says nothing about how runs differ, so the prior alone widens its interval; a record with one failure
// could then reach a better bound. It does not: no record has a lower bound above the perfect one's, nor an upper bound
// below the one of a record without a success. Oracle: testdata/vectors.json.
func Proportion(met, of []int, confidence float64) (Share, error) {
	runs, err := pool(met, of)
	if err != nil {
		return Share{}, err
	}
	if confidence == 0 {
		confidence = 0.95
	}
	if !(confidence > 0 && confidence < 1) {
		return Share{}, fmt.Errorf("confidence %v is not between 0 and 1", confidence)
	}
	t := tUpper((1-confidence)/2, runs.k-1+rhoWeight)
	rho := runs.rho()
	s := Share{Point: runs.met / runs.of, Rho: rho}
	s.DesignEffect = runs.inflation(rho)
	s.N = runs.of / s.DesignEffect
	s.Low, s.High = wilson(s.Point, s.N, t)
	prior := runs.of / runs.inflation(rhoPrior)
	perfect, _ := wilson(1, prior, t)
	_, hopeless := wilson(0, prior, t)
	s.Low, s.High = math.Min(s.Low, perfect), math.Max(s.High, hopeless)
	return s.rounded(), nil
}

func (s Share) rounded() Share {
	return Share{Round(s.Point), Round(s.Low), Round(s.High), Round(s.DesignEffect), Round(s.Rho), Round(s.N)}
}

// counts are runs laid together.
type counts struct {
	k, met, of float64
	spread     float64 // Σ(metᵢ − share·ofᵢ)²
}

func pool(met, of []int) (counts, error) {
	if len(met) != len(of) {
		return counts{}, fmt.Errorf("%d runs have successes, %d have requests", len(met), len(of))
	}
	if len(met) == 0 {
		return counts{}, fmt.Errorf("proportion of no runs: %w", ErrTooFew)
	}
	c := counts{k: float64(len(met))}
	for i, n := range of {
		if n <= 0 || met[i] < 0 || met[i] > n {
			return counts{}, fmt.Errorf("run %d: %d of %d requests is no share", i+1, met[i], n)
		}
		c.met += float64(met[i])
		c.of += float64(n)
	}
	for i, n := range of {
		d := float64(met[i]) - float64(c.met/c.of*float64(n))
		c.spread += float64(d * d)
	}
	return c, nil
}

// designEffect is the variance of the pooled share, by the ratio estimator, over that of independent requests. False
// when there is nothing to tell it from: one run, or a share of 0 or 1.
func (c counts) designEffect() (float64, bool) {
	p := c.met / c.of
	if c.k < 2 || p == 0 || p == 1 {
		return 0, false
	}
	v := c.k / (c.k - 1) * c.spread / (c.of * c.of)
	return v / (p * (1 - p) / c.of), true
}

// inflation is the design effect of a correlation rho within runs of average size.
func (c counts) inflation(rho float64) float64 { return 1 + float64((c.of/c.k-1)*rho) }

// rho is the correlation within runs, drawn towards the prior.
func (c counts) rho() float64 {
	deff, known := c.designEffect()
	each := c.of / c.k
	if !known || each <= 1 {
		return rhoPrior
	}
	raw := math.Min(1, math.Max(0, (deff-1)/(each-1)))
	return (float64((c.k-1)*raw) + rhoWeight*rhoPrior) / (c.k - 1 + rhoWeight)
}

// wilson is Wilson's score interval of a share p of n requests, z its quantile.
func wilson(p, n, z float64) (low, high float64) {
	z2 := z * z
	centre := (p + z2/(2*n)) / (1 + z2/n)
	half := float64(z / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n)))
	low, high = math.Max(0, centre-half), math.Min(1, centre+half)
	if p == 0 {
		low = 0
	}
	if p == 1 {
		high = 1
	}
	return low, high
}
