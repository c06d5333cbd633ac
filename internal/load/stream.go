package load

import (
	"hash/fnv"
	"math/bits"
)

// stream is a source of random numbers that is written out here so that it stays the same for good, since prompts made from
// it are compared over years: SplitMix64 (Steele, Lea and Flood 2014), begun at FNV-1a of "benchgate.load/1" and a purpose,
// xor the seed times an odd constant.
type stream struct{ state uint64 }

func newStream(seed uint32, purpose string) *stream {
	h := fnv.New64a()
	h.Write([]byte("benchgate.load/1|" + purpose))
	return &stream{state: h.Sum64() ^ uint64(seed)*0x9e3779b97f4a7c15}
}

func (s *stream) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is uniform in 0 … n−1: the high word of a product (Lemire 2019), whose bias of n in 2⁶⁴ is nothing here.
func (s *stream) below(n int) int {
	high, _ := bits.Mul64(s.next(), uint64(n))
	return int(high)
}
