package bench

import "time"

// Record is one line of campaign.jsonl: exactly one field is set.
type Record struct {
	Header  *Header        `json:"header,omitempty"`
	Visit   *VisitRecord   `json:"visit,omitempty"`
	Request *RequestRecord `json:"request,omitempty"`
	Run     *RunRecord     `json:"run,omitempty"`
	Warning *Warning       `json:"warning,omitempty"`
}

// Header is the first line of a campaign: what is about to be measured.
type Header struct {
	Schema   string    `json:"schema"`
	Campaign string    `json:"campaign"` // id: the session's too
	Started  time.Time `json:"started"`
	Runner   string    `json:"runner"`
	Key      string    `json:"key"`  // candidate commit + plan hash + baseline digest
	Plan     string    `json:"plan"` // hash of the plan
	Planned  int       `json:"planned_runs,omitempty"`
	Design   string    `json:"design,omitempty"` // "committed", "interleaved" or "confirm"
	Looks    []int     `json:"looks,omitempty"`  // of the interleaved part
	Commit   string    `json:"commit,omitempty"`
	// Reference is the commit of the reference, where its folder is a checkout of its own; "" where it is not known.
	Reference string `json:"reference_commit,omitempty"`
	Tool      string `json:"tool"` // benchgate and its version
	// Environment of the machine and the server, as far as known when the campaign began.
	MustMatch map[string]string      `json:"must_match,omitempty"`
	UnderTest map[string]string      `json:"under_test,omitempty"`
	Simulated bool                   `json:"simulated,omitempty"`
	Texts     map[string]Calibration `json:"texts,omitempty"`     // by scenario
	Workloads map[string]string      `json:"workloads,omitempty"` // by scenario
	SLOs      map[string]SLO         `json:"slos,omitempty"`      // by scenario
}

// VisitRecord says that a visit began.
type VisitRecord struct {
	Number  int       `json:"visit"`
	Side    string    `json:"side"` // "candidate" or "reference"
	Started time.Time `json:"started"`
	Log     string    `json:"log,omitempty"` // name of the server's log beside this file
	// Stage is 1 for the committed part of a confirm campaign; 0 elsewhere.
	Stage int `json:"stage,omitempty"`
	// MustMatch and UnderTest are the facts of the server of this visit.
	MustMatch map[string]string `json:"must_match,omitempty"`
	UnderTest map[string]string `json:"under_test,omitempty"`
}

// RequestRecord is one request of a run, written when it ended.
type RequestRecord struct {
	Scenario string `json:"scenario"`
	Order    int    `json:"run"`
	Request
}

// RunRecord says that a run is complete.
type RunRecord struct {
	Scenario string `json:"scenario"`
	Visit    int    `json:"visit"`
	WarmUp   bool   `json:"warm_up,omitempty"`
	Run
}

// Warning is something the campaign did, but a reader should mind.
type Warning struct {
	At      time.Time `json:"at"`
	Code    string    `json:"code"`
	Message string    `json:"message"`
}
