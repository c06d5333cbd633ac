package stat

import (
	"fmt"
	"math"
	"strconv"
)

// Round returns x with 10 significant digits. Logarithms differ in their last bits between processors; a number that was
// rounded before it is compared or written is the same on all of them. Infinities and NaN stay as they are.
func Round(x float64) float64 {
	if x == 0 {
		return 0 // not −0
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 9, 64), 64)
	if err != nil {
		return x // only the very largest floats round out of range
	}
	return r
}

// SD returns the standard deviation of a sample, with n − 1 below the sum.
func SD(xs []float64) (float64, error) {
	if len(xs) < 2 {
		return 0, fmt.Errorf("standard deviation of %d values: %w", len(xs), ErrTooFew)
	}
	return math.Sqrt(sumSquares(xs, mean(xs)) / float64(len(xs)-1)), nil
}

// Logit is the scale on which shares of runs are compared: ln((met + ½)/(of − met + ½)), finite even when all or none of
// the requests met the target. It panics unless 0 ≤ met ≤ of.
func Logit(met, of int) float64 {
	if met < 0 || met > of {
		panic(fmt.Sprintf("stat.Logit(%d, %d): want 0 ≤ met ≤ of", met, of))
	}
	return math.Log((float64(met) + 0.5) / (float64(of-met) + 0.5))
}

// Expit turns a logit back into a share.
func Expit(y float64) float64 { return 1 / (1 + math.Exp(-y)) }

// LogitSD is the standard deviation of the logit of a run in which so many independent requests meet the target with the
// chance of share: √(1/met + 1/missed), with the half of [Logit]. Runs cannot be more alike than that.
func LogitSD(share, requests float64) float64 {
	return math.Sqrt(1/(float64(share*requests)+0.5) + 1/(float64((1-share)*requests)+0.5))
}

// mean is that of values known to be there. It sums differences from the first value, so that many equal values have
// exactly that value as their mean.
func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x - xs[0]
	}
	return xs[0] + sum/float64(len(xs))
}

// sumSquares is the sum of squared differences from c.
func sumSquares(xs []float64, c float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += float64((x - c) * (x - c))
	}
	return sum
}
