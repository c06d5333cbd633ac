package load

import "math"

// legacy is NumPy's RandomState(seed): the Mersenne Twister MT19937 (Matsumoto and Nishimura 1998, mt19937ar.c) and the
// distributions of numpy/random/src/legacy/legacy-distributions.c. NumPy has frozen both, so their streams do not change.
type legacy struct {
	state [mtSize]uint32
	next  int
	// spare is the second of two normal draws, kept for the next call.
	spare    float64
	hasSpare bool
}

const (
	mtSize  = 624
	mtShift = 397
)

// newLegacy seeds as init_genrand does.
func newLegacy(seed uint32) *legacy {
	l := &legacy{next: mtSize}
	for i := range l.state {
		l.state[i] = seed
		seed = 1812433253*(seed^seed>>30) + uint32(i) + 1
	}
	return l
}

func (l *legacy) refill() {
	for i := range l.state {
		y := l.state[i]&0x80000000 | l.state[(i+1)%mtSize]&0x7fffffff
		v := l.state[(i+mtShift)%mtSize] ^ y>>1
		if y&1 == 1 {
			v ^= 0x9908b0df
		}
		l.state[i] = v
	}
	l.next = 0
}

func (l *legacy) uint32() uint32 {
	if l.next == mtSize {
		l.refill()
	}
	y := l.state[l.next]
	l.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// float64 is uniform in [0, 1) with 53 bits.
func (l *legacy) float64() float64 {
	a, b := l.uint32()>>5, l.uint32()>>6
	return (float64(a)*67108864 + float64(b)) / 9007199254740992
}

func (l *legacy) exponential() float64 { return -math.Log(1 - l.float64()) }

// normal is Marsaglia's polar method. It makes two draws at a time.
func (l *legacy) normal() float64 {
	if l.hasSpare {
		l.hasSpare = false
		return l.spare
	}
	for {
		x, y := 2*l.float64()-1, 2*l.float64()-1
		r := x*x + y*y
		if r >= 1 || r == 0 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(r) / r)
		l.spare, l.hasSpare = f*x, true
		return f * y
	}
}

// gamma has mean shape and scale 1.
func (l *legacy) gamma(shape float64) float64 {
	switch {
	case shape == 1:
		return l.exponential()
	case shape < 1:
		return l.gammaBelow1(shape)
	default:
		return l.gammaAbove1(shape)
	}
}

// gammaBelow1 is Ahrens and Dieter's rejection (1974, algorithm GS).
func (l *legacy) gammaBelow1(shape float64) float64 {
	for {
		u, v := l.float64(), l.exponential()
		if u <= 1-shape {
			if x := math.Pow(u, 1/shape); x <= v {
				return x
			}
			continue
		}
		y := -math.Log((1 - u) / shape)
		if x := math.Pow(1-shape+shape*y, 1/shape); x <= v+y {
			return x
		}
	}
}

// gammaAbove1 is Marsaglia and Tsang's method (2000).
func (l *legacy) gammaAbove1(shape float64) float64 {
	b := shape - 1.0/3
	c := 1 / math.Sqrt(9*b)
	for {
		x := l.normal()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := l.float64()
		if u < 1-0.0331*(x*x)*(x*x) || math.Log(u) < 0.5*x*x+b*(1-v+math.Log(v)) {
			return b * v
		}
	}
}
