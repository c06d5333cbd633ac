package campaign

import (
	"strings"
	"testing"
	"time"
)

const lastingConfig = `version: 1
runner: lab
target: {base_url: http://127.0.0.1:8000/v1, model: m, ready: {within: 1s}}
campaign: {design: committed, runs: 1, warmup: {requests: 0}}
scenarios:
  batch:
    dataset: {kind: random, input_tokens: 9}
    output_tokens: 1
    load: {concurrency: 4, requests: 40, min_duration: 60s}
`

// A run and its warm-up run last a minute at the least, at the most 2 s longer: the last request may be sent at the end of
// the minute. The fastest assumed server answers in 20 ms, so 4 at a time are 3001 rounds.
func TestPlanOfALastingRun(t *testing.T) {
	for name, c := range map[string]struct {
		change      [2]string
		known       map[string]float64
		best, worst time.Duration
		requests    int
	}{
		"a minute":                {best: 2 * time.Minute, worst: 2*62*time.Second + time.Second, requests: 2 * 4 * 3001},
		"as long as the requests": {change: [2]string{"60s", "1s"}, best: 2 * time.Second, worst: 2*20*time.Second + time.Second, requests: 2 * 4 * 51},
		"an earlier run":          {known: map[string]float64{"batch": 62}, best: 2 * time.Minute, worst: 2*124*time.Second + time.Second, requests: 2 * 4 * 3001},
		"bounded":                 {change: [2]string{"60s", "24h"}, best: 48 * time.Hour, worst: 48*time.Hour + 5*time.Second, requests: 2_000_000},
	} {
		p := planOf(t, strings.Replace(lastingConfig, c.change[0], c.change[1], 1), ".", 0, c.known)
		if p.Best != c.best || p.Worst != c.worst || p.Requests != c.requests {
			t.Errorf("%s: %v to %v, at most %d requests; want %v to %v, at most %d", name, p.Best, p.Worst, p.Requests, c.best, c.worst, c.requests)
		}
		if p.Tokens != 10*p.Requests {
			t.Errorf("%s: %d tokens for %d requests of 10", name, p.Tokens, p.Requests)
		}
	}
}
