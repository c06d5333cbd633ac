// Package bench says what was measured.
//
// A [Request] is one streamed answer. A [Run] is one pass of a scenario, condensed from its requests. A [Visit] is what
// happens between one start of the server and its stop; a [Session] is one campaign against one build of the server; a
// [Digest] holds the sessions of one scenario on one runner and is the file that people commit as a baseline.
//
// Everything here is a value: no clock, no file, no network. Units are seconds, tokens, bytes and ratios. A number that
// could not be measured is absent, never 0 and never NaN.
package bench

import "time"

// Schema names of the files this package reads and writes. A reader refuses another kind and an unknown major version.
const (
	DigestSchema   = "benchgate.digest/v1"
	CampaignSchema = "benchgate.campaign/v1"
	RowsSchema     = "benchgate.rows/v1"
)

// Digest is one scenario on one runner: its surroundings, and its sessions, oldest first.
type Digest struct {
	Schema   string `json:"schema"`
	Runner   string `json:"runner"`
	Scenario string `json:"scenario"`
	// Simulated is true when any session was measured on the simulated server. Every report made from it says so.
	Simulated bool `json:"simulated,omitempty"`
	// MustMatch holds what has to agree before two digests may be compared: see the Key constants.
	MustMatch map[string]string `json:"must_match"`
	// SLO is what the goodput counts in the runs were counted against; zero when the scenario has none.
	SLO SLO `json:"slo,omitzero"`
	// Text says how prompts of a wanted token length were made, so that both sides of a comparison send the same text.
	Text Calibration `json:"text,omitzero"`
	// Epoch begins when a level change was accepted; the zero value is the first.
	Epoch Epoch `json:"epoch,omitzero"`
	// Noise is what a calibration of this runner found for the scenario; nil when there was none.
	Noise    *Noise    `json:"noise,omitempty"`
	Sessions []Session `json:"sessions"`
}

// Keys of Digest.MustMatch. A key unknown on both sides is a warning, on one side incomparable.
const (
	KeyMachine     = "machine"       // id of the machine
	KeyAccelerator = "accelerator"   // GPU or other accelerator, with count
	KeyDriver      = "driver"        // driver, major version only
	KeyModel       = "model"         // model and quantisation
	KeyWorkload    = "workload"      // hash over unsalted prompts, salt rule, schedule and output length
	KeyTopology    = "topology"      // client on the same host as the server, or not
	KeyDefinitions = "definitions"   // version of the metric definitions
	KeyOutput      = "output"        // "exact" or "ceiling": could the server be made to write exactly so many tokens
	KeyCounts      = "token_counts"  // "chunks" where the server counts no tokens and its chunks are counted instead; else absent
	KeyTool        = "measured_with" // benchgate, or the tool that an imported file came from
)

// The values of KeyTopology that this program writes.
const (
	SameHost  = "client on the server's host"
	OtherHost = "client on another host"
)

// Definitions is the version of the metric definitions in this program: the value of KeyDefinitions.
const Definitions = "type7/1"

// Keys of Session.UnderTest that this program fills in. They may differ between sides and are shown as a diff.
const (
	KeyEngine  = "engine"
	KeyVersion = "version"
	KeyCommit  = "commit"
	KeyCommand = "command"
)

// Calibration is what was learnt about the server's tokenizer, so that a prompt of a wanted length can be made from words.
type Calibration struct {
	// Method is "tokens" (token-id prompts), "tokenize" (the server's endpoint) or "usage" (measured by usage.prompt_tokens).
	Method string `json:"method,omitempty"`
	// TokensPerWord is the slope and Overhead the constant number of tokens around a prompt (chat template, BOS).
	TokensPerWord float64 `json:"tokens_per_word,omitempty"`
	Overhead      float64 `json:"overhead,omitempty"`
}

// Epoch is a stretch of history at one accepted level.
type Epoch struct {
	Number  int       `json:"number"`
	Started time.Time `json:"started,omitzero"`
	Reason  string    `json:"reason,omitempty"`
	Who     string    `json:"who,omitempty"`
	// Level is where the epoch began: each metric's geometric mean over the runs of its first session (the plain mean of a
	// ratio), in the unit of the metric. It outlives the sessions themselves, of which only the last ten are kept.
	Level map[string]float64 `json:"level,omitempty"`
}

// Noise is how far equal builds differ on one runner, as a calibration measured it.
type Noise struct {
	Measured time.Time `json:"measured"`
	// Design is "committed" when the runs stood in one start of the server, "interleaved" when each had a start of its own.
	Design string `json:"design"`
	Runs   int    `json:"runs"`
	// Metrics maps a metric's name to its noise.
	Metrics map[string]MetricNoise `json:"metrics"`
}

// MetricNoise is the noise of one metric, on the scale on which it is compared: logarithm, or logit of a ratio.
type MetricNoise struct {
	SD float64 `json:"sd"` // between runs
	// Workload is the part of SD that chance in the requests of a run explains by itself; 0 when it cannot be told.
	Workload float64 `json:"workload_sd,omitempty"`
	Order    float64 `json:"order,omitempty"` // change from the first run to the last, by a straight line
	First    float64 `json:"first,omitempty"` // the first run's distance from the mean of the others
}

// Session is one campaign against one build of the server.
type Session struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	// Interleaved is true when this campaign measured both sides in turn. Two digests whose only sessions are
	// interleaved and have the same ID are compared inside that session, with run order in the model.
	Interleaved bool `json:"interleaved,omitempty"`
	// Planned is how many valid runs this campaign was to have; with fewer it was not finished, and nothing may be read
	// off it. 0: not known, as in imported results.
	Planned int `json:"planned_runs,omitempty"`
	// Looks are the numbers of visits a side at which an interleaved campaign may decide, fixed before it began.
	Looks []int `json:"looks,omitempty"`
	// UnderTest is what may differ: engine, version, commit, flags.
	UnderTest map[string]string `json:"under_test,omitempty"`
	// Origin says who accepted this session into a baseline; zero in a candidate.
	Origin   Origin   `json:"origin,omitzero"`
	Warnings []string `json:"warnings,omitempty"`
	Visits   []Visit  `json:"visits"`
}

// Origin is the record of an acceptance.
type Origin struct {
	Commit   string    `json:"commit,omitempty"`
	Engine   string    `json:"engine,omitempty"`
	Who      string    `json:"who,omitempty"`
	Why      string    `json:"why,omitempty"`
	Accepted time.Time `json:"accepted,omitzero"`
}

// Visit is what happened between one start of the server and its stop.
type Visit struct {
	Number  int       `json:"visit"`
	Started time.Time `json:"started"`
	Runs    []Run     `json:"runs"`
}

// Run is one pass of a scenario, condensed.
type Run struct {
	// Order is the place of this run in the whole campaign, over both sides and all scenarios, from 1.
	Order   int       `json:"order"`
	Started time.Time `json:"started"`
	// Duration is from the start of the schedule to the end of the last request, in seconds.
	Duration float64 `json:"duration"`
	// Sent counts every request that was started, OK those that succeeded; Failed counts the rest by class.
	Sent   int           `json:"sent"`
	OK     int           `json:"ok"`
	Failed map[Class]int `json:"failed,omitempty"`
	// Void says why the client or the host spoilt this run, so that it was measured again; empty for a valid run.
	Void string `json:"void,omitempty"`
	// Invalid says what the server did that makes latencies of this run unfit to show innocence; empty for a sound run.
	Invalid string `json:"invalid,omitempty"`
	// Metrics maps a metric's name to its statistic over the successful requests of this run. Absent: not measurable.
	Metrics map[string]float64 `json:"metrics"`
	// Good counts the requests that met the whole SLO; failed ones never do. Absent without an SLO.
	Good *int `json:"good,omitempty"`
	// Client is what the client knows of its own faults in this run.
	Client Client `json:"client,omitzero"`
	// InputTokens and OutputTokens are means over the successful requests, as the server counted them.
	InputTokens  float64 `json:"input_tokens,omitempty"`
	OutputTokens float64 `json:"output_tokens,omitempty"`
	// Chunks is the mean number of token-bearing chunks of a successful answer; 0 where nothing is known of chunks.
	Chunks float64 `json:"chunks,omitempty"`
	// Buffered is the share of successful answers that came all at once, of those of which it can be told: see
	// Request.AtOnce. Absent when it can be told of none.
	Buffered *float64 `json:"buffered,omitempty"`
	// CachedTokens is the share of prompt tokens that the server said came from a cache; absent when it does not say.
	CachedTokens *float64 `json:"cached_tokens,omitempty"`
	// Server is the server's own account of this run; nil where it gives none.
	Server *ServerAccount `json:"server,omitempty"`
	// Pace says whether the server kept up with the schedule; nil for a closed loop, and where too few requests succeeded.
	Pace *Pace `json:"pace,omitempty"`
	// FirstError is the first failure's message, redacted and shortened.
	FirstError string `json:"first_error,omitempty"`
	// FirstErrors are the first messages of the other classes of failure; empty where all failed alike.
	FirstErrors map[Class]string `json:"first_errors,omitempty"`
	// Warnings are what a reader should mind about this run.
	Warnings []string `json:"warnings,omitempty"`
}

// Valid reports whether the run may stand in a comparison at all.
func (r Run) Valid() bool { return r.Void == "" }

// Sound reports whether the run may stand in a comparison and the server did its work in it.
func (r Run) Sound() bool { return r.Valid() && r.Invalid == "" && r.OK > 0 }

// Runs returns every run of the session in the order measured, void ones too.
func (s Session) Runs() []Run {
	var runs []Run
	for _, v := range s.Visits {
		runs = append(runs, v.Runs...)
	}
	return runs
}

// Last returns the start of the newest session; zero when there is none.
func (d Digest) Last() time.Time {
	var last time.Time
	for _, s := range d.Sessions {
		if s.Started.After(last) {
			last = s.Started
		}
	}
	return last
}

// SLO is a service-level objective: limits in seconds on a single request. A nil limit does not apply.
type SLO struct {
	TTFT *float64 `json:"ttft,omitempty"`
	TPOT *float64 `json:"tpot,omitempty"`
	E2EL *float64 `json:"e2el,omitempty"`
}

// IsZero reports whether no limit is set.
func (s SLO) IsZero() bool { return s.TTFT == nil && s.TPOT == nil && s.E2EL == nil }

// Met reports whether a request kept every limit. A failed request never does; a limit on a time that the request does
// not have (TPOT of a one-token answer) counts as kept, since nothing was late.
func (s SLO) Met(r Request) bool {
	if r.Class != OK {
		return false
	}
	within := func(limit *float64, of func() (float64, bool)) bool {
		if limit == nil {
			return true
		}
		v, ok := of()
		return !ok || v <= *limit
	}
	return within(s.TTFT, r.TTFT) && within(s.TPOT, r.TPOT) && within(s.E2EL, r.E2EL)
}
