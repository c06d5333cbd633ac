package sim

import "time"

// The members in which an answer carries the server's account of it.
const (
	timings        = "timings" // llama-server's, in the last chunk
	requestMetrics = "metrics" // vLLM's under --enable-per-request-metrics, in the chunk with the usage
)

// told is the account of the answer, in the words of who tells it. It belongs behind the last token.
func (r *Record) told(a *answer) map[string]any {
	prefill, decode := r.First.Sub(r.Began), r.Last.Sub(r.First)
	m := map[string]any{}
	if a.tells == requestMetrics {
		m["time_to_first_token_ms"] = millis(prefill)
		m["generation_time_ms"] = millis(decode)
		m["queue_time_ms"] = millis(r.Began.Sub(r.Received))
		setRatio(m, "mean_itl_ms", millis(decode), float64(r.Tokens-1))
		setRatio(m, "tokens_per_second", float64(r.Tokens), (prefill + decode).Seconds())
		return m
	}
	fresh := a.prompt.tokens() - a.cached
	m["cache_n"] = a.cached
	m["prompt_n"], m["prompt_ms"] = fresh, millis(prefill)
	setRatio(m, "prompt_per_token_ms", millis(prefill), float64(fresh))
	setRatio(m, "prompt_per_second", float64(fresh), prefill.Seconds())
	m["predicted_n"], m["predicted_ms"] = r.Tokens, millis(decode)
	setRatio(m, "predicted_per_token_ms", millis(decode), float64(r.Tokens-1))
	setRatio(m, "predicted_per_second", float64(r.Tokens-1), decode.Seconds())
	return m
}

func millis(d time.Duration) float64 { return float64(d) / 1e6 }

// setRatio leaves a member out that would be no number.
func setRatio(m map[string]any, name string, of, to float64) {
	if to > 0 {
		m[name] = of / to
	}
}
