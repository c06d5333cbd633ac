package load

import "math"

// Arrivals returns the times, in seconds after the start of a run, at which `vllm bench serve` sends its requests for the
// same seed, rate (requests per second), burstiness and number of requests.
//
// The gaps are draws from a gamma distribution with shape burstiness, made by NumPy's legacy generator: 1 gives a Poisson
// process, less is burstier, +Inf is a constant gap of 1/rate. They are summed, and the whole is stretched so that the
// last request is due at n/rate: the mean rate is exact, and the first request is not at 0. (vLLM 0.33, benchmarks/serve.py,
// get_request; the oracle is testdata/make_schedules.py.)
//
// A rate or burstiness that is not positive returns nil.
func Arrivals(seed uint32, rate, burstiness float64, n int) []float64 {
	if n < 1 || !(rate > 0) || math.IsInf(rate, 1) || !(burstiness > 0) {
		return nil
	}
	at := make([]float64, n)
	random := newLegacy(seed)
	sum := 0.0
	for i := range at {
		if math.IsInf(burstiness, 1) {
			sum += 1 / rate
		} else {
			sum += random.gamma(burstiness) / (rate * burstiness)
		}
		at[i] = sum
	}
	if sum > 0 {
		stretch := float64(n) / rate / sum
		for i := range at {
			at[i] *= stretch
		}
	}
	return at
}
