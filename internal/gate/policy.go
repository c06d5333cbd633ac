// Package gate turns rules and digests into a verdict.
//
// It is pure: no file, no network, no clock. Its time is the start of the candidate's newest session, so the same files
// give the same verdict on every machine and on every day.
package gate

import "time"

// Policy is what was asked of the gate. The zero value has no rules; see [Defaults].
type Policy struct {
	// Scenarios that are expected; one without a candidate is missing. Empty: those that either side has.
	Scenarios []string
	Rules     []Rule
	Waivers   []Waiver
	// Confidence of two-sided intervals, 0.95 unless set: one comparative family errs at (1 − Confidence)/2.
	Confidence     float64
	OnInconclusive string  // "warn" or "fail"
	OnMissing      string  // "warn" or "fail"
	Slack          float64 // of minimum rules on ratios: 0.03 is three points
	// MaxAge of a baseline from which a pass is believed; 0 is no limit.
	MaxAge time.Duration
	DaySD  float64 // prior of the between-session log-sd, 0.05 unless set
	// Looks are the numbers of visits a side at which an interleaved campaign may decide; 6, 8 and 10 unless set. The list
	// that a campaign was begun with wins.
	Looks []int
	// Rewritten names, by scenario, the facts that have to agree and that the head itself changes, such as [bench.KeyModel].
	// A scenario that is incomparable for these alone is new: the change asks for another measurement, and there can be no
	// baseline of that yet.
	Rewritten map[string][]string
	// Proposed says that the rules are the head's own, since base has none: what they would call good is new.
	Proposed bool
	// GateOnly says that the change touches nothing but the gate (configs and baselines), so that what was measured is base's
	// own build: what would be red is observed as already so at base, or new where base has nothing sound to compare with.
	GateOnly bool
	// Resamples is the least number of bootstrap resamples; 0 means 9,999. Tests of many verdicts lower it.
	Resamples int
	// Planned says that these rules are the defaults, since no config was given.
	Planned bool
}

// Rule is one question. Exactly one of three kinds: comparative (Tolerance set), Min, or Max.
type Rule struct {
	Metric    string
	Scenarios []string // empty: every scenario
	Primary   bool     // belongs to the family of primaries
	// Tolerance is the smallest change that counts, RuleOut the change that a pass excludes: 0.05 is 5 %, or five points
	// for a ratio metric. A rule without RuleOut can only block.
	Tolerance *float64
	RuleOut   *float64
	Min, Max  *float64
	// Fallback is used where the metric is absent from a file or has too few successes for it; only the default rule has one.
	Fallback string
	At       Place
}

// Place is where a rule stands: a path inside the repository, and a line from 1. Zero for a default rule.
type Place struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Waiver lets one metric of one scenario be worse, up to a ceiling and until a day.
type Waiver struct {
	Metric   string    `json:"metric"`
	Scenario string    `json:"scenario"`
	Ceiling  float64   `json:"ceiling"` // 0.15 is 15 % worse, judged on the point estimate
	Until    time.Time `json:"until"`   // last day, inclusive, UTC
	Why      string    `json:"why"`
	Issue    int       `json:"issue,omitempty"`
	At       Place     `json:"at,omitzero"`
}

// Defaults is the policy without a config file: TTFT p95 as the primary (TTFT p50 where a file lacks it or has too few
// successes), tolerance 5 %, rule-out 25 %, and at most 0.5 % errors.
func Defaults() Policy {
	return Policy{
		Rules: []Rule{
			{Metric: "ttft.p95", Fallback: "ttft.p50", Primary: true, Tolerance: ptr(0.05), RuleOut: ptr(0.25)},
			{Metric: "error.ratio", Max: ptr(0.005)},
		},
		Confidence: 0.95, OnInconclusive: "warn", OnMissing: "warn", Slack: 0.03,
		MaxAge: 30 * 24 * time.Hour, DaySD: 0.05, Planned: true,
	}
}

func ptr(x float64) *float64 { return &x }
