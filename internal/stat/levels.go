package stat

import (
	"fmt"
	"math"
)

// Levels returns the one-sided level at which each look may decide, so that looking several times errs no more often
// than alpha altogether. Looks are run counts, strictly rising, the last the largest; by look n the share (n/last)² of
// alpha is spent (Kim & DeMets 1987). One look has alpha itself. They are computed for normal data and used on Student's
// scale.
//
// The published table was made on a grid of 0.005 standard deviations, which puts each later boundary half a step further
// out than it need be. That is kept, so that these levels have the table's digits for any list of looks: they are at most
// 2 % smaller than the exact ones, on the safe side. Oracle: testdata/oracles.json has both.
func Levels(looks []int, alpha float64) ([]float64, error) {
	if !(alpha > 0 && alpha < 0.5) {
		return nil, fmt.Errorf("alpha %v is not between 0 and 0.5", alpha)
	}
	if len(looks) == 0 {
		return nil, fmt.Errorf("levels of no looks: %w", ErrTooFew)
	}
	before := 0
	for _, n := range looks {
		if n <= before {
			return nil, fmt.Errorf("looks %v: want positive numbers that rise", looks)
		}
		before = n
	}
	last := float64(looks[len(looks)-1])
	levels := make([]float64, len(looks))
	var w walk
	for i, n := range looks {
		t, earlier, later := float64(n)/last, 0.0, 1.0
		if i > 0 {
			earlier = float64(looks[i-1]) / last
		}
		if i+1 < len(looks) {
			later = float64(looks[i+1]) / last
		}
		spend := alpha * (float64(t*t) - float64(earlier*earlier))
		c := w.boundary(correlation(earlier, t), spend)
		levels[i] = Round(normalTail(c))
		if i == len(looks)-1 {
			break
		}
		w = w.step(correlation(earlier, t), correlation(t, later), c)
	}
	return levels, nil
}

// grid is the step of the table's grid, in standard deviations.
const grid = 0.005

// reach is how many standard deviations out a walk is followed: beyond lies less than 1e-18.
const reach = 9.0

// correlation is that of the z statistics of two looks, at the shares s and t of the data.
func correlation(s, t float64) float64 { return math.Sqrt(s / t) }

// walk is where the z statistic of a look may lie when no look has decided so far: its density times quadrature weights,
// at some points (Armitage, McPherson & Rowe 1969). Empty is the state before the first look.
type walk struct {
	at, mass []float64
}

// crossing is the chance that the next look's z, of correlation r with this one's, lies above c.
func (w walk) crossing(r, c float64) float64 {
	if w.at == nil {
		return normalTail(c)
	}
	p, sd := 0.0, math.Sqrt(1-float64(r*r))
	for i, z := range w.at {
		p += float64(w.mass[i] * normalTail((c-float64(r*z))/sd))
	}
	return p
}

// boundary finds the z above which the next look decides with the given chance.
func (w walk) boundary(r, chance float64) float64 {
	low, high := -reach, reach
	for range 60 {
		if c := low + float64((high-low)/2); w.crossing(r, c) > chance {
			low = c
		} else {
			high = c
		}
	}
	if w.at == nil {
		return low
	}
	return low + grid/2
}

// step goes on to the next look, of correlation r with this one, and drops what lies above c; after is the next look's
// own correlation with the one that follows it. Panels are narrower than two standard deviations of either move, where
// 16 points leave no error worth naming.
func (w walk) step(r, after, c float64) walk {
	narrow := 1.0
	for _, x := range []float64{r, after} {
		if x > 0 && x < 1 {
			narrow = math.Min(narrow, math.Sqrt(1-float64(x*x)))
		}
	}
	cut := float64((math.Ceil(c/grid) - 0.5) * grid) // the last cell of the grid that lies below c
	panels := int(math.Ceil((cut + reach) / (2 * narrow)))
	half := (cut + reach) / float64(2*panels)
	var next walk
	for p := range panels {
		centre := float64(float64(2*p+1)*half) - reach
		for _, g := range gauss {
			for _, x := range [2]float64{-g.x, g.x} {
				z := centre + float64(x*half)
				next.at = append(next.at, z)
				next.mass = append(next.mass, g.w*half*w.density(r, z))
			}
		}
	}
	return next
}

// density of the next look's z, of correlation r with this one's.
func (w walk) density(r, z float64) float64 {
	if w.at == nil {
		return normalDensity(z)
	}
	sum, sd := 0.0, math.Sqrt(1-float64(r*r))
	for i, from := range w.at {
		sum += float64(w.mass[i] * normalDensity((z-float64(r*from))/sd))
	}
	return sum / sd
}

// gauss holds the positive half of the 16-point Gauss-Legendre rule on −1 to 1 (Abramowitz & Stegun 1964, table 25.4).
var gauss = [8]struct{ x, w float64 }{
	{0.0950125098376374, 0.1894506104550685},
	{0.2816035507792589, 0.1826034150449236},
	{0.4580167776572274, 0.1691565193950025},
	{0.6178762444026438, 0.1495959888165767},
	{0.7554044083550030, 0.1246289712555339},
	{0.8656312023878318, 0.0951585116824928},
	{0.9445750230732326, 0.0622535239386479},
	{0.9894009349916499, 0.0271524594117541},
}

func normalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
