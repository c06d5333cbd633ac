package sim

import (
	"math"
	"time"
)

// pace is how fast one request is served while no other is.
type pace struct{ prefill, token time.Duration }

// pace draws the speeds of a request. The draws are multiplicative and log-normal: one shared by the run, one for the
// request's prefill, one for its decoding.
func (o Options) pace(p prompt) pace {
	all := (1 + o.Slow) * math.Exp(o.RunSD*normal(o.Seed, "run", p.salt))
	prefill := all * math.Exp(o.RequestSD*normal(o.Seed, "prefill", p.key)) * o.length(p)
	token := all * math.Exp(o.RequestSD*normal(o.Seed, "token", p.key))
	return pace{prefill: scale(o.TTFT, prefill), token: scale(o.TPOT, token)}
}

// length is the share of TTFT that the prompt's length asks for: 1 at PrefillTokens.
func (o Options) length(p prompt) float64 {
	if o.PrefillTokens == 0 {
		return 1
	}
	return 0.5 + 0.5*float64(len(p.ids))/float64(o.PrefillTokens)
}

// load is the factor by which work slows when so many slots are busy.
func (o Options) load(busy int) float64 {
	if o.Slots < 2 || busy < 2 {
		return 1
	}
	return 1 + o.LoadFactor*float64(busy-1)/float64(o.Slots-1)
}

func scale(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// normal is a standard normal number that belongs to the seed, the use and the key.
func normal(seed uint64, use string, key uint64) float64 {
	h := mix(seed ^ mix(fnv1a(use)^mix(key)))
	u := (float64(h>>11) + 0.5) / (1 << 53)
	return math.Sqrt2 * math.Erfinv(2*u-1)
}

// mix is the finaliser of SplitMix64 (Steele, Lea & Flood 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
