package bench

import (
	"math"

	"github.com/benchgate/benchgate/internal/stat"
)

// Client is the client's account of itself during one run: how far its own faults, and those of its machine, may have moved
// the figures of the run. Seconds and ratios; 0 is nothing, or not known. docs/client.md says what each figure means.
type Client struct {
	LagP50 float64 `json:"lag_p50,omitempty"` // sent − scheduled
	LagP99 float64 `json:"lag_p99,omitempty"`
	LagMax float64 `json:"lag_max,omitempty"`
	// LagLimit is the lag at p99 from which this run would have been void.
	LagLimit float64 `json:"lag_limit,omitempty"`
	// SelfTest50 and SelfTest99 are the error of a TTFT in the loopback self-test at the scenario's concurrency; of
	// SelfTestStream99 it is by how much a whole stream seemed longer than it was.
	SelfTest50       float64 `json:"self_test_p50,omitempty"`
	SelfTest99       float64 `json:"self_test_p99,omitempty"`
	SelfTestStream99 float64 `json:"self_test_stream_p99,omitempty"`
	TimerP99         float64 `json:"timer_p99,omitempty"` // overshoot of a 1 ms timer
	SchedP99         float64 `json:"sched_p99,omitempty"` // wait of a goroutine that could run for a processor
	GCPause          float64 `json:"gc_pause_max,omitempty"`
	CPU              float64 `json:"cpu,omitempty"`       // client's CPU seconds ÷ (duration × cores)
	HostCPU          float64 `json:"host_cpu,omitempty"`  // whole host's busy share
	Throttled        float64 `json:"throttled,omitempty"` // time in which a container's CPU quota stopped threads ÷ (duration × cores)
	// SameHost says that the server ran on the client's machine, so that what the client used of it the server lacked.
	SameHost bool `json:"same_host,omitempty"`
	// OpenFiles is how many files this process could hold open, and Connections how many the load was expected to need.
	OpenFiles   int     `json:"open_files,omitempty"`
	Connections int     `json:"connections,omitempty"`
	Coalesced   float64 `json:"coalesced,omitempty"` // share of chunks that came with another in one read
	Queued      float64 `json:"queued,omitempty"`    // share of requests that max_concurrency delayed
	Reconnects  int     `json:"reconnects,omitempty"`
}

// figures are the numbers that are worse the larger they are.
func (c *Client) figures() []*float64 {
	return []*float64{
		&c.LagP50, &c.LagP99, &c.LagMax, &c.LagLimit, &c.SelfTest50, &c.SelfTest99, &c.SelfTestStream99, &c.TimerP99, &c.SchedP99,
		&c.GCPause, &c.CPU, &c.HostCPU, &c.Throttled, &c.Coalesced, &c.Queued,
	}
}

// Worst is the worse of each figure of two runs, in which what is no number is nothing.
func (c Client) Worst(d Client) Client {
	other := d.figures()
	for i, f := range c.figures() {
		*f = max(tidy(*f), tidy(*other[i]))
	}
	c.SameHost = c.SameHost || d.SameHost
	c.OpenFiles = fewest(c.OpenFiles, d.OpenFiles)
	c.Connections = max(c.Connections, d.Connections)
	c.Reconnects = max(c.Reconnects, d.Reconnects)
	return c
}

func tidy(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return stat.Round(max(0, x))
}

// fewest is the smaller of two counts of which 0 is unknown.
func fewest(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// numbers are the figures by their names in a file, for those who check them.
func (c Client) numbers() []number {
	return []number{
		{"lag_p50", max(c.LagP50, 0)},
		{"lag_p99", max(c.LagP99, 0)},
		{"lag_max", max(c.LagMax, 0)},
		{"lag_limit", c.LagLimit},
		{"self_test_p50", c.SelfTest50},
		{"self_test_p99", c.SelfTest99},
		{"self_test_stream_p99", c.SelfTestStream99},
		{"timer_p99", c.TimerP99},
		{"sched_p99", c.SchedP99},
		{"gc_pause_max", c.GCPause},
		{"cpu", c.CPU},
		{"host_cpu", c.HostCPU},
		{"throttled", c.Throttled},
		{"open_files", float64(c.OpenFiles)},
		{"connections", float64(c.Connections)},
		{"coalesced", c.Coalesced},
		{"queued", c.Queued},
		{"reconnects", float64(c.Reconnects)},
	}
}
