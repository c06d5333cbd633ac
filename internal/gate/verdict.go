package gate

import (
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// VerdictSchema names the file.
const VerdictSchema = "benchgate.verdict/v1"

// Outcome is the answer to one rule, or to all of them.
type Outcome string

// The outcomes, with their exit codes in exit.go.
const (
	Pass         Outcome = "pass"
	Improved     Outcome = "improved"
	Waived       Outcome = "waived"
	Observed     Outcome = "observed"
	New          Outcome = "new"
	Inconclusive Outcome = "inconclusive"
	Regressed    Outcome = "regressed"
	Breached     Outcome = "breached"
	Drifted      Outcome = "drifted"
	Invalid      Outcome = "invalid"
	Incomparable Outcome = "incomparable"
	Missing      Outcome = "missing"
)

// Verdict is the whole answer: all that a report shows is in it.
type Verdict struct {
	Schema    string  `json:"schema"`
	Outcome   Outcome `json:"outcome"`
	ExitCode  int     `json:"exit_code"`
	Runner    string  `json:"runner"`
	Simulated bool    `json:"simulated,omitempty"`
	// Design says how the candidate was compared: empty with a baseline of another day (committed), "interleaved" with a
	// reference started in turn, "confirm" with the one and then the other.
	Design string `json:"design,omitempty"`
	// At is the start of the candidate's newest session: the time that this verdict is about.
	At time.Time `json:"at,omitzero"`
	// Bound says in words what is claimed about the rate of false alarms and, for a pass, what is excluded.
	Bound    string    `json:"bound"`
	Summary  string    `json:"summary"` // one sentence: the outcome and why
	Findings []Finding `json:"findings"`
	Series   []Series  `json:"series,omitempty"`
	Validity []Check   `json:"validity,omitempty"`
	// Client is how well the client and its host did, side by side of each scenario.
	Client []Health `json:"client,omitempty"`
	// Server is what each side's server says of itself, beside what its client saw.
	Server      []Account   `json:"server,omitempty"`
	Environment Environment `json:"environment"`
	Baseline    *Baseline   `json:"baseline,omitempty"`
	Attempts    []Attempt   `json:"attempts,omitempty"`
	Waivers     []WaiverUse `json:"waivers,omitempty"`
	Warnings    []string    `json:"warnings,omitempty"`
	// DefaultRules says that no config was given and the built-in rules were applied.
	DefaultRules bool `json:"default_rules,omitempty"`
}

// Finding is the answer to one rule in one scenario.
type Finding struct {
	Scenario string  `json:"scenario"`
	Metric   string  `json:"metric"`
	Unit     string  `json:"unit,omitempty"`
	Better   string  `json:"better,omitempty"` // "lower" or "higher"
	Primary  bool    `json:"primary,omitempty"`
	Rule     Place   `json:"rule,omitzero"`
	Outcome  Outcome `json:"outcome"`
	Why      string  `json:"why"`
	Next     string  `json:"next,omitempty"` // what to do; set for everything but a pass
	// Further says what one more session in the baseline would buy; empty where there is none to add.
	Further string  `json:"further,omitempty"`
	Base    *Side   `json:"base,omitempty"`
	Head    *Side   `json:"head,omitempty"`
	Change  *Change `json:"change,omitempty"`
	// Tolerance, RuleOut, Min, Max and Slack are what the rule asked: fractions, or the unit of the metric for a limit.
	Tolerance *float64 `json:"tolerance,omitempty"`
	RuleOut   *float64 `json:"rule_out,omitempty"`
	Min       *float64 `json:"min,omitempty"`
	Max       *float64 `json:"max,omitempty"`
	Slack     *float64 `json:"slack,omitempty"`
	// SLO is what the scenario promises of a single request, where the metric is one of its times or counts against it; nil where
	// it promises nothing of the kind. The candidate's, or that of the base where there is no candidate.
	SLO *bench.SLO `json:"slo,omitempty"`
	// MDE80 is the smallest worsening that such a comparison would have found four times in five; a fraction.
	MDE80 *float64 `json:"mde80,omitempty"`
	// Look says when the answer was given: "1 of 1" where there was one decision, "2 of 3 (8 visits a side)" at a look of an
	// interleaved campaign, "stage 1" or "stage 2, look 1 of 3 (6 visits a side)" in a confirm campaign.
	Look string `json:"look,omitempty"`
	// Awaits says what could still answer an open question: "look", a further look of an interleaved campaign, or "stage 2" of
	// a confirm campaign. Empty where nothing that was planned can.
	Awaits   string     `json:"awaits,omitempty"`
	Method   string     `json:"method,omitempty"`
	Seed     string     `json:"seed,omitempty"` // decimal uint64: JSON numbers cannot hold it
	Warnings []string   `json:"warnings,omitempty"`
	Runs     []RunPoint `json:"runs,omitempty"`
}

// Side is one side's value: the geometric mean over its runs for times and rates, the pooled share for ratios.
// Low and High are the interval of a share held to a limit.
type Side struct {
	Point     float64  `json:"point"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	NRuns     int      `json:"n_runs"`
	NSessions int      `json:"n_sessions"`
	NRequests int      `json:"n_requests,omitempty"`
}

// Change is head against base. Ratio, Low and High are head ÷ base of times and rates, so below 1 is lower, whichever
// way is better; they are absent for ratio metrics (Unit "ratio"), whose change is told in points by Worse alone. An end of
// the interval that has no bound stands at a factor of a million.
type Change struct {
	Ratio float64 `json:"ratio,omitempty"`
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`
	// Worse is the worsening that the rule judges, as a fraction (points for ratio metrics): +0.05 is 5 % worse.
	Worse     float64  `json:"worse"`
	WorseLow  float64  `json:"worse_low"`
	WorseHigh float64  `json:"worse_high"`
	Points    bool     `json:"points,omitempty"` // Worse* are points of a ratio, not fractions of the base
	Level     float64  `json:"level"`            // confidence of the interval, two-sided
	P         float64  `json:"p"`                // one-sided: chance of so large a worsening between equal builds
	PHolm     float64  `json:"p_holm"`           // adjusted over the rule's family
	PPerm     *float64 `json:"p_perm,omitempty"` // exact permutation, a second opinion
	SD        float64  `json:"sd"`               // residual sd between runs, log or logit scale
	// Order is the change that the campaign's course made to both sides, from its first visit to its last, as a worsening;
	// absent where no order is in the model.
	Order *float64 `json:"order,omitempty"`
	// DaySD is how far sessions seem to differ beyond their runs, log or logit scale: the prior and the sessions together.
	// Absent where both sides stand in one campaign.
	DaySD *float64 `json:"day_sd,omitempty"`
}

// RunPoint is one run of a finding, for the picture.
type RunPoint struct {
	Side    string  `json:"side"` // "base" or "head"
	Session string  `json:"session"`
	Visit   int     `json:"visit"`
	Order   int     `json:"order"` // place in the picture, from 1: the order measured within a side
	Value   float64 `json:"value"`
	Valid   bool    `json:"valid"`
	Note    string  `json:"note,omitempty"`
}

// Series is a curve for the pictures: one side's distribution of a metric, as quantiles over its runs' percentiles.
type Series struct {
	Scenario string    `json:"scenario"`
	Name     string    `json:"name"` // "ttft", "lag"
	Side     string    `json:"side"` // "base" or "head"
	Unit     string    `json:"unit"`
	X        []float64 `json:"x"` // probabilities for a distribution, run order for lag
	Y        []float64 `json:"y"`
}

// Check is one validity check.
type Check struct {
	Scenario string `json:"scenario,omitempty"`
	Side     string `json:"side,omitempty"`
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Detail   string `json:"detail"`
}

// Health is the client's account of itself on one side of a scenario: the worst of each figure over the runs that were not
// void. 0 is nothing, or not recorded.
type Health struct {
	Scenario string `json:"scenario"`
	Side     string `json:"side"` // "base" or "head"
	// Runs counts the runs behind it, Void those that the client or the host spoilt; these are in no figure.
	Runs int `json:"runs"`
	Void int `json:"void,omitempty"`
	// Topology says whether the server ran on the client's host; empty where that is not known.
	Topology string `json:"topology,omitempty"`
	bench.Client
}

// Account is a server's account of itself on one side of a scenario: means over the runs that stand in comparisons. A field
// that is nil, 0 or empty was not told. Seconds, tokens and shares; see bench.ServerAccount.
type Account struct {
	Scenario string `json:"scenario"`
	Side     string `json:"side"` // "base" or "head"
	// Runs counts those whose times are in it.
	Runs     int    `json:"runs,omitempty"`
	Source   string `json:"source,omitempty"`
	TTFTFrom string `json:"ttft_from,omitempty"`
	// TTFT is the server's mean time to the first token, ClientTTFT the client's of the same requests, Gap what lies between.
	TTFT         float64  `json:"ttft,omitempty"`
	ClientTTFT   float64  `json:"client_ttft,omitempty"`
	Gap          *float64 `json:"gap,omitempty"`
	TPOT         float64  `json:"tpot,omitempty"`
	Counters     string   `json:"counters,omitempty"`
	CachedTokens *float64 `json:"cached_tokens,omitempty"`
	ChunkTokens  float64  `json:"chunk_tokens,omitempty"`
}

// Environment compares the surroundings of the two sides.
type Environment struct {
	MustMatch []Fact `json:"must_match,omitempty"`
	UnderTest []Fact `json:"under_test,omitempty"`
	// Diff holds the facts of either kind that differ.
	Diff []Fact `json:"diff,omitempty"`
}

// Fact is one named property on both sides; empty is unknown.
type Fact struct {
	Scenario string `json:"scenario,omitempty"`
	Name     string `json:"name"`
	Base     string `json:"base"`
	Head     string `json:"head"`
}

// Baseline says what the candidate was compared with.
type Baseline struct {
	Ref      string  `json:"ref,omitempty"` // file, folder or ref:SHA; filled in by the caller
	AgeDays  float64 `json:"age_days"`
	Sessions int     `json:"sessions"`
	Origin   Origin  `json:"origin,omitzero"`
	// SinceEpoch is the change since the epoch began, in words; empty when nothing is known.
	SinceEpoch string `json:"since_epoch,omitempty"`
}

// Origin is the newest baseline session's record of acceptance.
type Origin struct {
	Commit string `json:"commit,omitempty"`
	Engine string `json:"engine,omitempty"`
	Who    string `json:"who,omitempty"`
	Why    string `json:"why,omitempty"`
}

// Attempt is one start of the same campaign; filled in by the caller.
type Attempt struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
}

// WaiverUse says what became of a waiver: "used", "unused" or "expired".
type WaiverUse struct {
	Waiver
	State string `json:"state"`
}
