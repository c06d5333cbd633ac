package noise

import (
	"math"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/stat"
)

// Metric is the noise of one metric. SD, Workload and the effects are on the scale on which it is compared: logarithm, or
// logit of a share. [Metric.Change] turns them into what a reader is told.
type Metric struct {
	bench.Metric
	// Typical is the geometric mean over the runs; of a share that of all requests together.
	Typical float64
	N       int
	// SD is the standard deviation between runs, SDLow and SDHigh bound it with 95 % confidence if runs are normal.
	SD, SDLow, SDHigh float64
	// Workload is the part of SD that chance in the requests of a run explains by itself; 0 when it cannot be told.
	Workload float64
	// Order is the change from the first run to the last by a straight line; First the distance of the first run from the
	// mean of the others.
	Order, First Effect
	// Steady is SD once the line through the runs is taken out, as the model of an interleaved comparison does.
	Steady float64
	// Outlying are the indices of runs far from the others, and Orders the orders of all runs.
	Outlying, Orders []int

	levels []float64
	centre float64 // their mean
	each   float64 // requests a run
}

// Effect is a difference with the half-width of its 99 % interval. There are many of them in a report, two a metric: at
// 95 % every other calibration of a quiet machine would show one.
type Effect struct{ Change, Half float64 }

// Shown reports whether the effect can be told from 0.
func (e Effect) Shown() bool { return math.Abs(e.Change) > e.Half }

const (
	sureOfEffect = 0.99
	sureOfSD     = 1.959963985 // quantile of the normal distribution for 95 %
	leastSD      = 0.005       // less is not believed of runs
)

// spread fills in what the levels of the runs say.
func (m *Metric) spread() {
	n := len(m.levels)
	m.N = n
	mean, sd := moments(m.levels)
	m.SD = stat.Round(sd)
	m.SDLow, m.SDHigh = boundsOfSD(m.SD, n-1)
	m.centre = stat.Round(mean)
	if m.Scale == bench.Log {
		m.Typical = stat.Round(math.Exp(mean))
	}
	m.Order, m.Steady = trend(m.levels)
	m.First = first(m.levels)
	m.Outlying = stat.Outlying(m.levels)
}

// Change turns a difference into a fraction of the typical value, or into points of a share.
func (m Metric) Change(y float64) float64 {
	if m.Scale == bench.Logit {
		return stat.Expit(m.centre+y) - stat.Expit(m.centre)
	}
	return math.Expm1(y)
}

// Worse is a difference for the worse as rules name it: base ÷ head of a rate, points of a share.
func (m Metric) Worse(y float64) float64 {
	if m.Scale == bench.Logit {
		return -m.Change(-y)
	}
	return math.Expm1(y)
}

// Percent is a standard deviation as a reader is told it: of a logarithm it is nearly a fraction already; of a logit it is
// in points, by the slope of the share there.
func (m Metric) Percent(sd float64) float64 {
	if m.Scale == bench.Logit {
		p := stat.Expit(m.centre)
		return sd * p * (1 - p)
	}
	return sd
}

// Believed is the standard deviation with which a comparison will reckon: runs are never believed to be alike to less than
// half a per cent, and shares never to be more alike than independent requests make them.
func (m Metric) Believed() float64 {
	floor := leastSD
	if m.Scale == bench.Logit {
		floor = stat.LogitSD(stat.Expit(m.centre), m.each)
	}
	return math.Max(m.SD, floor)
}

// trend is the least-squares line through the runs in their order, and the standard deviation around it.
func trend(ys []float64) (course Effect, around float64) {
	n := float64(len(ys))
	mean, _ := moments(ys)
	var xx, xy float64
	for i, y := range ys {
		x := float64(i) - (n-1)/2
		xx += x * x
		xy += float64(x * (y - mean))
	}
	slope := xy / xx
	rss := 0.0
	for i, y := range ys {
		e := y - mean - float64(slope*(float64(i)-(n-1)/2))
		rss += float64(e * e)
	}
	way := n - 1
	around = math.Sqrt(rss / (n - 2))
	return effect(slope*way, around/math.Sqrt(xx)*way, n-2), stat.Round(around)
}

// first is the first run's distance from the mean of the others, with the error of a new run around that mean.
func first(ys []float64) Effect {
	rest := ys[1:]
	mean, sd := moments(rest)
	n := float64(len(rest))
	return effect(ys[0]-mean, sd*math.Sqrt(1+1/n), n-1)
}

func effect(change, se, df float64) Effect {
	return Effect{stat.Round(change), stat.SmallestDetectable(se, df, sureOfEffect, 0.5)}
}

// boundsOfSD is the 95 % interval of a standard deviation: χ² of the sum of squares, its quantiles by Wilson & Hilferty
// (1931). The upper end is 9 % too high at 3 degrees of freedom, 4 % at 4 and less than 1 % from 8 on; the lower is right to 0.2 %.
func boundsOfSD(sd float64, df int) (low, high float64) {
	v := 2 / (9 * float64(df))
	ratio := func(z float64) float64 { return math.Pow(math.Max(1-v+float64(z*math.Sqrt(v)), 1e-9), 1.5) }
	return stat.Round(sd / ratio(sureOfSD)), stat.Round(sd / ratio(-sureOfSD))
}

func moments(ys []float64) (mean, sd float64) {
	for _, y := range ys {
		mean += (y - ys[0]) / float64(len(ys))
	}
	mean += ys[0]
	sd, err := stat.SD(ys)
	if err != nil {
		return mean, 0
	}
	return mean, sd
}

// points reports whether changes of the metric are told in points of a share.
func (m Metric) points() bool { return m.Scale == bench.Logit }
