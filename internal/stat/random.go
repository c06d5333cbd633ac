package stat

import (
	"hash/fnv"
	"math/bits"
)

// golden is the step of SplitMix64: 2⁶⁴ over the golden ratio, odd.
const golden = 0x9E3779B97F4A7C15

// Seed is the start of the random sequence for one metric of one scenario: the FNV-1a hash of both names, xor the user's
// own number. The same names give the same resamples on every machine.
func Seed(metric, scenario string, user uint64) uint64 {
	h := fnv.New64a()
	h.Write([]byte("benchgate/1|" + metric + "|" + scenario))
	return h.Sum64() ^ user
}

// mix turns the k-th state, seed + k·golden, into the k-th number of SplitMix64 (Steele, Lea & Flood 2014, figure 16).
// Its numbers need no carried state, so a resample does not depend on those before it.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Draws is a sequence of random numbers that starts at its seed and is the same on every machine.
type Draws uint64

// Next is the next number of SplitMix64.
func (d *Draws) Next() uint64 {
	*d += golden
	return mix(uint64(*d))
}

// Below is a number from 0 to n − 1: the high word of the product (Lemire 2019), whose bias is below n·2⁻⁶⁴.
func (d *Draws) Below(n int) int {
	hi, _ := bits.Mul64(d.Next(), uint64(n))
	return int(hi)
}
