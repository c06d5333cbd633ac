package sim

import "time"

// networkDelay is how much later a slow network delivers.
const networkDelay = 50 * time.Millisecond

// accounts are faults of what the server tells about itself, or in what the client sees beside it.
func accounts() []fault {
	return []fault{
		{
			Fault: Fault{"slow-network", "delivers every byte 50 ms after the server has written and counted it"},
			late:  networkDelay,
		},
		{
			Fault: Fault{"timings", "tells in the last chunk how long it worked, as llama-server does"},
			shape: func(a *answer) { a.tells = timings },
		},
		{
			Fault: Fault{"request-metrics", "tells beside the usage how long it worked, as vLLM does with --enable-per-request-metrics"},
			shape: func(a *answer) { a.tells = requestMetrics },
		},
		{
			Fault:       Fault{"metrics-lie", "counts everything twice on /metrics"},
			countsTwice: true,
		},
	}
}
