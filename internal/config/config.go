// Package config says what was asked: it reads benchgate.yaml strictly and points at the bad line.
package config

import (
	"time"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
)

// Config is a benchgate.yaml with every default filled in and every unit resolved: seconds, tokens, fractions.
type Config struct {
	File      string // as given to Read; shown in errors and in findings
	Runner    string
	Target    Target
	Reference *Target // nil: none. It has inherited what it did not set.
	Campaign  Campaign
	Sampling  Sampling
	Scenarios []Scenario // in the order of the file
	Policy    gate.Policy
	Paths     []string // gate.paths; see [Needed]
	// Unused has a sentence for each key that the file sets and its design does not use, for a reader to see.
	Unused []string
}

// Target is a server to measure.
type Target struct {
	BaseURL string // may hold {port}
	Model   string
	API     string // "chat" or "completions"
	// APIKeyEnv names the environment variable that holds the key; the key itself is never in a file.
	APIKeyEnv  string
	LimitField string   // "auto", "max_tokens" or "max_completion_tokens"
	Command    []string // empty: an already running server; may hold {port}
	Dir        string
	Env        map[string]string
	PassEnv    []string
	ReadyPath  string // relative to the origin of BaseURL
	ReadyIn    time.Duration
	StopIn     time.Duration
	StopCmd    []string
	ResetPath  string
	Metrics    string // path of Prometheus metrics
	Remote     bool   // remote: allow
}

// Campaign is the protocol.
type Campaign struct {
	Design      string // "committed", "interleaved" or "confirm"
	Runs        int    // committed: runs per session
	Looks       []int
	VisitRuns   int
	WarmUp      int // requests
	CoolDown    time.Duration
	Budget      time.Duration // 0: none
	AbortErrors float64       // share of failed requests
	AbortInRow  int           // consecutive failures
	Client      Client
}

// Client holds the client and its host to limits: a run in which one is passed is void. Times in seconds, shares as
// fractions; 0 is no limit.
type Client struct {
	// Lateness bounds the schedule lag and the errors of the self-test, p99. Where LatenessShare of the run's TTFT p50 is
	// more, every limit that is a time grows with it.
	Lateness      float64
	LatenessShare float64
	Timer         float64 // overshoot of a 1 ms timer, p99
	Sched         float64 // wait of a goroutine for a processor, p99
	GCPause       float64 // longest pause of the garbage collector
	CPU           float64 // client's share of the machine's CPU time
	HostCPU       float64 // busy share of the whole machine
	Throttled     float64 // share of the machine's CPU time that a container's quota took away
}

// DefaultClient are the limits of a config that sets none. docs/client.md says why these and no others.
func DefaultClient() Client {
	return Client{Lateness: 0.005, LatenessShare: 0.10, Timer: 0.025, Sched: 0.025, Throttled: 0.25}
}

// Sampling is what every request carries beside its prompt.
type Sampling struct {
	Temperature float64
	ExtraBody   map[string]any
}

// Scenario is dataset + load + SLO.
type Scenario struct {
	Name         string
	Dataset      Dataset
	OutputTokens int
	Load         Load
	SLO          bench.SLO
	At           gate.Place
}

// Dataset says what is asked.
type Dataset struct {
	Kind        string  // "random", "jsonl", "sharegpt" or "prefix"
	InputTokens int     // random: mean length in tokens; prefix: of what stands behind the prefix
	Range       float64 // random, prefix: lengths are uniform in [⌊L(1−r)⌋, ⌈L(1+r)⌉]
	Path        string  // jsonl, sharegpt: relative to the config file's folder
	// Longest is the length in tokens of the longest question of a sharegpt dataset that is asked.
	Longest int
	// PrefixTokens is how many tokens the prompts of one of the Groups of a prefix dataset have in common.
	PrefixTokens, Groups int
}

// Load says how it is asked: exactly one of Rate (open loop) and Concurrency (closed loop) is set.
type Load struct {
	Rate           float64 // requests per second
	Concurrency    int
	Requests       int
	Burstiness     float64 // shape of the gamma: 1 is Poisson, +Inf constant
	Seed           uint32
	MaxConcurrency int // open loop: 0 is no limit
	// MinDuration, in seconds, is how long a closed loop goes on sending, beyond Requests if need be; 0 is no such time. Of an
	// open loop it is 0: there Requests holds what the schedule gives in that time.
	MinDuration  float64
	ReusePrompts bool
}

// Open reports whether arrivals follow a schedule.
func (l Load) Open() bool { return l.Rate > 0 }
