package stat

import "errors"

// The reasons for which a comparison is refused.
var (
	ErrTooFew    = errors.New("too few values")
	ErrNotFinite = errors.New("not a finite number")
	ErrOrder     = errors.New("order of the runs cannot separate a trend from the change")
)

// Sample is one side of a comparison: one value a run, on the scale of the analysis (logarithm or logit).
type Sample struct {
	// Sessions holds the runs of each session, in the order they were measured.
	Sessions [][]float64
	// Order, parallel to Sessions, is each run's place in a campaign that both sides share. It is used only when
	// Options.SameSession is set; nil means unknown.
	Order [][]float64
}

// Options of a comparison. The zero value is a 95 % interval from 9,999 resamples, sides from different sessions.
type Options struct {
	Confidence float64 // two-sided; 0 means 0.95
	Resamples  int     // 0 means 9,999
	Seed       uint64  // see [Seed]
	DaySD      float64 // prior sd between sessions, analysis scale; 0 means 0.05
	DayDF      float64 // weight of that prior in sessions; 0 means 4
	Floor      float64 // least believable sd between runs; 0 means 0.005
	// SameSession says that both sides were measured in one campaign, so that no day lies between them.
	SameSession bool
}

// Comparison is the change from base to head on the scale of the analysis: positive when head is larger.
type Comparison struct {
	Delta float64 // head − base
	// Low and High bound Delta at the confidence asked for. Either may be infinite: so few runs bound nothing at so high
	// a confidence.
	Low, High float64
	// SE and DF are the standard error and degrees of freedom of the widest t interval that went into Low and High; see
	// [SmallestDetectable].
	SE, DF float64
	P      float64 // one-sided: chance of a Delta so large between equal sides
	PLess  float64 // one-sided: chance of a Delta so small
	// PPerm is P by exact permutation of the runs: a second opinion. Nil when there are too many arrangements to list, or
	// when the order of the runs is part of the model.
	PPerm *float64
	SD    float64 // residual standard deviation between runs, before Options.Floor
	// Method names what went into the interval.
	Method string
	// Degenerate says that the runs differ less than Options.Floor, which was used in place of their own sd.
	Degenerate bool
	Warnings   []string
}

// Compare estimates the change from base to head.
func Compare(base, head Sample, o Options) (Comparison, error) {
	return Comparison{}, ErrTooFew
}

// Holm adjusts p values for having been asked together.
func Holm(p []float64) []float64 { return p }

// SmallestDetectable is the change that a comparison finds with the given power.
func SmallestDetectable(se, df, confidence, power float64) float64 { return se }

// Share is a proportion with its interval.
type Share struct {
	Point, Low, High float64
	// DesignEffect is the variance of Point over that of independent requests, Rho the correlation within a run behind
	// it, N the number of independent requests that would carry the same information.
	DesignEffect, Rho, N float64
}

// Proportion estimates the share of requests that met a target, from runs.
func Proportion(met, of []int, confidence float64) (Share, error) { return Share{}, ErrTooFew }

// Levels returns the one-sided level of each look.
func Levels(looks []int, alpha float64) ([]float64, error) { return nil, ErrTooFew }
