package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// peers are other tools' rules, on what the design offers them: the runs of a committed baseline's sessions, or those of an
// interleaved campaign.
func peers(d design) []rule {
	starts := 1
	if d.looks != nil {
		base, head := d.size()
		starts = base + head
	}
	all := rule{design: d, starts: starts}
	benchstat := all
	benchstat.name, benchstat.code, benchstat.decide = "benchstat (Mann-Whitney)", "golang.org/x/perf", mannWhitney
	pooled := all
	pooled.name, pooled.code, pooled.decide = "pooled requests, bootstrap", "re-implemented", pooledBootstrap
	rules := []rule{benchstat, pooled}
	if d.looks != nil {
		return rules
	}
	for _, threshold := range []float64{2, 1.5, 1.2} {
		rules = append(rules, rule{
			name: "github-action-benchmark " + percentKey(int(math.Round(100*threshold))) + " %", code: "re-implemented", design: d, base: 1, head: 1, starts: 1,
			decide: ratio(threshold),
		})
	}
	for _, q := range []float64{0.99, 0.95} {
		rules = append(rules, rule{
			name: "Bencher t " + percentKey(int(math.Round(100*q))) + " %", code: "re-implemented", design: d, head: 1, starts: 1, decide: bencher(q),
		})
	}
	return rules
}

// mannWhitney blocks when benchstat would call the candidate slower at its default level: its own test of two samples, and
// the medians to say which way.
func mannWhitney(x *dataset, effect float64) answer {
	t := benchmath.DefaultThresholds
	base, head := benchmath.NewSample(slices.Clone(x.base), &t), benchmath.NewSample(times(x.head, 1+effect), &t)
	c := benchmath.AssumeNothing.Compare(base, head)
	a := answer{word: pass}
	if c.P < c.Alpha {
		a.word = improved
		if median(head.Values) > median(base.Values) {
			a.word = block
		}
	}
	return a
}

// median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ratio is github-action-benchmark's rule: one value now against the one before it, an alert when their ratio exceeds the
// threshold (action.yml, alert-threshold: 200 % unless set; src/write.ts, findAlerts).
func ratio(threshold float64) func(*dataset, float64) answer {
	return func(x *dataset, effect float64) answer {
		if x.head[0]*(1+effect)/x.base[len(x.base)-1] > threshold {
			return answer{word: block}
		}
		return answer{word: pass}
	}
}

// bencher is Bencher's t test boundary: an alert when one new value exceeds mean + t·sd of the history, t the quantile of
// Student's distribution with n − 1 degrees of freedom, and sd that of a population (lib/bencher_boundary, v0.6.12).
func bencher(q float64) func(*dataset, float64) answer {
	return func(x *dataset, effect float64) answer {
		n := float64(len(x.base))
		m, squares := mean(x.base), 0.0
		for _, v := range x.base {
			squares += (v - m) * (v - m)
		}
		t := stats.InvCDF(stats.TDist{V: n - 1})(q)
		if x.head[0]*(1+effect) > m+t*math.Sqrt(squares/n) {
			return answer{word: block}
		}
		return answer{word: pass}
	}
}

// pooledResamples of the pooled bootstrap.
const pooledResamples = 999

// pooledBootstrap forgets which run a request belongs to: the percentile bootstrap of the ratio of the p95 of all requests.
// A resample's order statistic is drawn directly, by its beta distribution (David & Nagaraja 2003, §2.1).
func pooledBootstrap(x *dataset, effect float64) answer {
	if x.pooled == nil {
		base, head := x.draw.TTFT()
		rng := rand.New(rand.NewPCG(x.seed, 95))
		b, h := pool(base), pool(head)
		x.pooled = make([]float64, pooledResamples)
		for i := range x.pooled {
			x.pooled[i] = resampled95(rng, h) / resampled95(rng, b)
		}
		slices.Sort(x.pooled)
	}
	k := int(float64(pooledResamples+1) * 0.025)
	low, high := x.pooled[k-1]*(1+effect), x.pooled[pooledResamples-k]*(1+effect)
	return answer{word: intervalWord(low, high), low: low, high: high}
}

func pool(runs [][]float64) []float64 {
	all := slices.Concat(runs...)
	slices.Sort(all)
	return all
}

// resampled95 is the p95 of as many draws with replacement from sorted values.
func resampled95(rng *rand.Rand, sorted []float64) float64 {
	n := len(sorted)
	k := int(0.95*float64(n-1)) + 1
	g, h := gamma(rng, float64(k)), gamma(rng, float64(n-k+1))
	at := int(math.Ceil(float64(n)*g/(g+h))) - 1
	return sorted[max(0, min(n-1, at))]
}

// gamma draws from the gamma distribution of a shape of at least 1 (Marsaglia & Tsang 2000).
func gamma(rng *rand.Rand, shape float64) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		z := rng.NormFloat64()
		v := 1 + c*z
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rng.Float64()) < z*z/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
